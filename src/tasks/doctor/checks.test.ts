import { expect, test } from 'vitest';
import { createAuthority, issueServer } from '../../machinery/runtime/certificates.ts';
import { formatMicroTime, formatTime } from '../../machinery/values/index.ts';
import { webhookConfigurations } from '../../webhook/index.ts';
import { checkGroups, checkOtherInstallations, checkVersion, firstDifference } from './cluster-checks.ts';
import type { ClusterFacts } from './facts.ts';
import { checkClocks, checkLeader, checkMode, checkReplicas } from './operator-checks.ts';
import { checkWebhooks } from './webhook-checks.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const facts = (over: Partial<ClusterFacts> = {}): ClusterFacts => ({
  nowMs: NOW,
  namespace: 'quorate-system',
  version: 'v1.36.4',
  embedded: false,
  serverTime: { atMs: NOW, localMs: NOW + 500, tookMs: 0 },
  gates: {},
  schedulingKinds: new Map(),
  definitions: { value: [] },
  webhooks: { value: [] },
  trial: { outcome: 'Refused' },
  presented: [],
  secret: {},
  lease: {},
  otherLeases: [],
  deployment: {},
  budgets: { value: [] },
  lacking: {},
  ...over,
});
const lease = (renewedMs: number, more: { writtenMs?: number; namespace?: string; version?: string } = {}) => ({
  metadata: {
    name: 'quorate',
    namespace: more.namespace ?? 'quorate-system',
    annotations: more.version === undefined ? {} : { 'policy.quorate.dev/version': more.version },
    managedFields: more.writtenMs === undefined ? [] : [{ time: formatTime(more.writtenMs) }],
  },
  spec: {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    renewTime: formatMicroTime(renewedMs),
    acquireTime: formatMicroTime(NOW - 60_000),
  },
});

test.each([
  ['v1.36.4', 'ok'],
  ['v1.37.0-rc.1', 'ok'],
  ['v1.35.2+k3s1', 'warn'],
  ['v1.29.0', 'fail'],
])('checkVersion() calls %s %s', (version, want) => {
  expect(checkVersion(facts({ version })).status).toBe(want);
});

test('checkGroups() warns where the kinds are served and the gate is off', () => {
  const schedulingKinds = new Map(['Workload', 'PodGroup'].map((kind) => [kind, ['v1alpha2']]));
  expect(checkGroups(facts({ schedulingKinds })).status).toBe('ok');
  const gates = { value: new Map([['GenericWorkload', false]]) };
  expect(checkGroups(facts({ schedulingKinds, gates })).what).toContain('GenericWorkload is off');
});

test('firstDifference() names the path, and ignores what the server adds', () => {
  expect(firstDifference({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ c: 2 }] }, 'spec')).toBeUndefined();
  expect(firstDifference({ b: [{ c: 2 }] }, { b: [{ c: 3 }] }, 'spec')).toBe('spec.b[0].c');
  expect(firstDifference({ b: [] }, { b: [1] }, 'spec')).toBe('spec.b');
});

test('checkOtherInstallations() fails where another operator leads elsewhere', () => {
  const otherLeases = [lease(NOW, { namespace: 'other' })];
  expect(checkOtherInstallations(facts({ otherLeases })).at(-1)).toMatchObject({
    status: 'fail',
    what: 'another Quorate leads in namespace "other"',
  });
});

test.each([
  ['a fresh lease', lease(NOW - 3000), 'ok'],
  ['a leader that fell silent', lease(NOW - 60_000), 'fail'],
  ['a leader whose clock is behind but that writes', lease(NOW - 600_000, { writtenMs: NOW - 2000 }), 'ok'],
  ['a leader whose clock is ahead and that fell silent', lease(NOW + 600_000, { writtenMs: NOW - 60_000 }), 'fail'],
  ['a leader of another version', lease(NOW, { version: '0.0.1' }), 'warn'],
])('checkLeader() judges %s', (_, value, want) => {
  expect(checkLeader(facts({ lease: { value } })).status).toBe(want);
});

const budget = (manager: string | undefined, atMs: number) => ({
  metadata: {
    name: 'b',
    creationTimestamp: formatTime(atMs),
    managedFields: manager === undefined ? [] : [{ manager, subresource: 'status', time: formatTime(atMs) }],
  },
});

test.each([
  ['alongside', [budget('kube-controller-manager', NOW)], 'ok'],
  ['alongside', [budget(undefined, NOW - 300_000)], 'fail'],
  ['alongside', [budget(undefined, NOW - 1000)], 'ok'],
  ['alongside', [], 'ok'],
  ['replace', [budget('quorate', NOW)], 'ok'],
  ['replace', [budget('kube-controller-manager', NOW - 600_000), budget('quorate', NOW)], 'ok'],
  ['replace', [budget('kube-controller-manager', NOW - 1000), budget('quorate', NOW)], 'fail'],
] as const)('checkMode() %s with writers %j is %s', (mode, budgets, want) => {
  expect(checkMode(facts({ mode, budgets: { value: budgets }, lease: { value: lease(NOW) } })).status).toBe(want);
});

test.each([
  [0, 'ok'],
  [2000, 'ok'],
  [-12_000, 'warn'],
  [40_000, 'fail'],
])('checkClocks() calls a machine %d ms apart %s', (skewMs, want) => {
  const serverTime = { atMs: NOW, localMs: NOW + 500 + skewMs, tookMs: 20 };
  expect(checkClocks(facts({ serverTime }))[0]?.status).toBe(want);
});

test('checkClocks() sees a leader whose clock is wrong', () => {
  const value = lease(NOW - 300_000, { writtenMs: NOW });
  expect(checkClocks(facts({ lease: { value } }))[1]?.what).toBe(
    "the clock of the leading operator is 300 s behind the API server's",
  );
});

test.each([
  [2, 2, 'ok'],
  [1, 2, 'warn'],
  [0, 2, 'fail'],
  [1, 1, 'warn'],
])('checkReplicas() calls %d of %d ready %s', (readyReplicas, replicas, want) => {
  const value = {
    metadata: { name: 'quorate' },
    spec: { replicas, selector: {}, template: {} },
    status: { readyReplicas },
  };
  expect(checkReplicas(facts({ deployment: { value } })).status).toBe(want);
});

test('checkWebhooks() judges the age of the certificate, its authority and the failure policy', async () => {
  const authority = await createAuthority('ca', { now: NOW, days: 3650 });
  const pair = await issueServer(authority, 'w', ['w'], { now: NOW, days: 90 });
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const at = (days: number, { failOpen = false, token = '' } = {}) => {
    const value = webhookConfigurations({ namespace: 'quorate-system', failOpen, certManager: false });
    for (const { clientConfig } of value.flatMap(({ webhooks = [] }) => webhooks)) {
      clientConfig.caBundle = encode(authority.certificate);
      if (clientConfig.service) clientConfig.service.path = `/${token || 'a'.repeat(64)}/validate`;
    }
    const findings = checkWebhooks(
      facts({
        nowMs: NOW + days * 86_400_000,
        webhooks: { value },
        secret: { value: { metadata: {}, data: { 'tls.crt': encode(pair.certificate) } } },
      }),
    );
    return Object.fromEntries(findings.map(({ check, status }) => [check, status]));
  };
  const whole = {
    webhooks: 'ok',
    'webhook callers': 'ok',
    'webhook reachability': 'ok',
    'certificate authority': 'ok',
    'certificate age': 'ok',
  };
  expect(at(0)).toEqual(whole);
  expect(at(70)).toEqual({ ...whole, 'certificate age': 'warn' });
  expect(at(91)).toEqual({ ...whole, 'certificate age': 'fail' });
  expect(at(0, { failOpen: true })).toEqual({ ...whole, webhooks: 'warn' });
  expect(at(0, { token: 'guessable' })).toEqual({ ...whole, 'webhook callers': 'fail' });
});
