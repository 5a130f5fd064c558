import { groupEvictionType } from '../quorate/group-eviction.ts';
import { conditions, defineKind, int32, int64, list, object, text } from './builder.ts';

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
          gracePeriodSeconds: int64("Grace period of the members, instead of each pod's own.", { minimum: 0 }),
          ttlSecondsAfterFinished: int32('How long this object is kept once it is finished.', {
            minimum: 0,
            default: 3600 as never,
          }),
        },
        {
          'x-kubernetes-validations': [
            {
              rule: '[has(self.podGroupName), has(self.leaderWorkerSet), has(self.groupLabel)].exists_one(x, x)',
              message: 'exactly one of podGroupName, leaderWorkerSet and groupLabel must be set',
            },
            { rule: 'self == oldSelf', message: 'a GroupEviction cannot be changed; make another one' },
          ],
        },
      ),
      status: object({
        evictedPods: list(text(), 'Names of the pods that were told to go.'),
        conditions: conditions('Evicted: whether all members were told to go.'),
      }),
      columns: [
        { name: 'Evicted', type: 'string', jsonPath: '.status.conditions[?(@.type=="Evicted")].status' },
        { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Evicted")].reason' },
        { name: 'Pods', type: 'string', jsonPath: '.status.evictedPods', priority: 1 },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});
