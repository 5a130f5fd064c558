import type { KeyOccurrences } from './json/scan.ts';

/** Unknown and repeated fields as warnings and strict errors name them, in the order of the body. */
export function describeProblems(unknown: readonly string[], repeated: KeyOccurrences | undefined): string[] {
  if (repeated === undefined) return unknown.map(unknownField);
  // What is unknown is skipped whole, so repetitions inside it, or of it, do not count.
  const counted = repeated.duplicates.filter(
    (path) => !unknown.some((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`)),
  );
  const order = (mark: string): number => repeated.order.get(mark) ?? Number.MAX_SAFE_INTEGER;
  return [
    ...unknown.map((path) => ({ at: order(path), text: unknownField(path) })),
    ...counted.map((path) => ({ at: order(`${path}\0`), text: `duplicate field ${JSON.stringify(path)}` })),
  ]
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => text);
}

const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`;
