import { disruptionPolicyType } from '../quorate/disruption-policy.ts';
import { NOTICE_ENUMS } from '../quorate/notice-validation.ts';
import {
  choice,
  conditions,
  defineKind,
  flag,
  httpHeader,
  int32,
  int64,
  intOrPercent,
  labelSelector,
  list,
  object,
  text,
  time,
  windowList,
} from './builder.ts';

const http = object(
  {
    scheme: choice('HTTPS or HTTP.', NOTICE_ENUMS.scheme),
    host: text('Host name or address; not where each member is called.'),
    port: { ...intOrPercent('Port number.') },
    path: text('Path of the request.', { default: '/' as never }),
    to: choice('One call for the group, or one to the address of each member.', NOTICE_ENUMS.to),
    timeoutSeconds: int32('Time for one call, 1 to 30.', { default: 5 as never }),
    pollSeconds: int32('How soon a group that is still at work is asked again, 2 to 60.', { default: 5 as never }),
    serverName: text('The name in the certificate; needed to call members by HTTPS.'),
    httpHeaders: list(httpHeader('policy'), 'Headers of the request.'),
  },
  { description: 'How it is called.', required: ['port'] },
);

const notice = object(
  {
    duration: text('How long the group has, 1s to 24h.'),
    channels: list(
      object(
        {
          type: text('How members are told: by their pods, by a call, or by EvictionRequests.', {
            enum: [...NOTICE_ENUMS.type] as never,
          }),
          http,
        },
        { required: ['type'] },
      ),
      'None: by their pods.',
      { maxItems: 4 },
    ),
    acknowledgement: object(
      {
        from: choice('Whose word ends the notice before its time.', NOTICE_ENUMS.from),
        responder: text('The key of the responder that speaks for the group.'),
      },
      { description: 'What counts as done.' },
    ),
    onUndelivered: choice('What happens when nobody could be told.', NOTICE_ENUMS.onUndelivered),
  },
  { description: 'The group is told before it goes.', required: ['duration'] },
);

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
        notice,
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
