import type { KubeObject } from '../../api/resource.ts';
import { nameHash1a } from '../../machinery/values/index.ts';

const MAX_NAME = 253;
const MAX_LABEL = 63;

/**
 * Differs between owners that follow each other under one name. Kubernetes' own Job controller finds a Workload by this
 * name, so it is made from the same text: a Go value of type UID, printed.
 */
export function workloadName({ metadata }: KubeObject): string {
  const hash = nameHash1a(`(types.UID)${metadata.uid ?? ''}`);
  return `${(metadata.name ?? '').slice(0, MAX_NAME - hash.length - 1)}-${hash}`;
}

export function templateName({ metadata }: KubeObject): string {
  return `${(metadata.name ?? '').replaceAll('.', '-').slice(0, MAX_LABEL - 6)}-pgt-0`;
}

export function podGroupName(workload: string, template: string): string {
  const hash = nameHash1a(`${workload}${template}`);
  const room = MAX_NAME - hash.length - 2;
  const half = Math.floor(room / 2);
  const own = Math.min(template.length, Math.max(half, room - workload.length));
  return `${workload.slice(0, room - own)}-${template.slice(0, own)}-${hash}`;
}

/** The group of one of several owners, or replicas, that share a template. */
export function replicaGroupName(workload: string, template: string, replica: string): string {
  const suffix = `-${replica}`;
  return `${podGroupName(workload, template).slice(0, MAX_NAME - suffix.length)}${suffix}`;
}
