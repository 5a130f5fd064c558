import type { Pod } from '../../api/generated/core-v1.ts';
import type { Labels } from '../../machinery/values/index.ts';
import type { KubeObject } from '../../api/resource.ts';
import type { CountedPod } from '../disruption/index.ts';

/**
 * How many pods the disruption controller would find for a controller: its replicas, `None` where the kind has no scale
 * subresource, `Unknown` where only the cluster could tell.
 */
export type Scale = number | 'None' | 'Unknown';

/** Pods that one controller makes, or one pod that nobody manages. */
export interface PodSet {
  /** What a person wrote: the workload at the top, or the pod itself. */
  readonly root: KubeObject;
  /** Where the root describes these pods, such as `spec.template`; empty for a pod. */
  readonly path: string;
  readonly labels: Labels;
  readonly scale: Scale;
  /** False for a pod without a controller. */
  readonly managed: boolean;
}

/** A pod as it would be with everything well: running, ready and staying. */
export interface LintPod {
  readonly pod: Pod;
  readonly facts: CountedPod;
  readonly set: PodSet;
}

/** `Deployment default/web`, as messages and logs name an object. */
export function nameOf({ kind = '', metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name ?? ''}`;
}

/** The same without the namespace, for messages about objects that share one. */
export function shortNameOf({ kind = '', metadata }: KubeObject): string {
  return `${kind} ${metadata.name ?? ''}`;
}

/** At most three names, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const all = [...new Set(names)];
  const shown = all.slice(0, 3).join(', ');
  return all.length > 3 ? `${shown} and ${all.length - 3} more` : shown;
}

export const countOf = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;
