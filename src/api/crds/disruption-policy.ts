import { disruptionPolicyType } from '../quorate/disruption-policy.ts';
import {
  choice,
  conditions,
  defineKind,
  flag,
  int32,
  int64,
  labelSelector,
  list,
  object,
  text,
  time,
  windowList,
} from './builder.ts';
import { noticeTerms } from './notice.ts';

const limits = object(
  {
    maxDisruptions: list(
      object(
        {
          count: int32('Disruptions of all its groups.', { minimum: 0 }),
          per: text('Within this time, 1m to 168h.'),
        },
        { required: ['count', 'per'] },
      ),
      'At most so many disruptions in a time; all of them bind.',
      { maxItems: 4 },
    ),
    minInterval: text('No group is disrupted twice within it, 1s to 168h.'),
    settle: object(
      {
        afterRecovery: text('Since it is whole again, 1s to 24h.'),
        afterStart: text('Since it was whole for the first time, 1s to 24h.'),
      },
      { description: 'How long a group is left alone.' },
    ),
    windows: windowList('Groups are disrupted only inside one of them; none: at any time.'),
    maxDisruptionSecondsPerDay: int32('A group that was down for so many of the last 24 hours is left alone.', {
      minimum: 0,
    }),
    counts: choice('Whether count, interval and seconds also count what nobody asked for.', ['Voluntary', 'All']),
  },
  { description: 'When and how often groups may be disrupted.' },
);

const ledger = list(
  object(
    {
      group: text('KIND/NAME of the group, or Pod/NAME of a pod on its own.'),
      firstWholeAt: time(),
      wholeAt: time('It became whole again.'),
      downSince: time('It is down.'),
      disruptions: list(
        object({
          at: text('When its first pod went, or was let go.'),
          by: text(),
          way: text(),
          state: text(undefined, { enum: ['Reserved', 'Gone'] as never }),
          involuntary: flag(),
          until: text('Kept for a group that is given notice, until two minutes after that.'),
          notice: text('The ID of that notice.'),
        }),
      ),
      down: list(object({ from: time(), to: time(), voluntary: flag() }), 'Of the last 24 hours.'),
      going: list(object({ pod: text(), uid: text(), at: text() }), 'Pods that were let go a moment ago.'),
    },
    { required: ['group'] },
  ),
  'What limits are judged by.',
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['group'] },
);

export const disruptionPolicyDefinition = defineKind({
  type: disruptionPolicyType,
  shortNames: ['dpol'],
  versions: [
    {
      name: 'v1alpha1',
      stored: true,
      description:
        'How often and when groups may be disrupted, and how they are told before. It binds beside budgets, in the same decision.',
      spec: object({
        selector: labelSelector(
          'Pods; a group is meant when one member that is not finished matches. {}: every group of the namespace.',
        ),
        targetRef: object(
          {
            apiVersion: text('API version of the object.'),
            kind: text('PodGroup, Workload, LeaderWorkerSet, JobSet, Job, StatefulSet, Deployment or ReplicaSet.'),
            name: text('Name of the object, which need not exist.'),
          },
          { description: 'Whose groups are meant, instead of a selector.', required: ['kind', 'name'] },
        ),
        notice: noticeTerms('The group is told before it goes.'),
        limits,
      }),
      status: object({
        observedGeneration: int64(),
        selectedGroups: int32('Groups that it speaks for.'),
        since: time('Disruptions are counted since then.'),
        allowedNow: flag('One of its groups may be disrupted now.'),
        nextAllowed: time('When that may be again, where that can be told.'),
        conditions: conditions('Ready, Allowing.'),
        ledger,
        summary: object({ notice: text(), limits: text(), allowed: text() }, { description: 'What kubectl shows.' }),
      }),
      columns: [
        { name: 'Selects', type: 'integer', jsonPath: '.status.selectedGroups', description: 'Groups.' },
        { name: 'Notice', type: 'string', jsonPath: '.spec.notice.duration' },
        { name: 'Limits', type: 'string', jsonPath: '.status.summary.limits' },
        { name: 'Allowed', type: 'string', jsonPath: '.status.summary.allowed' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});
