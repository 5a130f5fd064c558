import type { Pod } from '../../api/generated/core-v1.ts';
import { compareCost, type CostedUnit } from './compare.ts';

/** An annotation by which others choose pods, and the mark that says which of its values are ours. */
export interface PublishedAnnotation {
  readonly annotation: string;
  readonly mark: string;
}

/** Read by the controllers of ReplicaSets: of pods that are alike otherwise, the cheaper goes first. */
export const PUBLISHED_DELETION_COST: PublishedAnnotation = {
  annotation: 'controller.kubernetes.io/pod-deletion-cost',
  mark: 'policy.quorate.dev/published-cost',
};

/** Read by Karpenter: what it costs to take a pod off its node. */
export const PUBLISHED_KARPENTER_COST: PublishedAnnotation = {
  annotation: 'karpenter.sh/disruption-cost',
  mark: 'policy.quorate.dev/published-karpenter-cost',
};

/** A unit with the pods that carry what it costs. */
export interface PublishedUnit extends CostedUnit {
  readonly members: readonly Pod[];
}

const RANK = 10;
const BROKEN = -1_000_000;

/**
 * What the pods of one ReplicaSet carry, by UID: the place of their unit in the order of going, so that all pods of a
 * unit are equal and units go whole. Not the cost itself, which changes all the time. A single unit has no order.
 */
export function deletionCosts(units: readonly PublishedUnit[]): Map<string, number> {
  const costs = new Map<string, number>();
  if (units.length < 2) return costs;
  for (const [at, { broken, members }] of [...units].sort(compareCost).entries()) {
    for (const { metadata } of members) costs.set(metadata.uid ?? '', (broken ? BROKEN : 0) + at * RANK);
  }
  return costs;
}

/** What pods carry for Karpenter, by UID: their share of what their unit costs, so that a node's sum is the unit's. */
export function karpenterCosts(units: readonly PublishedUnit[]): Map<string, number> {
  return new Map(
    units.flatMap(({ cost, members }) =>
      members.map(({ metadata }) => [metadata.uid ?? '', Math.trunc(cost / members.length)] as const),
    ),
  );
}

export type CostPublication =
  | { readonly action: 'None' }
  /** Somebody else has written a value; it stands. */
  | { readonly action: 'Foreign'; readonly value: string }
  | { readonly action: 'Write'; readonly annotations: Readonly<Record<string, string | null>> };

/**
 * What becomes of a pod's annotation where `wanted` is to stand; undefined: nothing of ours. A value that differs from
 * its mark was written by somebody else and is never touched.
 */
export function decidePublication(
  { metadata: { annotations = {} } }: Pick<Pod, 'metadata'>,
  { annotation, mark }: PublishedAnnotation,
  wanted: number | undefined,
): CostPublication {
  const value = annotations[annotation];
  const marked = annotations[mark];
  if (value !== undefined && value !== marked) {
    return wanted === undefined ? { action: 'None' } : { action: 'Foreign', value };
  }
  if (wanted === undefined) {
    return marked === undefined
      ? { action: 'None' }
      : { action: 'Write', annotations: { [annotation]: null, [mark]: null } };
  }
  const text = String(wanted);
  return value === text ? { action: 'None' } : { action: 'Write', annotations: { [annotation]: text, [mark]: text } };
}

/** Karpenter's value moves all the time with the age of checkpoints; smaller moves than this are not written. */
const NOTICEABLE = 0.1;

/** Whether a value has moved far enough from the one that stands to be worth a write. */
export function isNoticeable(before: number, now: number): boolean {
  return before !== now && Math.abs(now - before) >= Math.abs(before) * NOTICEABLE;
}
