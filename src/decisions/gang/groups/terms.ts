import type { StoredPodGroup, StoredPodGroupSpec, StoredWorkload } from '../../../api/scheduling/index.ts';
import type { GroupLink } from '../../disruption/index.ts';
import type { GroupDisruption } from '../preemption/victim-unit.ts';

/** Names a group within a scheduler; pods of one group have the same. */
export function groupIdOf(namespace: string, { podGroup, replicaKey, source, workload }: GroupLink): string {
  return source === 'SchedulingGroup' || source === 'WorkloadRefPodGroup'
    ? `${namespace}/${podGroup}`
    : `${namespace}/${workload}/${podGroup}/${replicaKey}`;
}

/** What a group asks of the scheduler, wherever that is written. */
export interface GroupTerms {
  readonly name: string;
  readonly gang: boolean;
  /** Members that must have a place: `minCount` of a gang, one of a basic group. */
  readonly needed: number;
  readonly topologyKey: string | undefined;
  readonly disruption: GroupDisruption;
  /** Absent on groups of versions that know no priority. */
  readonly priority: number | undefined;
  readonly preemptionPolicy: string | undefined;
  /** The object that shows how the group fares; groups inside a Workload have none. */
  readonly podGroup: StoredPodGroup | undefined;
}

export type TermsAnswer =
  | { readonly reason: 'Found'; readonly terms: GroupTerms }
  | {
      readonly reason: 'PodGroupMissing' | 'WorkloadMissing' | 'TemplateMissing' | 'CompositePodGroupMissing';
      readonly message: string;
    };

/** The group objects of one namespace. */
export interface GroupsOfNamespace {
  podGroup(name: string): StoredPodGroup | undefined;
  workload(name: string): StoredWorkload | undefined;
}

/**
 * Follows a pod's link to the policy of its group, whatever tree that group is part of.
 *
 *  1. to a PodGroup with its own policy: done; the Workload does not matter
 *  2. to a PodGroup of the draft, without policy: its Workload's template decides
 *  3. to an entry of a Workload: that entry decides
 */
export function findTerms(link: GroupLink, objects: GroupsOfNamespace): TermsAnswer {
  if (link.source !== 'SchedulingGroup' && link.source !== 'WorkloadRefPodGroup') {
    return templateTerms({ workload: link.workload, template: link.podGroup, podGroup: undefined }, objects);
  }
  const podGroup = objects.podGroup(link.podGroup);
  if (podGroup === undefined) return missing('PodGroupMissing', `PodGroup "${link.podGroup}" does not exist`);
  const { schedulingPolicy, workloadRef } = podGroup.spec;
  if (schedulingPolicy !== undefined)
    return { reason: 'Found', terms: readTerms(podGroup.spec, link.podGroup, podGroup) };
  const workload = workloadRef?.workloadName || link.workload;
  return templateTerms({ workload, template: workloadRef?.templateName ?? '', podGroup }, objects);
}

function templateTerms(
  { podGroup, template, workload }: { workload: string; template: string; podGroup: StoredPodGroup | undefined },
  objects: GroupsOfNamespace,
): TermsAnswer {
  const found = objects.workload(workload);
  if (found === undefined) return missing('WorkloadMissing', `Workload "${workload}" does not exist`);
  const entry = found.spec.podGroupTemplates?.find(({ name }) => name === template);
  if (entry === undefined) {
    return missing('TemplateMissing', `Workload "${workload}" has no pod group named "${template}"`);
  }
  return { reason: 'Found', terms: readTerms(entry, podGroup?.metadata.name ?? template, podGroup) };
}

const missing = (reason: Exclude<TermsAnswer['reason'], 'Found'>, message: string): TermsAnswer => ({
  reason,
  message,
});

function readTerms(
  spec: Omit<StoredPodGroupSpec, 'workloadRef' | 'draft'>,
  name: string,
  podGroup: StoredPodGroup | undefined,
): GroupTerms {
  const gang = spec.schedulingPolicy?.gang;
  return {
    name,
    gang: gang !== undefined,
    needed: Math.max(1, gang?.minCount ?? 1),
    topologyKey: spec.schedulingConstraints?.topology?.[0]?.key,
    disruption: {
      mode: spec.disruptionMode?.all === undefined ? 'single' : 'all',
      ...(spec.priority !== undefined && { priority: spec.priority }),
    },
    priority: spec.priority,
    preemptionPolicy: spec.preemptionPolicy,
    podGroup,
  };
}
