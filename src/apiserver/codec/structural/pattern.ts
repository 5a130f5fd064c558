import { RE2JS } from 're2js';
import { LIMITS } from '../../exchange/limits.ts';

const compiled = new Map<string, RE2JS | undefined>();
const LIMIT = 1000;

/** A pattern in Go's syntax, in linear time whatever the pattern; undefined when it is none. */
export function compilePattern(pattern: string): RE2JS | undefined {
  if (!compiled.has(pattern)) {
    if (compiled.size >= LIMIT) compiled.clear();
    let parsed: RE2JS | undefined;
    try {
      parsed = RE2JS.compile(pattern);
    } catch {
      parsed = undefined;
    }
    compiled.set(pattern, parsed);
  }
  return compiled.get(pattern);
}

/**
 * What it takes to match: linear in the text, but every character can meet every step of the pattern, and `(a|b){1,500}`
 * has as many steps as it is written out.
 */
export const patternWork = (text: string, pattern: RE2JS): number => text.length * pattern.programSize();

/** The patterns of the object under way would take too much. */
export class PatternWorkExceeded extends Error {
  override name = 'PatternWorkExceeded';
  readonly path: string;

  constructor(path: string) {
    super(`matching takes more than ${LIMITS.patternWork} steps`);
    this.path = path;
  }
}

/** One object at a time: checks never wait for anything. */
let left = 0;

/** Runs the check of one object, whose patterns may take so much together and no more. */
export function withinPatternWork<T>(run: () => T): T {
  const outer = left;
  left = LIMITS.patternWork;
  try {
    return run();
  } finally {
    left = outer;
  }
}

/** Throws PatternWorkExceeded before it would take too much; the path is for its message. */
export function matchesPattern(text: string, pattern: string, path: string): boolean {
  const compiled = compilePattern(pattern);
  if (compiled === undefined) return false;
  left -= patternWork(text, compiled);
  if (left < 0) throw new PatternWorkExceeded(path);
  return compiled.matcher(text).find();
}
