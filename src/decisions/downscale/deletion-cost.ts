import type { Pod } from '../../api/generated/core-v1.ts';

export const DELETION_COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

const CANONICAL_INTEGER = /^(0|-?[1-9][0-9]*)$/;

/** The cost a text stands for; undefined unless it is a 32-bit integer without `+` or leading zeros. */
export function parseDeletionCost(text: string): number | undefined {
  if (!CANONICAL_INTEGER.test(text)) return undefined;
  const cost = Number(text);
  return cost >= -2_147_483_648 && cost <= 2_147_483_647 ? cost : undefined;
}

/** Missing or unreadable costs count as 0: a typo must not protect a pod, nor doom it. */
export function deletionCostOf(pod: Pod): number {
  const text = pod.metadata.annotations?.[DELETION_COST_ANNOTATION];
  return text === undefined ? 0 : (parseDeletionCost(text) ?? 0);
}
