import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError, tooManyValues } from '../decode-error.ts';
import { countKeysInText, countValues, findDuplicates, type KeyOccurrences, nestingDepth } from './scan.ts';

const MAX_DEPTH = LIMITS.jsonDepth;

export interface ParsedJson {
  readonly value: unknown;
  /** Set when some object repeats a key; the last value is the one that counts. */
  readonly repeated: KeyOccurrences | undefined;
}

/** Parses JSON text and tells which keys it repeats, which JSON.parse alone cannot. */
export function parseJson(text: string): ParsedJson {
  // Too deep is malformed, however large it is besides; the real server answers so as well.
  if (mayBeDeep(text) && nestingDepth(text) > MAX_DEPTH) {
    throw new DecodeError(`exceeded max depth of ${MAX_DEPTH}`);
  }
  checkValues(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DecodeError(describe(error as Error, text), { cause: error });
  }
  const repeated = countKeysInText(text) === countKeys(value) ? undefined : findDuplicates(text);
  return { value, repeated };
}

/** Refuses text with more values than one body may have. A value takes two characters at least. */
export function checkValues(text: string): void {
  if (text.length > 2 * LIMITS.bodyValues && countValues(text) > LIMITS.bodyValues) throw tooManyValues();
}

/** Text that just stops is told the way Go does, which clients look for. */
function describe({ message }: Error, text: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  const atEnd = message.startsWith('Unexpected end') || (position !== undefined && Number(position) >= text.length);
  return atEnd ? 'unexpected end of JSON input' : message;
}

/** Deep nesting needs many brackets; counting openings only is quick and settles nearly every body. */
function mayBeDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false;
  let openings = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++openings > MAX_DEPTH) return true;
    }
  }
  return false;
}

/** Numbers on the way are looked at as well: JSON.parse makes Infinity of what is too large, which nothing can store. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) {
    expectFinite(value);
    return 0;
  }
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object') count += countKeys(item);
      else expectFinite(item);
    }
    return count;
  }
  for (const key in value) {
    count++;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object') count += countKeys(member);
    else expectFinite(member);
  }
  return count;
}

function expectFinite(value: unknown): void {
  if (value === Infinity || value === -Infinity)
    throw new DecodeError('json: cannot unmarshal number into Go value of type float64: it is out of range');
}
