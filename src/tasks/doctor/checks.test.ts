import { expect, test } from 'vitest';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { DisruptionLedger, DisruptionLedgerStatus } from '../../api/quorate/types.ts';
import { createAuthority, issueServer } from '../../machinery/runtime/certificates.ts';
import { formatMicroTime, formatTime } from '../../machinery/values/index.ts';
import { definitions, webhookConfigurations } from '../../webhook/index.ts';
import { checkBudgets, checkGroupVersions } from './budget-checks.ts';
import {
  checkDefinitions,
  checkGroups,
  checkOtherInstallations,
  checkVersion,
  firstDifference,
} from './cluster-checks.ts';
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
  ledgers: { value: [] },
  ignored: { value: [] },
  shared: { value: [] },
  oldGroups: { value: 0 },
  endpoint: {},
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

test('checkDefinitions() looks at stand-ins for EvictionRequest where they are there, and ours', () => {
  const status = { conditions: [{ type: 'Established', status: 'True' as const }] };
  const ours = definitions('native', 'crd').map((one) => ({ ...one, status }));
  const found = (value: typeof ours): string[] =>
    checkDefinitions(facts({ definitions: { value } }))
      .filter(({ what }) => what.includes('lifecycle.k8s.io'))
      .map(({ status, what }) => `${status} ${what}`);
  expect(found([])).toEqual([]);
  const installed = 'is installed and as this version wants it';
  expect(found(ours)).toEqual([
    `ok evictionrequests.lifecycle.k8s.io ${installed}`,
    `ok evictions.lifecycle.k8s.io ${installed}`,
  ]);
  const half = ours.filter(({ metadata }) => metadata.name !== 'evictions.lifecycle.k8s.io');
  expect(found(half)[1]).toBe('fail evictions.lifecycle.k8s.io is not installed');
  expect(found(ours.map((one) => ({ ...one, metadata: { name: one.metadata.name ?? '' } })))).toEqual([]);
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
    'webhook service': 'ok',
    'webhook reachability': 'ok',
    'certificate authority': 'ok',
    'certificate age': 'ok',
  };
  expect(at(0)).toEqual(whole);
  expect(at(70)).toEqual({ ...whole, 'certificate age': 'warn' });
  expect(at(89.5)).toEqual({ ...whole, 'certificate age': 'fail' });
  expect(at(91)).toEqual({ ...whole, 'certificate age': 'fail' });
  expect(at(0, { failOpen: true })).toEqual({ ...whole, webhooks: 'warn' });
  expect(at(0, { token: 'guessable' })).toEqual({ ...whole, 'webhook callers': 'fail' });
});

const groupBudget = (over: Partial<PodDisruptionBudget> = {}): PodDisruptionBudget => ({
  metadata: { name: 'b', namespace: 'ml', uid: 'u', generation: 1, creationTimestamp: formatTime(NOW - 300_000) },
  spec: { minAvailable: 2 },
  status: {
    observedGeneration: 1,
    disruptionsAllowed: 4,
    conditions: [
      {
        type: 'CountsGroups',
        status: 'True',
        reason: 'GroupUnits',
        message: '3 of 3 groups are available, 2 must stay; up to 4 pods can go now if chosen best',
        lastTransitionTime: formatTime(NOW),
      },
    ],
  } as never,
  ...over,
});
const ledgerOf = (status: DisruptionLedgerStatus = {}): DisruptionLedger => ({
  metadata: { name: 'b', namespace: 'ml', creationTimestamp: formatTime(NOW - 300_000) },
  status: {
    unit: 'PodGroup',
    budgetUID: 'u',
    currentHealthy: 3,
    expectedPods: 3,
    desiredHealthy: 2,
    disruptionsAllowed: 1,
    ...status,
  } as DisruptionLedgerStatus,
});
const tighter = [
  { type: 'BuiltInCountTighter', status: 'True', reason: 'CountsPods', message: '', lastTransitionTime: '' },
];

test.each([
  ['in order', {}, ledgerOf(), {}, 'ok: 1 budgets, 1 of them over groups, are in order'],
  [
    'a million',
    { status: { disruptionsAllowed: 1_000_000, observedGeneration: 1 } },
    ledgerOf(),
    {},
    'fail: ml/b allow',
  ],
  ['numbers of nobody', {}, ledgerOf({ currentHealthy: 1 }), {}, 'fail: the numbers of ml/b are not those'],
  ['tighter', {}, ledgerOf({ conditions: tighter }), { mode: 'alongside' as const }, 'fail: Kubernetes counts pods'],
  ['tighter elsewhere', {}, ledgerOf({ conditions: tighter }), { mode: 'adopt' as const }, 'ok: '],
  [
    'a barrier',
    { metadata: { ...groupBudget().metadata, generation: 2 } },
    ledgerOf(),
    {},
    'fail: no eviction under ml/b',
  ],
  ['no ledger', {}, undefined, {}, 'fail: ml/b have no ledger'],
  ['the ledger of another', {}, ledgerOf({ budgetUID: 'v' }), {}, 'fail: ml/b have no ledger, or that'],
  [
    'a dead holder',
    {},
    ledgerOf({ hold: { holder: 'x/1', stamp: '1', recalled: true } }),
    {},
    'fail: ml/b are held by',
  ],
  ['an exempt namespace', {}, ledgerOf(), { ignored: { value: ['ml'] } }, 'warn: ml/b are in namespaces'],
  ['shared pods', {}, ledgerOf(), { shared: { value: ['ml/p'] } }, 'warn: two budgets select the same grouped pod'],
  ['hidden ledgers', {}, ledgerOf(), { ledgers: { hidden: 'forbidden' } }, 'unknown: cannot tell: forbidden'],
] as const)('HL-06: checkBudgets() of a budget with %s', (_, budget, ledger, over, want) => {
  const value = ledger === undefined ? [] : [ledger as DisruptionLedger];
  const given = facts({ budgets: { value: [groupBudget(budget as never)] }, ledgers: { value }, ...over });
  const [first] = checkBudgets(given);
  expect(`${first?.status}: ${first?.what}`).toContain(want);
});

test('HL-06: checkGroupVersions() warns before an upgrade to 1.37, and only then', () => {
  const oldGroups = { value: 3 };
  expect(checkGroupVersions(facts({ oldGroups }))[0]?.fix).toContain('quorate migrate groups');
  expect(checkGroupVersions(facts({ oldGroups, version: 'v1.37.0' }))).toEqual([]);
  expect(checkGroupVersions(facts())).toEqual([]);
});

test('HL-06: checkMode() fails where the leader runs in another mode than the one installed', () => {
  const given = facts({ mode: 'adopt', installedMode: 'replace', lease: { value: lease(NOW) } });
  expect(checkMode(given)).toMatchObject({
    status: 'fail',
    what: 'the leader runs in mode adopt, and replace is installed',
  });
});

test('HL-06: checkWebhooks() sees a Service without replicas, conditions of another version, and one not filled', () => {
  const stated = () =>
    webhookConfigurations({ namespace: 'quorate-system', failOpen: false, certManager: false, mode: 'adopt' });
  const look = (value: ReturnType<typeof stated>, over: Partial<ClusterFacts> = {}): string[] =>
    checkWebhooks(facts({ mode: 'adopt', webhooks: { value }, lease: { value: lease(NOW) }, ...over })).map(
      ({ check, status, what }) => `${check} ${status}: ${what}`,
    );
  expect(look(stated(), { endpoint: { value: 'Service x has no ready endpoint' } })).toContainEqual(
    expect.stringContaining('webhook service fail: Service x has no ready endpoint'),
  );
  const [evictions, status, others] = stated();
  if (evictions === undefined || status === undefined || others === undefined) throw new Error('three are stated');
  expect(look([evictions, others])).toEqual([expect.stringContaining('webhooks fail: the API server does not ask')]);
  expect(look([{ ...evictions, webhooks: [] }, status, others])).toContainEqual(
    expect.stringContaining('webhooks fail: the leader has not filled quorate-evictions'),
  );
  const changed = structuredClone(status);
  for (const one of changed.webhooks ?? []) Object.assign(one, { matchConditions: [], timeoutSeconds: 2 });
  expect(look([evictions, changed, others])).toContainEqual(
    expect.stringContaining('webhooks fail: status.quorate.dev: matchConditions are not those of this version'),
  );
  const slow = structuredClone(status);
  for (const one of slow.webhooks ?? []) one.timeoutSeconds = 30;
  expect(look([evictions, slow, others])).toContainEqual(
    expect.stringContaining('webhooks warn: status.quorate.dev: timeoutSeconds is 30, not 2'),
  );
});

test('23.3: checkDefinitions() names the definitions that have taken the place of kinds of ours', () => {
  const definition = (type: string) => ({
    metadata: { name: 'leaderworkersets.leaderworkerset.x-k8s.io' },
    status: { conditions: [{ type, status: 'True', message: 'it is theirs now.' }] },
  });
  const found = (type: string) =>
    checkDefinitions(facts({ embedded: true, definitions: { value: [definition(type)] } })).map(({ status }) => status);
  expect(found('Established')).toEqual(['ok']);
  expect(found('ReplacesBuiltIn')).toEqual(['ok', 'warn']);
  const [, warned] = checkDefinitions(
    facts({ embedded: true, definitions: { value: [definition('ReplacesBuiltIn')] } }),
  );
  expect(warned?.what).toBe('leaderworkersets.leaderworkerset.x-k8s.io: it is theirs now.');
});
