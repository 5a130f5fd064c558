import { expect, test } from 'vitest';
import type { DisruptionPolicySpec, NoticeHttp, NoticeTerms } from './disruption-policy.ts';
import { validateDisruptionPolicy } from './disruption-policy-validation.ts';

const GOOD: DisruptionPolicySpec = {
  selector: { matchLabels: { app: 'trainer' } },
  limits: { maxDisruptions: [{ count: 2, per: '1h' }] },
};
const issues = (spec: DisruptionPolicySpec): string[] =>
  validateDisruptionPolicy({ metadata: { name: 'p' }, spec }).map(
    ({ message, path }) => `${path}: ${message.split(':')[0] ?? ''}`,
  );
const limits = (given: DisruptionPolicySpec['limits']): string[] => issues({ ...GOOD, limits: given });
const notice = (given: Partial<NoticeTerms>): string[] => issues({ ...GOOD, notice: { duration: '60s', ...given } });
const call = (http: Partial<NoticeHttp>): string[] =>
  notice({ channels: [{ type: 'HTTP', http: { host: 'saver.ml', port: 443, ...http } }] });

test('what most people write is accepted', () => {
  expect(issues(GOOD)).toEqual([]);
  expect(issues({ targetRef: { kind: 'Job', name: 'train' }, notice: { duration: '10m' } })).toEqual([]);
  expect(call({})).toEqual([]);
  expect(call({ host: undefined as never, to: 'EachMember', serverName: 'member.ml' })).toEqual([]);
});

test('DP-01: groups are selected in one way, and something is asked for', () => {
  expect(issues({ ...GOOD, targetRef: { kind: 'Job', name: 'x' } })).toEqual(['spec.targetRef: Forbidden']);
  expect(issues({ limits: {} })).toEqual(['spec.selector: Required value']);
  expect(issues({ selector: {} })).toEqual(['spec: Required value']);
  expect(issues({ targetRef: { kind: 'Pod', name: '' }, limits: {} })).toEqual([
    'spec.targetRef.kind: Unsupported value',
    'spec.targetRef.name: Required value',
  ]);
  expect(issues({ targetRef: { apiVersion: 'v1', kind: 'Job', name: 'x' }, limits: {} })).toEqual([
    'spec.targetRef.apiVersion: Invalid value',
  ]);
});

test.each<[string, DisruptionPolicySpec['limits'], string]>([
  ['a period of 30 seconds', { maxDisruptions: [{ count: 1, per: '30s' }] }, 'spec.limits.maxDisruptions[0].per'],
  ['a count below 0', { maxDisruptions: [{ count: -1, per: '1h' }] }, 'spec.limits.maxDisruptions[0].count'],
  [
    'a period twice',
    {
      maxDisruptions: [
        { count: 1, per: '1h' },
        { count: 2, per: '60m' },
      ],
    },
    'spec.limits.maxDisruptions[1].per',
  ],
  ['an interval of two weeks', { minInterval: '336h' }, 'spec.limits.minInterval'],
  ['settling for 25 hours', { settle: { afterRecovery: '25h' } }, 'spec.limits.settle.afterRecovery'],
  ['a start of nothing', { settle: { afterStart: '0s' } }, 'spec.limits.settle.afterStart'],
  ['seconds below 0', { maxDisruptionSecondsPerDay: -1 }, 'spec.limits.maxDisruptionSecondsPerDay'],
  [
    'a zone that is not',
    { windows: [{ start: '02:30', duration: '1h', timeZone: 'Mars/Base' }] },
    'spec.limits.windows[0].timeZone',
  ],
  ['an unknown way to count', { counts: 'Some' as 'All' }, 'spec.limits.counts'],
])('DP-01: %s is refused', (_, given, path) => {
  expect(limits(given).map((text) => text.split(':')[0])).toEqual([path]);
});

test.each<[string, string[], string]>([
  ['no duration', notice({ duration: '' }), 'spec.notice.duration'],
  ['a duration of two days', notice({ duration: '48h' }), 'spec.notice.duration'],
  ['the same channel twice', notice({ channels: [{ type: 'Pod' }, { type: 'Pod' }] }), 'spec.notice.channels[1].type'],
  ['HTTP without a call', notice({ channels: [{ type: 'HTTP' }] }), 'spec.notice.channels[0].http'],
  ['no host', call({ host: '' }), 'spec.notice.channels[0].http.host'],
  ['a host for each member', call({ to: 'EachMember' }), 'spec.notice.channels[0].http.host'],
  [
    'members by HTTPS without a name',
    call({ host: undefined as never, to: 'EachMember' }),
    'spec.notice.channels[0].http.serverName',
  ],
  ['a timeout of a minute', call({ timeoutSeconds: 60 }), 'spec.notice.channels[0].http.timeoutSeconds'],
  ['polls without a pause', call({ pollSeconds: 1 }), 'spec.notice.channels[0].http.pollSeconds'],
  [
    'a header that the transport sets',
    call({ httpHeaders: [{ name: 'Host', value: 'x' }] }),
    'spec.notice.channels[0].http.httpHeaders[0].name',
  ],
  [
    'a responder without a name',
    notice({ acknowledgement: { from: 'Responder' } }),
    'spec.notice.acknowledgement.responder',
  ],
  [
    'a responder without a domain',
    notice({ acknowledgement: { from: 'Responder', responder: 'saver' } }),
    'spec.notice.acknowledgement.responder',
  ],
])('a notice with %s is refused', (_, found, path) => {
  expect(found.map((text) => text.split(':')[0])).toEqual([path]);
});
