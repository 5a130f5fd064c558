import { FieldProblems } from '../field-problems.ts';

/**
 * Scans over JSON text that JSON.parse has accepted, or is about to judge: they assume nothing about validity beyond
 * never reading past the end.
 */

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;

/** Index of the quote that ends the string starting at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let slashes = 0;
    for (let at = end - 1; at > start && text.charCodeAt(at) === BACKSLASH; at--) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  for (;;) {
    const code = text.charCodeAt(next);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return next;
    next++;
  }
}

/** How many object keys the text spells out, repeated ones included. */
export function countKeysInText(text: string): number {
  let keys = 0;
  let at = text.indexOf('"');
  while (at >= 0) {
    const end = endOfString(text, at);
    if (text.charCodeAt(skipSpace(text, end + 1)) === COLON) keys++;
    at = text.indexOf('"', end + 1);
  }
  return keys;
}

export function nestingDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === 123 || code === 91) deepest = Math.max(deepest, ++depth);
    else if (code === 125 || code === 93) depth--;
  }
  return deepest;
}

/** How many values the text spells out: members, items, and the objects and lists themselves. */
export function countValues(text: string): number {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === 44 || code === 123 || code === 91) values++;
  }
  return values;
}

export interface KeyOccurrences {
  /** Paths spelled more than once, in the order of the second spelling; the first of them when there are many. */
  readonly duplicates: readonly string[];
  /** When a path was first seen, and `path` + NUL when it was first repeated: to sort problems by body order. */
  readonly order: ReadonlyMap<string, number>;
}

interface Frame {
  readonly path: string;
  readonly keys: Set<string> | undefined;
  index: number;
}

/** Characters of paths that are remembered for their order. Further down the body it is not told any more. */
const ORDERED_CHARACTERS = 1024 * 1024;

/** Paths of keys an object repeats: `spec.containers[0].image`. Iterative, so depth does not matter. */
export function findDuplicates(text: string): KeyOccurrences {
  const duplicates = new FieldProblems();
  const order = new Map<string, number>();
  const stack: Frame[] = [];
  let pending = '';
  let characters = 0;
  const note = (mark: string): void => {
    characters += mark.length;
    if (characters <= ORDERED_CHARACTERS && !order.has(mark)) order.set(mark, order.size);
  };
  const pathOfValue = (): string => {
    const top = stack.at(-1);
    if (top === undefined) return '';
    return top.keys === undefined ? `${top.path}[${top.index}]` : pending;
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const top = stack.at(-1);
      if (top?.keys !== undefined && text.charCodeAt(skipSpace(text, end + 1)) === COLON) {
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        pending = top.path === '' ? key : `${top.path}.${key}`;
        if (top.keys.has(key)) {
          duplicates.add(() => pending);
          if (duplicates.isFull) break;
          note(`${pending}\0`);
        }
        top.keys.add(key);
        note(pending);
      }
      at = end;
    } else if (code === 123) stack.push({ path: pathOfValue(), keys: new Set(), index: 0 });
    else if (code === 91) stack.push({ path: pathOfValue(), keys: undefined, index: 0 });
    else if (code === 125 || code === 93) stack.pop();
    else if (code === 44) {
      const top = stack.at(-1);
      if (top !== undefined && top.keys === undefined) top.index++;
    }
  }
  return { duplicates: duplicates.paths, order };
}
