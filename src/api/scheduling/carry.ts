import type { SchedulingVersion, StoredPodGroup, StoredTemplate, StoredWorkload } from './stored.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Copies the named properties from one object to another where the target does not have them. */
function carry<T extends object>(to: T | undefined, from: T | undefined, names: readonly (keyof T)[]): void {
  if (to === undefined || from === undefined) return;
  for (const name of names) {
    if (from[name] !== undefined && to[name] === undefined) (to as Mutable<T>)[name] = from[name];
  }
}

const POLICY_FIELDS = [
  'schedulingPolicy',
  'schedulingConstraints',
  'resourceClaims',
  'disruptionMode',
  'priorityClassName',
  'priority',
] as const;

const POD_GROUP_FIELDS: Readonly<Record<SchedulingVersion, readonly (keyof StoredPodGroup['spec'])[]>> = {
  v1beta1: [],
  v1alpha2: ['parentCompositePodGroupName', 'preemptionPolicy'],
  v1alpha1: ['parentCompositePodGroupName', 'preemptionPolicy', ...POLICY_FIELDS],
};

const TEMPLATE_FIELDS: Readonly<Record<SchedulingVersion, readonly (keyof StoredTemplate)[]>> = {
  v1beta1: ['replicas'],
  v1alpha2: ['replicas', 'preemptionPolicy'],
  v1alpha1: ['preemptionPolicy', ...POLICY_FIELDS.filter((name) => name !== 'schedulingPolicy')],
};

/**
 * Puts back into an updated object, already in the stored form, what the version it was written in cannot say: whoever
 * reads, changes and writes in an older version takes nothing away.
 */
export function carryPodGroup(object: StoredPodGroup, old: StoredPodGroup, version: SchedulingVersion): void {
  object.spec ??= {};
  carry(object.spec, old.spec, POD_GROUP_FIELDS[version]);
  if (version !== 'v1alpha1' && object.spec.workloadRef !== undefined) carry(object.spec, old.spec, ['draft']);
  if (old.status === undefined) return;
  object.status ??= {};
  carry(object.status, old.status, version === 'v1alpha1' ? ['resourceClaimStatuses'] : ['scheduledPods']);
}

export function carryWorkload(object: StoredWorkload, old: StoredWorkload, version: SchedulingVersion): void {
  object.spec ??= {};
  const known = new Map(old.spec.podGroupTemplates?.map((template) => [template.name, template]));
  for (const template of object.spec.podGroupTemplates ?? []) {
    carry(template, known.get(template.name), TEMPLATE_FIELDS[version]);
  }
  if (version === 'v1beta1') {
    carry(object.spec, old.spec, ['draftList']);
    return;
  }
  carry(object.spec, old.spec, ['compositePodGroupTemplates']);
  // These versions write "no templates" as an empty list, which is how they see a tree of composites.
  if (object.spec.compositePodGroupTemplates !== undefined && object.spec.podGroupTemplates?.length === 0) {
    delete object.spec.podGroupTemplates;
  }
  if (version === 'v1alpha2') carry(object.spec, old.spec, ['draftList']);
}
