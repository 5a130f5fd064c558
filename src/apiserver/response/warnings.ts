/** `Warning` headers: what a client should know although its request was carried out. */

/** All texts together, in characters; as in Kubernetes. */
const MAX_TOTAL = 4 * 1024;
/** What is left of each text once they are too many for that. */
const MAX_EACH_WHEN_MANY = 256;

export function withWarnings(
  headers: Record<string, string>,
  warnings: readonly string[],
): Record<string, string | readonly string[]> {
  if (warnings.length === 0) return headers;
  const texts = bounded(warnings);
  return texts.length === 0 ? headers : { ...headers, warning: texts.map((text) => `299 - ${quoted(text)}`) };
}

/**
 * Each text once. While all fit they are whole; otherwise each is cut short, in order, and those that come when the
 * limit is reached are left out.
 */
function bounded(warnings: readonly string[]): readonly string[] {
  const whole = take(warnings, Number.POSITIVE_INFINITY);
  return whole.left >= 0 ? whole.texts : take(warnings, MAX_EACH_WHEN_MANY).texts;
}

function take(warnings: readonly string[], maxEach: number): { texts: readonly string[]; left: number } {
  const texts = new Set<string>();
  let left = MAX_TOTAL;
  for (const warning of warnings) {
    if (left <= 0) return { texts: [...texts], left: -1 };
    const text = firstCharacters(warning, Math.min(maxEach, MAX_TOTAL + 1));
    if (text === '' || texts.has(text)) continue;
    texts.add(text);
    left -= lengthInCharacters(text);
  }
  return { texts: [...texts], left };
}

/** Never half of a pair of surrogates. */
function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1)
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function lengthInCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

const quoted = (text: string): string => `"${text.replace(/[\r\n]+/g, ' ').replace(/["\\]/g, '\\$&')}"`;
