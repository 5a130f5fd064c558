import { disruptionLedgerType, GRANT_KINDS } from '../quorate/types.ts';
import { conditions, defineKind, flag, int32, int64, list, mapOf, object, text, time } from './builder.ts';

export const disruptionLedgerDefinition = defineKind({
  type: disruptionLedgerType,
  shortNames: ['ledger'],
  versions: [
    {
      name: 'v1alpha1',
      stored: true,
      description:
        'What Quorate counts and has granted under the PodDisruptionBudget of the same name. Written by Quorate only.',
      status: object({
        unit: text('What the numbers count: PodGroup or Pod.'),
        observedGeneration: int64('Generation of the budget that the numbers answer.'),
        podsResourceVersion: text('How new the pods were that the numbers were computed from.'),
        disruptedPods: mapOf(
          time(),
          'The granted pods with the times of their grants, as replicas of older versions read them.',
        ),
        disruptionsAllowed: int32('How many more may go down now.', { minimum: 0 }),
        currentHealthy: int32('How many are up.'),
        desiredHealthy: int32('How many must stay up.'),
        expectedPods: int32('How many there should be.'),
        hold: object(
          {
            holder: text('The replica.'),
            stamp: text('Changes with every write of the holder.'),
            recalled: flag('Another replica asks the holder to let go.'),
            silentSeconds: int32('For how long at least the holder has not written, by those who wait for it.', {
              minimum: 0,
            }),
          },
          {
            description:
              'The replica that grants by itself and lists its grants a moment later; absent where every grant is listed before it is given.',
          },
        ),
        budgetUID: text('UID of the budget that the grants were given under.'),
        publication: int32('Which formula the pod numbers of the budget follow from.'),
        grants: list(
          object(
            {
              name: text('The pod.'),
              uid: text('Its UID.'),
              at: time('When it was given.'),
              until: time('Of a group that is given notice: the deadline, from which on it counts as given.'),
              cost: int32('1 where it takes a group below its minimum, else 0.', { minimum: 0, maximum: 1 }),
              kind: text('What the pod was when it was let pass.', { enum: [...GRANT_KINDS] as never }),
              pinned: text('What the eviction is pinned to; absent where it is not.', {
                enum: ['uid', 'version'] as never,
              }),
              resourceVersion: text('The version of the pod that the eviction is pinned to.'),
              by: text('The replica that gave it.'),
              room: list(
                object(
                  {
                    node: text('The node.'),
                    pods: int32('How many pods of the group it has room for.', { minimum: 1 }),
                    amounts: mapOf(int64(), 'What each of them takes there, in whole units (cpu in milli).'),
                  },
                  { required: ['node', 'pods', 'amounts'] },
                ),
                'Room that was found for the whole group; not given to another group for two minutes.',
                { 'x-kubernetes-list-type': 'atomic' },
              ),
            },
            { required: ['name', 'uid', 'at', 'cost', 'kind', 'by'] },
          ),
          'Evictions that were let pass and may still be carried out. Their pods count as gone.',
          { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name', 'uid'] },
        ),
        conditions: conditions(
          'Whether disruptions are allowed, what is counted, and how the budget compares with the built-in count.',
        ),
      }),
      columns: [
        { name: 'Counts', type: 'string', jsonPath: '.status.unit' },
        { name: 'Expected', type: 'integer', jsonPath: '.status.expectedPods' },
        { name: 'Healthy', type: 'integer', jsonPath: '.status.currentHealthy' },
        { name: 'Needed', type: 'integer', jsonPath: '.status.desiredHealthy' },
        { name: 'Allowed', type: 'integer', jsonPath: '.status.disruptionsAllowed' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});
