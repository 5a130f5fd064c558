import type { KubeObject } from '../../api/resource.ts';
import type { GroupSource } from './group-facts.ts';
import { LWS } from './group-markers.ts';

/**
 * What a StatefulSet or a Job says about the groups that labels mark: the leader StatefulSet of a LeaderWorkerSet
 * knows how many groups there should be, a Job how many pods it is made of. Undefined for any other object.
 */
export function readGroupSource(object: KubeObject): { key: string; source: GroupSource } | undefined {
  const { annotations, labels, name = '' } = object.metadata;
  if (object.kind === 'Job') {
    const { spec } = object as { spec?: { parallelism?: number; completions?: number } };
    const parallelism = spec?.parallelism ?? 1;
    return { key: `Job/${name}`, source: { size: Math.min(parallelism, spec?.completions ?? parallelism) } };
  }
  const set = labels?.[LWS.name];
  const replicas = annotations?.[LWS.replicas];
  if (object.kind !== 'StatefulSet' || set === undefined || !/^\d+$/.test(replicas ?? '')) return undefined;
  return { key: `LeaderWorkerSet/${set}`, source: { replicas: Number(replicas) } };
}
