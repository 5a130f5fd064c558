import type { NamespaceIndex } from './namespace-index.ts';
import { type CountedPod, exemptionOf } from './pod-facts.ts';
import type { PodRecord } from './records.ts';

/** A group whose members may only be disrupted together. */
export interface GroupAsOne {
  /** KIND/NAME. */
  readonly group: string;
  /** Those that run: bound, and neither finished nor on their way out. By name. */
  readonly members: readonly CountedPod[];
}

/**
 * Who goes with a pod that is asked to go; undefined where it goes by itself. So does a pod that is no part of what runs:
 * it is not bound yet, has finished, or is on its way out already.
 */
export function groupAsOne(index: NamespaceIndex, record: PodRecord): GroupAsOne | undefined {
  const { link } = record.facts;
  if (link === undefined || !runs(record.facts)) return undefined;
  if (link.source !== 'SchedulingGroup' && link.source !== 'WorkloadRefPodGroup') return undefined;
  const one = index.groups.asOne(link.podGroup);
  if (one === undefined) return undefined;
  const all = one.podGroups.flatMap((name) => [...index.podsOfGroup(name)]);
  const members = all.map(({ facts }) => facts).filter(runs);
  return { group: one.name, members: members.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

function runs(pod: CountedPod): boolean {
  const why = exemptionOf(pod);
  return pod.nodeName !== '' && (why === undefined || why === 'PodPending');
}
