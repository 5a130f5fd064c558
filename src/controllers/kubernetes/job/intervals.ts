/** Ordered, disjoint runs of completion indexes, first and last included. */
export type Intervals = readonly (readonly [first: number, last: number])[];

/** Reads `1,3-5`; indexes from `completions` on are dropped, as is what cannot be read. */
export function parseIntervals(text: string | undefined, completions: number): Intervals {
  const found: [number, number][] = [];
  for (const part of (text ?? '').split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (match === null) continue;
    const first = Number(match[1]);
    if (first >= completions) break;
    found.push([first, Math.min(match[2] === undefined ? first : Number(match[2]), completions - 1)]);
  }
  return mergeIntervals(found, []);
}

/** Writes runs of three and more as `3-5`, two neighbours as `3,4`. */
export function formatIntervals(intervals: Intervals): string {
  return intervals
    .map(([first, last]) =>
      last === first ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`,
    )
    .join(',');
}

export function mergeIntervals(a: Intervals, b: Intervals): Intervals {
  const merged: [number, number][] = [];
  for (const [first, last] of [...a, ...b].toSorted((left, right) => left[0] - right[0])) {
    const previous = merged.at(-1);
    if (previous === undefined || first > previous[1] + 1) merged.push([first, last]);
    else previous[1] = Math.max(previous[1], last);
  }
  return merged;
}

export function intervalsOf(indexes: Iterable<number>): Intervals {
  return mergeIntervals(
    [...indexes].map((index) => [index, index] as const),
    [],
  );
}

export function countIndexes(intervals: Intervals): number {
  return intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

export function hasIndex(intervals: Intervals, index: number): boolean {
  return intervals.some(([first, last]) => first <= index && index <= last);
}

/** How many indexes two sets share. */
export function countShared(a: Intervals, b: Intervals): number {
  let shared = 0;
  for (const [first, last] of a) {
    for (const [otherFirst, otherLast] of b) {
      shared += Math.max(Math.min(last, otherLast) - Math.max(first, otherFirst) + 1, 0);
    }
  }
  return shared;
}

/** The lowest indexes below `completions` that are not taken. */
export function firstFree(taken: Intervals, count: number, completions: number): number[] {
  const free: number[] = [];
  let candidate = 0;
  for (const [first, last] of [...taken, [completions, completions] as const]) {
    for (; candidate < Math.min(first, completions) && free.length < count; candidate += 1) free.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return free;
}
