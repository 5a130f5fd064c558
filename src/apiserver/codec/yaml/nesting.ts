/**
 * How deep YAML text may nest, found without parsing it and never less than the truth for valid documents. The parser
 * recurses, and a stack that runs out inside it can end the process rather than throw, so this has to come first.
 */
export function nestingBound(text: string): number {
  return Math.max(flowBound(text), blockBound(text));
}

/** Brackets, wherever they stand: counting those in quotes as well errs on the safe side. */
function flowBound(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 91 || code === 123) {
      if (++depth > deepest) deepest = depth;
    } else if ((code === 93 || code === 125) && depth > 0) depth--;
  }
  return deepest;
}

interface Level {
  readonly indent: number;
  readonly depth: number;
}

/** Lines indented further than the ones above, each with the `- ` and `? ` it starts with. */
function blockBound(text: string): number {
  const levels: Level[] = [];
  let deepest = 0;
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf('\n', start);
    if (end < 0) end = text.length;
    let at = start;
    let indicators = 0;
    while (at < end && ' \t-?:'.includes(text[at] as string)) {
      if (text[at] !== ' ' && text[at] !== '\t') indicators++;
      at++;
    }
    let indent = start;
    while (indent < end && text[indent] === ' ') indent++;
    indent -= start;
    if (at < end || indicators > 0) {
      while (levels.length > 0 && (levels.at(-1) as Level).indent >= indent) levels.pop();
      const depth = (levels.at(-1)?.depth ?? 0) + 1 + indicators;
      levels.push({ indent, depth });
      if (depth > deepest) deepest = depth;
    }
    start = end + 1;
  }
  return deepest;
}
