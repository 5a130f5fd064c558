/**
 * The JSONPath of printer columns, scale, selectable fields and `-o jsonpath`: names, quoted names, indexes, `[*]`, slices
 * such as `[-1:]` and filters such as `[?(@.type=="Ready")]`. Anything else is refused when it is compiled.
 */
import { isObject } from './json.ts';

type Step =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'slice'; readonly start: number; readonly end: number | undefined; readonly step: number }
  | { readonly kind: 'filter'; readonly path: readonly string[]; readonly equal: boolean; readonly value: string };

export type JsonPath = (value: unknown) => unknown[];

export class JsonPathError extends Error {
  override name = 'JsonPathError';
}

const TOKENS: readonly [RegExp, (found: RegExpExecArray) => Step][] = [
  [/^\.?\[\*\]/, () => ({ kind: 'all' })],
  [/^\.\*/, () => ({ kind: 'all' })],
  [/^\[(-?\d+)\]/, ([, index]) => ({ kind: 'index', index: Number(index) })],
  [
    /^\[(-?\d*):(-?\d*)(?::([1-9]\d*))?\]/,
    ([, start, end, step]) => ({
      kind: 'slice',
      start: Number(start),
      end: end === '' ? undefined : Number(end),
      step: Number(step ?? 1),
    }),
  ],
  [/^\.?\['((?:[^'\\]|\\.)*)'\]/, ([, name]) => ({ kind: 'name', name: unescape(name as string) })],
  [/^\.?\["((?:[^"\\]|\\.)*)"\]/, ([, name]) => ({ kind: 'name', name: unescape(name as string) })],
  [
    /^\[\?\(\s*@((?:\.[\w-]+)+)\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)"|([\w.-]+))\s*\)\]/,
    ([, path, operator, single, double, bare]) => ({
      kind: 'filter',
      path: (path as string).slice(1).split('.'),
      equal: operator === '==',
      value: single ?? double ?? bare ?? '',
    }),
  ],
  [/^\.((?:[^.[\]\\'"*?@]|\\.)+)/, ([, name]) => ({ kind: 'name', name: unescape(name as string) })],
];

const unescape = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

function parse(text: string): Step[] {
  const steps: Step[] = [];
  let rest = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  if (rest.startsWith('$')) rest = rest.slice(1);
  if (rest !== '' && !rest.startsWith('.') && !rest.startsWith('[')) rest = `.${rest}`;
  while (rest !== '' && rest !== '.') {
    let matched = false;
    for (const [pattern, make] of TOKENS) {
      const found = pattern.exec(rest);
      if (found === null) continue;
      steps.push(make(found));
      rest = rest.slice(found[0].length);
      matched = true;
      break;
    }
    if (!matched) throw new JsonPathError(`unrecognized JSONPath at ${JSON.stringify(rest)}`);
  }
  return steps;
}

/** Returns every value the path leads to; none when something on the way is absent. */
export function compileJsonPath(text: string): JsonPath {
  const steps = parse(text);
  return (value) => steps.reduce<unknown[]>((found, step) => found.flatMap((item) => follow(item, step)), [value]);
}

function follow(value: unknown, step: Step): unknown[] {
  switch (step.kind) {
    case 'name':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index': {
      if (!Array.isArray(value)) return [];
      const item: unknown = value.at(step.index);
      return item === undefined ? [] : [item];
    }
    case 'all':
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    case 'slice':
      if (!Array.isArray(value)) return [];
      return value.slice(step.start, step.end).filter((_, at) => at % step.step === 0);
    case 'filter': {
      if (!Array.isArray(value)) return [];
      return value.filter((item) => (textAt(item, step.path) === step.value) === step.equal);
    }
  }
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return found === undefined || found === null ? undefined : formatScalar(found);
}

/** The names of a path without lists or filters; undefined for others. */
export function plainPath(text: string): string[] | undefined {
  try {
    const steps = parse(text);
    if (steps.length === 0 || !steps.every((step) => step.kind === 'name')) return undefined;
    return steps.map((step) => (step as { name: string }).name);
  } catch {
    return undefined;
  }
}

export function readPath(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** Sets a value, making the objects on the way. */
export function writePath(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = target;
  for (const name of path.slice(0, -1)) {
    const next: Record<string, unknown> = isObject(at[name]) ? { ...(at[name] as object) } : {};
    at[name] = next;
    at = next;
  }
  at[path.at(-1) as string] = value;
}

/** Text as it is, anything else as JSON. */
export function formatScalar(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
