import { CAPACITY_MODES, POD_UNAVAILABLE_BUDGETS, RESERVE_FAILURES } from '../kruise/types.ts';
import {
  choice,
  conditions,
  defineKind,
  int32,
  int64,
  intOrPercent,
  type KindVersion,
  labelSelector,
  list,
  mapOf,
  object,
  type CrdSchema,
  text,
  time,
} from './builder.ts';

const commonSpec: Record<string, CrdSchema> = {
  selector: labelSelector('Pods the budget covers. Exactly one of selector and targetRef is set; neither can change.'),
  targetRef: object(
    {
      apiVersion: text('API version of the workload.'),
      kind: text('Kind of the workload.'),
      name: text('Name of the workload, in the namespace of the budget.'),
    },
    { description: 'The one workload whose pods the budget covers.' },
  ),
  maxUnavailable: intOrPercent(
    'How many may be unavailable at once: pods, or groups where podGroupPolicy is set. Percentages round up.',
  ),
  minAvailable: intOrPercent(
    'How many must stay available: pods, or groups where podGroupPolicy is set. Percentages round up.',
  ),
  podGroupPolicy: object(
    {
      groupLabelKey: text('Label whose value names the group a pod belongs to.'),
      minReadyReplicas: int32('Ready pods a group needs to count as available; 1 when unset.'),
    },
    { description: 'Makes the budget count groups of pods instead of pods.', required: ['groupLabelKey'] },
  ),
};

const betaSpec: Record<string, CrdSchema> = {
  ...commonSpec,
  protectOperations: list(
    text(),
    'Operations the budget guards: DELETE, UPDATE, EVICT, RESIZE. Unset means the first three.',
  ),
  protectTotalReplicas: int32('Overrides the expected count: pods, or groups where podGroupPolicy is set.', {
    minimum: 1,
  }),
  capacityPolicy: object(
    {
      mode: choice(
        'Require: an eviction that takes a group, or a pod where pods are counted, below what it needs is granted only while all of its replacement finds places.',
        CAPACITY_MODES,
      ),
      reserveFor: text(
        'For how long placeholder pods hold the room from the grant until the group is back, as in 10m: 10s to 24h. Unset or 0: nothing is held.',
      ),
      onReserveFailure: choice(
        'What happens where room is there and cannot be held, such as for want of quota. Proceed: the eviction is granted all the same. Unset: Refuse.',
        RESERVE_FAILURES,
      ),
    },
    { description: 'Capacity before disruption. Unset: evictions do not look for room.' },
  ),
  ignoredPodSelector: labelSelector('Pods that may be disturbed without asking the budget. They still count.'),
};

const status = object(
  {
    observedGeneration: int64('Generation of the spec that the numbers were computed for.'),
    disruptedPods: mapOf(time(), 'Pods whose delete or eviction was allowed and not yet seen, with the time.'),
    unavailablePods: mapOf(time(), 'Pods whose update was allowed and has not settled, with the time.'),
    unavailableAllowed: int32('How many more may become unavailable now.'),
    currentAvailable: int32('How many are available.'),
    desiredAvailable: int32('How many must stay available.'),
    totalReplicas: int32('How many are expected.'),
    unavailableReplicas: int32('How many of those expected are not available.'),
    conditions: conditions(
      'What is wrong with the budget, if anything: each condition is True while the trouble lasts.',
    ),
    groupStatus: object(
      {
        unavailableGroups: int32('Expected groups that are not available.'),
        ungroupedPods: int32('Covered pods that carry no group label.'),
        ungroupedAvailable: int32('How many of those are available.'),
        unavailableGroupNames: list(text(), 'At most ten groups that are not available.'),
        podsResourceVersion: text('On a cluster: how new the pods were that the status was computed from.'),
      },
      { description: 'Set where podGroupPolicy is.' },
    ),
  },
  { description: 'What the budget counts now.' },
);

const version = (name: string, stored: boolean, spec: Record<string, CrdSchema>): KindVersion => ({
  name,
  stored,
  description:
    'Limits how many pods, or groups of pods, of an application are unavailable at once, whoever disturbs them.',
  spec: object(spec),
  status,
  columns: [
    { name: 'Allowed', type: 'integer', jsonPath: '.status.unavailableAllowed' },
    { name: 'Current', type: 'integer', jsonPath: '.status.currentAvailable' },
    { name: 'Desired', type: 'integer', jsonPath: '.status.desiredAvailable' },
    { name: 'Total', type: 'integer', jsonPath: '.status.totalReplicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export const podUnavailableBudgetDefinition = defineKind({
  type: POD_UNAVAILABLE_BUDGETS,
  shortNames: ['pub'],
  versions: [version('v1beta1', true, betaSpec), version('v1alpha1', false, commonSpec)],
});
