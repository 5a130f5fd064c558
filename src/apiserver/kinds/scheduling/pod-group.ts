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
import { ageColumn, integer, nameColumn, orNone, table, text, wide } from '../../registry/columns.ts';
import { type FindStored, strategyOf } from '../../registry/strategy.ts';

/** What a group without a policy of its own goes by. */
function templateOf({ metadata, spec }: StoredPodGroup, find: FindStored): StoredTemplate | undefined {
  if (spec.schedulingPolicy !== undefined || spec.workloadRef === undefined) return undefined;
  const { templateName, workloadName } = spec.workloadRef;
  const workload = find(SCHEDULING_GROUP, 'workloads', { namespace: metadata.namespace, name: workloadName });
  const templates = (workload as StoredWorkload | undefined)?.spec.podGroupTemplates;
  return templates?.find(({ name }) => name === templateName);
}

const scheduled = ({ status }: StoredPodGroup) => status?.conditions?.find(({ type }) => type === INITIALLY_SCHEDULED);

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
  table: table([
    nameColumn,
    text('Policy', 'How its pods are scheduled', ({ spec: { schedulingPolicy: policy } }) =>
      policy?.gang !== undefined ? 'Gang' : policy === undefined ? 'Template' : 'Basic',
    ),
    integer(
      'Min Count',
      'Pods that must be scheduled together',
      (object, { find }) =>
        (object.spec.schedulingPolicy?.gang ?? templateOf(object, find)?.schedulingPolicy?.gang)?.minCount ?? null,
    ),
    integer('Pods', 'Pods that have a node', ({ status }) => status?.scheduledPods ?? 0),
    text('Scheduled', 'Whether the group has been scheduled', (object) => scheduled(object)?.status ?? 'Unknown'),
    text('Workload', 'The Workload it is made from', ({ spec }) => orNone(spec.workloadRef?.workloadName)),
    wide(
      text('Disruption', 'Whether it is disrupted pod by pod or as a whole', ({ spec }) =>
        spec.disruptionMode?.all === undefined ? 'Single' : 'All',
      ),
    ),
    wide(text('Reason', 'Why it is, or is not, scheduled', (object) => orNone(scheduled(object)?.reason))),
    ageColumn,
  ]),
});
