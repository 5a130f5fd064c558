import { RE2JS } from 're2js';

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

export function matchesPattern(text: string, pattern: string): boolean {
  return compilePattern(pattern)?.matcher(text).find() ?? false;
}
