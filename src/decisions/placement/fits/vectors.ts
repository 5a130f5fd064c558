import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';

/** What is free on a node by slot; the last entry is for pods. For searches over many placements of blind pods. */
export function freeVector({ allocatable, allowedPods, pods, requested }: NodeFacts, slots: number): number[] {
  const free = Array.from({ length: slots + 1 }, (_, slot) => (allocatable[slot] ?? 0) - (requested[slot] ?? 0));
  free[slots] = allowedPods - pods.size;
  return free;
}

/** What a pod takes, by position and amount; see `freeVector`. */
export function takenBy({ requests }: PodFacts, slots: number): readonly (readonly [at: number, amount: number])[] {
  return [...requests.map(({ amount, slot }) => [slot, amount] as const), [slots, 1] as const];
}
