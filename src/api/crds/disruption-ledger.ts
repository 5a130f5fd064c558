import { QUORATE_GROUP } from '../quorate/types.ts';
import { conditions, defineKind, flag, int32, int64, mapOf, object, text, time } from './builder.ts';

export const disruptionLedgerDefinition = defineKind({
  group: QUORATE_GROUP,
  kind: 'DisruptionLedger',
  plural: 'disruptionledgers',
  shortNames: ['ledger'],
  scope: 'Namespaced',
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
        disruptedPods: mapOf(time(), 'Pods whose eviction was granted and not yet seen, with the time.'),
        disruptionsAllowed: int32('How many more may go down now.'),
        currentHealthy: int32('How many are up.'),
        desiredHealthy: int32('How many must stay up.'),
        expectedPods: int32('How many there should be.'),
        hold: object(
          {
            holder: text('The replica.'),
            stamp: text('Another with every write of the holder.'),
            recalled: flag('Another replica asks the holder to let go.'),
          },
          {
            description:
              'The replica that grants by itself and lists its grants a moment later; absent where every grant is listed before it is given.',
          },
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
