import type { PickAnswer } from './types.ts';

/**
 * The candidates with the lowest weights: those that must be among them are chosen; where several share the weight at
 * the border and not all of them are needed, they are tied. A pod without a weight counts as idle.
 */
export function leastFirst(
  candidates: readonly string[],
  count: number,
  weightOf: (pod: string) => number | undefined,
): PickAnswer {
  const weighed = candidates
    .map((pod) => ({ pod, weight: weightOf(pod) ?? 0 }))
    .sort((a, b) => a.weight - b.weight || (a.pod < b.pod ? -1 : 1));
  const border = weighed[Math.min(count, weighed.length) - 1]?.weight;
  if (border === undefined) return {};
  const below = weighed.filter(({ weight }) => weight < border).map(({ pod }) => pod);
  const level = weighed.filter(({ weight }) => weight === border).map(({ pod }) => pod);
  return below.length + level.length <= count ? { chosen: [...below, ...level] } : { chosen: below, tied: level };
}
