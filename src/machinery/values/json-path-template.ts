/** kubectl's templates around JSONPath: text, `{.path}`, `{"\n"}` and `{range .path}…{end}`. */
import { compileJsonPath, formatScalar, JsonPathError } from './json-path.ts';

type Part = (value: unknown) => string;

/** Compiles `jsonpath=…`. Values that a path leads to stand with a space between them; what is absent is left out. */
export function compileJsonPathTemplate(text: string): (value: unknown) => string {
  const actions = [...text.matchAll(/\{((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{}"'])*)\}|([^{}]+)|([{}])/g)];
  const { parts, rest } = compileParts(actions, false);
  if (rest.length > 0) throw new JsonPathError('{end} without a {range} before it');
  return (value) => parts.map((part) => part(value)).join('');
}

function compileParts(
  actions: readonly RegExpMatchArray[],
  inRange: boolean,
): { parts: Part[]; rest: readonly RegExpMatchArray[] } {
  const parts: Part[] = [];
  for (let at = 0; at < actions.length; at += 1) {
    const [, action, text, brace] = actions[at] ?? [];
    if (brace !== undefined) throw new JsonPathError(`a ${brace} that has no other half`);
    if (text !== undefined) {
      parts.push(() => text);
      continue;
    }
    const trimmed = (action ?? '').trim();
    if (trimmed === 'end') {
      const rest = actions.slice(inRange ? at + 1 : at);
      return { parts, rest: rest };
    }
    if (!/^range\s/.test(trimmed)) {
      parts.push(compileAction(trimmed));
      continue;
    }
    const path = compileJsonPath(trimmed.slice('range'.length).trim());
    const inner = compileRange(actions.slice(at + 1));
    parts.push((value) =>
      path(value)
        .map((item) => inner.parts.map((part) => part(item)).join(''))
        .join(''),
    );
    at = actions.length - inner.rest.length - 1;
  }
  if (inRange) throw new JsonPathError('a {range} that has no {end}');
  return { parts, rest: [] };
}

const compileRange = (actions: readonly RegExpMatchArray[]) => compileParts(actions, true);

function compileAction(action: string): Part {
  const [, quoted] =
    /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$/.exec(action)?.filter((one) => one !== undefined) ?? [];
  if (quoted !== undefined) {
    const literal = quoted.replaceAll(/\\(.)/g, (_, char: string) => ({ n: '\n', t: '\t' })[char] ?? char);
    return () => literal;
  }
  // `@` is the value itself, as in a filter.
  const path = compileJsonPath(action.replace(/^@/, '$'));
  return (value) => path(value).map(formatScalar).join(' ');
}
