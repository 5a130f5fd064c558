import {
  defaultPodGroup,
  INITIALLY_SCHEDULED,
  PROTECTION_FINALIZER,
  SCHEDULING_GROUP,
  type SchedulingVersion,
  type StoredPodGroup,
  type StoredTemplate,
  type StoredWorkload,
  validatePodGroup,
  validatePodGroupUpdate,
} from '../../../api/scheduling/index.ts';
import { type FindStored, strategyOf } from '../../registry/strategy.ts';
import { ageColumn, integer, nameColumn, orNone, since, text } from '../columns.ts';

/** What a group without a policy of its own goes by. */
function templateOf({ metadata, spec }: StoredPodGroup, find: FindStored): StoredTemplate | undefined {
  if (spec.schedulingPolicy !== undefined || spec.workloadRef === undefined) return undefined;
  const { templateName, workloadName } = spec.workloadRef;
  const workload = find(SCHEDULING_GROUP, 'workloads', { namespace: metadata.namespace, name: workloadName });
  const templates = (workload as StoredWorkload | undefined)?.spec.podGroupTemplates;
  return templates?.find(({ name }) => name === templateName);
}

/** Groups are held by a finalizer until none of their pods is left to run. */
export const podGroupStrategy = strategyOf<StoredPodGroup>({
  defaults: (object) => defaultPodGroup(object),
  prepareForCreate(object) {
    delete object['status'];
    const { metadata } = object;
    if (!metadata.finalizers?.includes(PROTECTION_FINALIZER)) {
      metadata.finalizers = [...(metadata.finalizers ?? []), PROTECTION_FINALIZER];
    }
  },
  validate: (object, version) => validatePodGroup(object, version as SchedulingVersion),
  validateUpdate: (object, old, version) => validatePodGroupUpdate(object, old, version as SchedulingVersion),
  storedOnly: ['draft'],
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Policy', 0, 'How its pods are scheduled'),
      integer('Min Count', 0, 'Pods that must be scheduled together'),
      integer('Pods', 0, 'Pods that have a node'),
      text('Scheduled', 0, 'Whether the group has been scheduled'),
      text('Workload', 0, 'The Workload it is made from'),
      text('Disruption', 1, 'Whether it is disrupted pod by pod or as a whole'),
      text('Reason', 1, 'Why it is, or is not, scheduled'),
      ageColumn,
    ],
    cells(object, now, find) {
      const { metadata, spec, status } = object;
      const condition = status?.conditions?.find(({ type }) => type === INITIALLY_SCHEDULED);
      const gang = spec.schedulingPolicy?.gang;
      return [
        metadata.name ?? '',
        gang !== undefined ? 'Gang' : spec.schedulingPolicy === undefined ? 'Template' : 'Basic',
        (gang ?? templateOf(object, find)?.schedulingPolicy?.gang)?.minCount ?? null,
        status?.scheduledPods ?? 0,
        condition?.status ?? 'Unknown',
        orNone(spec.workloadRef?.workloadName),
        spec.disruptionMode?.all === undefined ? 'Single' : 'All',
        orNone(condition?.reason),
        since(metadata.creationTimestamp, now),
      ];
    },
  },
});
