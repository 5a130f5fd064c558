import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { isSameTemplate } from './template.ts';

export const sizeOf = ({ spec }: ReplicaSet): number => spec?.replicas ?? 1;
export const availableOf = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;
export const isActive = (replicaSet: ReplicaSet): boolean => sizeOf(replicaSet) > 0;

export const sum = (replicaSets: readonly ReplicaSet[], of: (replicaSet: ReplicaSet) => number): number =>
  replicaSets.reduce((total, replicaSet) => total + of(replicaSet), 0);

/** Oldest first; names settle what was created in the same second. */
export function compareAge(a: ReplicaSet, b: ReplicaSet): number {
  const left = a.metadata.creationTimestamp ?? '';
  const right = b.metadata.creationTimestamp ?? '';
  if (left !== right) return left < right ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

export interface ReplicaSets {
  /** The oldest that has the Deployment's template. */
  readonly current: ReplicaSet | undefined;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSet[];
}

export function splitReplicaSets({ spec }: Deployment, owned: readonly ReplicaSet[]): ReplicaSets {
  const byAge = owned.toSorted(compareAge);
  const current = byAge.find((replicaSet) => isSameTemplate(replicaSet.spec?.template, spec?.template));
  return { current, old: byAge.filter((replicaSet) => replicaSet !== current) };
}

export function allOf({ current, old }: ReplicaSets): ReplicaSet[] {
  return current === undefined ? [...old] : [...old, current];
}
