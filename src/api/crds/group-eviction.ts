import { groupEvictionType } from '../quorate/group-eviction.ts';
import { conditions, defineKind, int32, int64, list, object, text } from './builder.ts';
import { groupNotice } from './notice.ts';

/** Everything but `intent`. */
const FIXED = [
  'podGroupName',
  'leaderWorkerSet',
  'groupLabel',
  'podName',
  'reason',
  'cause',
  'gracePeriodSeconds',
  'ttlSecondsAfterFinished',
];

const isSame = (field: string): string =>
  `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;

const NAME = { minLength: 1, maxLength: 253 };

export const groupEvictionDefinition = defineKind({
  type: groupEvictionType,
  shortNames: ['gev'],
  versions: [
    {
      name: 'v1alpha1',
      stored: true,
      description:
        'Evicts a whole group of pods: every budget of every member is asked once, and either all members go or none.',
      spec: object(
        {
          podGroupName: text('A PodGroup of scheduling.k8s.io.', NAME),
          leaderWorkerSet: object(
            { name: text('The set.', NAME), groupIndex: int32('Which of its groups.', { minimum: 0 }) },
            { description: 'One group of a LeaderWorkerSet.', required: ['name', 'groupIndex'] },
          ),
          groupLabel: object(
            {
              key: text('The label.', { minLength: 1, maxLength: 317 }),
              value: text(
                "Its value; `SET/VALUE` for LeaderWorkerSet's own labels, whose values repeat from set to set.",
                { minLength: 1, maxLength: 317 },
              ),
            },
            { description: 'The pods with one value of a label.', required: ['key', 'value'] },
          ),
          podName: text('A pod on its own, which is a group of one.', NAME),
          intent: text('Evict, or Withdrawn: what has not begun to go then stays. Absent: Evict.', {
            enum: ['Evict', 'Withdrawn'] as never,
          }),
          reason: text('Why the group has to go, for people; one line.', { maxLength: 256, pattern: '^[^\\r\\n]*$' }),
          cause: object(
            { kind: text('Its kind, such as Maintenance.', NAME), name: text('Its name.', NAME) },
            { description: 'What asks for it.', required: ['kind', 'name'] },
          ),
          gracePeriodSeconds: int64("Grace period of the members, instead of each pod's own.", { minimum: 0 }),
          ttlSecondsAfterFinished: int32('How long this object is kept once it is finished.', {
            minimum: 0,
            default: 3600 as never,
          }),
        },
        {
          'x-kubernetes-validations': [
            {
              rule: '[has(self.podGroupName), has(self.leaderWorkerSet), has(self.groupLabel), has(self.podName)].exists_one(x, x)',
              message: 'exactly one of podGroupName, leaderWorkerSet and groupLabel must be set, or podName alone',
            },
            {
              rule: FIXED.map(isSame).join(' && '),
              message: 'a GroupEviction cannot be changed, but for spec.intent; make another one',
            },
            {
              rule: "!(has(oldSelf.intent) && oldSelf.intent == 'Withdrawn') || (has(self.intent) && self.intent == 'Withdrawn')",
              message: 'what was withdrawn stays withdrawn; make another GroupEviction',
            },
          ],
        },
      ),
      status: object({
        evictedPods: list(text(), 'Names of the pods that were told to go.'),
        evictedPodUIDs: list(text(), 'Their UIDs: whoever takes over tells them from pods that came in their place.'),
        notice: groupNotice,
        joined: text('Another GroupEviction of the group, whose notice this one shares.'),
        conditions: conditions('Evicted: whether all members were told to go. Noticed, Withdrawn: of the notice.'),
      }),
      columns: [
        { name: 'Evicted', type: 'string', jsonPath: '.status.conditions[?(@.type=="Evicted")].status' },
        { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Evicted")].reason' },
        { name: 'Notice', type: 'string', jsonPath: '.status.notice.state' },
        { name: 'Deadline', type: 'string', jsonPath: '.status.notice.deadline', priority: 1 },
        { name: 'Pods', type: 'string', jsonPath: '.status.evictedPods', priority: 1 },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});
