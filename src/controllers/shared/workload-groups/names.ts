import type { KubeObject } from '../../../api/resource.ts';
import { nameHash } from '../controller-history/index.ts';

const MAX_NAME = 253;
const MAX_LABEL = 63;

/** Differs between owners that follow each other under one name. */
export function workloadName({ metadata }: KubeObject): string {
  const hash = nameHash(metadata.uid ?? '');
  return `${(metadata.name ?? '').slice(0, MAX_NAME - hash.length - 1)}-${hash}`;
}

export function templateName({ metadata }: KubeObject): string {
  return `${(metadata.name ?? '').replaceAll('.', '-').slice(0, MAX_LABEL - 6)}-pgt-0`;
}

export function podGroupName(workload: string, template: string): string {
  const hash = nameHash(`${workload}${template}`);
  const room = MAX_NAME - hash.length - 2;
  const own = Math.min(template.length, Math.max(Math.floor(room / 2), room - workload.length));
  return `${workload.slice(0, room - own)}-${template.slice(0, own)}-${hash}`;
}
