import {
  disruptionHistoryType,
  HISTORY_ENDS,
  HISTORY_LIMITS,
  HISTORY_OUTCOMES,
  HISTORY_WAYS,
} from '../quorate/disruption-history.ts';
import { defineKind, flag, int32, list, object, text, time } from './builder.ts';

const one = (values: readonly string[]): object => ({ enum: [...values] as never });

const entry = object(
  {
    id: text('Sorts by time.'),
    at: time('When it was asked for or seen.'),
    outcome: text('What became of it.', one(HISTORY_OUTCOMES)),
    way: text('How it came.', one(HISTORY_WAYS)),
    voluntary: flag('An eviction of any kind, a preemption, or a delete that a budget judged.'),
    who: text('Who asked.'),
    userAgent: text('With which software.'),
    cause: object(
      { kind: text(), name: text(), reason: text() },
      { description: 'What was behind it: a Maintenance, or a node and who drains it.' },
    ),
    namespace: text(),
    group: text('NAMESPACE/KIND/NAME.'),
    owner: text('What made the pods, as KIND/NAME.'),
    pods: list(object({ name: text(), uid: text(), node: text() }), 'The first 64.', {
      maxItems: HISTORY_LIMITS.pods,
    }),
    podsTotal: int32('All of them.'),
    budgets: list(text(), 'Budgets that were asked.'),
    policies: list(text(), 'DisruptionPolicies that were asked.'),
    reason: text('Of a refusal its first cause.'),
    message: text('What the client was told.'),
    repeats: int32('How often the same was refused within ten minutes.'),
    lastAt: time('When last.'),
    noticedAt: time('The group was told.'),
    acknowledgedAt: time('It agreed.'),
    goneAt: time('The last of the pods was gone.'),
    downAt: time('The group fell below its minimum.'),
    wholeAt: time('It was whole again, for at least ten seconds.'),
    groupSeconds: { type: 'number', description: 'For how long the group was down.' },
    podSeconds: { type: 'number', description: 'The time that its members were not Ready meanwhile, added up.' },
    end: text('Whether it is whole again, was removed, or is still down.', one(HISTORY_ENDS)),
    during: text('The entry that took the group down before.'),
  },
  { required: ['id', 'at', 'outcome', 'way', 'group'] },
);

const answered = object({
  at: time(),
  kind: text(),
  namespace: text(),
  pod: object({ name: text(), uid: text() }),
  group: text(),
  who: text(),
  judged: flag(),
});

export const disruptionHistoryDefinition = defineKind({
  type: disruptionHistoryType,
  shortNames: ['dhist'],
  versions: [
    {
      name: 'v1alpha1',
      stored: true,
      description:
        'A part of the record of disruptions: who let which group go down, why, and for how long. Written by Quorate only; quorate history reads it.',
      spec: object(
        {
          writer: text('leader, or the replica whose refusals these are.'),
          entries: list(entry, 'Oldest first.', { maxItems: HISTORY_LIMITS.entries }),
          reached: object(
            { pods: text(), at: time(), census: text() },
            { description: 'How far the pods have been followed.' },
          ),
          gaps: list(object({ from: time(), to: time() }), 'Times in which pods may have gone unseen.'),
          answered: list(answered, 'Departures that a replica let pass in the last minutes, for the leader.'),
        },
        { required: ['writer'] },
      ),
      columns: [
        { name: 'Writer', type: 'string', jsonPath: '.spec.writer' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});
