import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import type {
  PodUnavailableBudget,
  PodUnavailableBudgetSpec,
  PodUnavailableBudgetStatus,
  ProtectedOperation,
} from '../../api/kruise/types.ts';
import { BudgetIndex, type IndexedBudget } from './budget-index.ts';
import { chargedUnavailability, judgeUnavailability } from './judge.ts';
import { pruneLedger } from './ledger.ts';
import { formatUnavailabilityRefusal } from './refusal-status.ts';
import { computeStatus } from './status.ts';

const START = Date.parse('2026-01-01T00:10:00Z');
const KEY = 'leaderworkerset.sigs.k8s.io/group-index';

interface Options {
  spec?: PodUnavailableBudgetSpec;
  pods?: Pod[];
  expected?: number;
}

const pod = (name: string, labels: Record<string, string>, { ready = true, size = '3', owner = '' } = {}): Pod => ({
  metadata: {
    name,
    namespace: 'default',
    labels,
    annotations: { 'leaderworkerset.sigs.k8s.io/size': size },
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(owner === ''
      ? {}
      : {
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }],
        }),
  },
  spec: { containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const shard = (group: number): Pod[] =>
  [0, 1, 2].map((worker) =>
    pod(worker === 0 ? `llm-${group}` : `llm-${group}-${worker}`, {
      app: 'llm',
      'leaderworkerset.sigs.k8s.io/name': 'llm',
      [KEY]: String(group),
    }),
  );

/** The whole loop of server and controller over one index, on a clock moved by hand. */
class Fleet {
  readonly index = new BudgetIndex();
  now = START;
  readonly #expected: number;

  constructor({ spec = {}, pods = [...shard(0), ...shard(1), ...shard(2)], expected = 3 }: Options = {}) {
    this.#expected = expected;
    for (const one of pods) this.index.setPod({ pod: one, targets: [] });
    this.add('pub', { maxUnavailable: 1, podGroupPolicy: { groupLabelKey: KEY, minReadyReplicas: 3 }, ...spec });
  }

  add(name: string, spec: PodUnavailableBudgetSpec): void {
    this.#put({
      metadata: { name, namespace: 'default', generation: 1 },
      spec: { selector: { matchLabels: { app: 'llm' } }, ...spec },
    });
    this.reconcile(name);
  }

  status(name = 'pub'): PodUnavailableBudgetStatus {
    return this.index.budget(name)?.budget.status ?? {};
  }

  reconcile(name = 'pub'): void {
    const { budget, tally } = this.index.budget(name) as IndexedBudget;
    const ledger = pruneLedger(budget.status, tally.pods, this.now);
    this.#put({
      ...budget,
      status: { ...budget.status, disruptedPods: ledger.disruptedPods, unavailablePods: ledger.unavailablePods },
    });
    const count = budget.spec?.podGroupPolicy === undefined ? 9 : this.#expected;
    const status = computeStatus({
      budget,
      tally,
      ledger,
      expected: { count, declared: true },
      shortSinceMs: undefined,
      nowMs: this.now,
    });
    this.#put({ ...budget, status });
  }

  ask(podName: string, operation: ProtectedOperation = 'EVICT', { dryRun = false } = {}): string {
    const found = this.index.pod(podName) as Pod;
    const judgement = judgeUnavailability({
      operation,
      pod: found,
      covering: this.index.covering(podName),
      gates: { deletes: true, updates: true, verticalScaling: false },
      scaleOf: (uid) => (uid === 'loose' ? 2 : undefined),
      nowMs: this.now,
    });
    if (!judgement.allowed) return judgement.refusals.map(({ verdict }) => verdict.message).join('; ');
    if (!dryRun) {
      for (const { entry, verdict } of judgement.grants) {
        const status = chargedUnavailability(entry.budget.status, verdict, { operation, podName, nowMs: this.now });
        if (status !== undefined) this.#put({ ...entry.budget, status });
      }
    }
    return judgement.grants.map(({ verdict }) => verdict.reason).join(',');
  }

  #put(budget: PodUnavailableBudget): void {
    this.index.setBudget(budget);
  }
}

test('H1 to H4: one shard goes, its rest follows freely, the next is refused and told why', () => {
  const fleet = new Fleet();
  expect(fleet.ask('llm-0-1')).toBe('WithinBudget');
  expect(fleet.status().unavailableAllowed).toBe(0);
  expect(fleet.ask('llm-0-2')).toBe('GroupAlreadyUnavailable');
  expect(fleet.ask('llm-0', 'DELETE')).toBe('GroupAlreadyUnavailable');
  expect(fleet.status()).toMatchObject({ unavailableAllowed: 0 });
  expect(Object.keys(fleet.status().disruptedPods ?? {})).toHaveLength(3);
  expect(fleet.ask('llm-1')).toMatch(
    /would make group llm\/1 unavailable.*constraint maxUnavailable; unavailable now: llm\/0/,
  );
});

test('H5 with minReadyReplicas 2: surplus, charge, surplus elsewhere, refusal', () => {
  const fleet = new Fleet({ spec: { podGroupPolicy: { groupLabelKey: KEY, minReadyReplicas: 2 } } });
  expect(fleet.ask('llm-0-1')).toBe('GroupHasSurplus');
  expect(fleet.ask('llm-0-2')).toBe('WithinBudget');
  expect(fleet.ask('llm-1-1')).toBe('GroupHasSurplus');
  expect(fleet.ask('llm-1-2')).toContain('is forbidden');
});

test('H6 with the default of 1 both workers of every group go without a charge', () => {
  const fleet = new Fleet({ spec: { podGroupPolicy: { groupLabelKey: KEY } } });
  for (const group of [0, 1, 2])
    for (const worker of [1, 2]) expect(fleet.ask(`llm-${group}-${worker}`)).toBe('GroupHasSurplus');
  expect(fleet.status().unavailableAllowed).toBe(1);
});

test('H7 a group without pods counts as down', () => {
  expect(new Fleet({ pods: [...shard(0), ...shard(1)] }).ask('llm-1-1')).toContain(
    'available groups 2, required 2, expected 3',
  );
});

test('H9 the field that asks for more is the one named', () => {
  const fleet = new Fleet({ spec: { maxUnavailable: 2, minAvailable: 2 } });
  expect(fleet.ask('llm-0-1')).toBe('WithinBudget');
  expect(fleet.ask('llm-1-1')).toContain('constraint minAvailable');
});

test('H12 a dry run changes nothing', () => {
  const fleet = new Fleet();
  expect(fleet.ask('llm-0-1', 'EVICT', { dryRun: true })).toBe('WithinBudget');
  expect(fleet.ask('llm-1-1', 'EVICT', { dryRun: true })).toBe('WithinBudget');
  expect(fleet.status()).toMatchObject({ unavailableAllowed: 1 });
});

test('H13 ungrouped pods have a ledger of their own', () => {
  const loose = ['u1', 'u2'].map((name) => pod(name, { app: 'llm' }, { owner: 'loose' }));
  const fleet = new Fleet({ pods: [...shard(0), ...shard(1), ...shard(2), ...loose] });
  expect(fleet.ask('u1')).toBe('WithinBudget');
  expect(fleet.ask('u2')).toContain('would leave 0 ungrouped pods available, required 1');
  expect(fleet.status().unavailableAllowed).toBe(1);
});

test('H14 an update is recorded among the updates', () => {
  const fleet = new Fleet();
  fleet.ask('llm-0-1', 'UPDATE');
  expect(fleet.status().unavailablePods).toHaveProperty('llm-0-1');
});

test('H20 and W23: a refusal by one budget charges none, and is named', () => {
  const fleet = new Fleet();
  fleet.add('single', { minAvailable: 9 });
  expect(fleet.ask('llm-0-1')).toContain('"single" is forbidden');
  expect(fleet.status('pub').disruptedPods).toBeUndefined();
  expect(fleet.status('pub').unavailableAllowed).toBe(1);
});

test('H21 a recreated pod of the same name is judged afresh', () => {
  const fleet = new Fleet();
  fleet.ask('llm-0-1');
  fleet.now += 12_000;
  const fresh = pod('llm-0-1', { app: 'llm', 'leaderworkerset.sigs.k8s.io/name': 'llm', [KEY]: '0' });
  fresh.metadata.creationTimestamp = '2026-01-01T00:10:06Z';
  fleet.index.setPod({ pod: fresh, targets: [] });
  fleet.reconcile();
  expect(fleet.ask('llm-0-1')).toBe('WithinBudget');
});

test('H22 and W25: a grant that nobody used runs out after 20 s', () => {
  const fleet = new Fleet();
  fleet.ask('llm-0-1');
  fleet.now += 21_000;
  fleet.reconcile();
  expect(fleet.status()).toMatchObject({ unavailableAllowed: 1, currentAvailable: 3 });
  expect(fleet.status().disruptedPods).toBeUndefined();
});

test('W22 a spec newer than the numbers is refused with a time to retry', () => {
  const fleet = new Fleet();
  const { budget } = fleet.index.budget('pub') as IndexedBudget;
  fleet.index.setBudget({ ...budget, metadata: { ...budget.metadata, generation: 2 } });
  const found = fleet.index.pod('llm-0-1') as Pod;
  const judgement = judgeUnavailability({
    operation: 'EVICT',
    pod: found,
    covering: fleet.index.covering('llm-0-1'),
    gates: { deletes: true, updates: true, verticalScaling: false },
    scaleOf: () => undefined,
    nowMs: fleet.now,
  });
  expect(judgement.allowed).toBe(false);
  if (!judgement.allowed) {
    expect(formatUnavailabilityRefusal('EVICT', judgement.refusals)).toMatchObject({
      code: 429,
      retryAfterSeconds: 10,
    });
    expect(formatUnavailabilityRefusal('DELETE', judgement.refusals)).toMatchObject({ code: 403, reason: 'Forbidden' });
  }
});

test('W2 a refused eviction says what is short and what would help', () => {
  const fleet = new Fleet();
  fleet.ask('llm-0-1');
  const judgement = judgeUnavailability({
    operation: 'EVICT',
    pod: fleet.index.pod('llm-1') as Pod,
    covering: fleet.index.covering('llm-1'),
    gates: { deletes: true, updates: true, verticalScaling: false },
    scaleOf: () => undefined,
    nowMs: fleet.now,
  });
  if (judgement.allowed) throw new Error('expected a refusal');
  const answer = formatUnavailabilityRefusal('EVICT', judgement.refusals);
  expect(answer).toMatchObject({ code: 429, reason: 'TooManyRequests' });
  expect(answer.retryAfterSeconds).toBeUndefined();
  expect(answer.causes.map(({ reason }) => reason)).toEqual([
    'DisruptionBudget',
    'QuorateBudget',
    'QuorateShort',
    'QuorateUnblock',
  ]);
  expect(answer.causes.at(-1)?.message).toBe('wait until group llm/0 is available again');
});

test('W14 a resize is recorded as an update; in compatibility mode as a delete', () => {
  const grant = { allowed: true, reason: 'WithinBudget', record: true, unavailableAllowed: 0 } as const;
  const resize = { operation: 'RESIZE', podName: 'a', nowMs: START } as const;
  const at = '2026-01-01T00:10:00Z';
  expect(chargedUnavailability({}, grant, resize)).toEqual({ unavailableAllowed: 0, unavailablePods: { a: at } });
  expect(chargedUnavailability({}, grant, { ...resize, compat: true })).toEqual({
    unavailableAllowed: 0,
    disruptedPods: { a: at },
  });
});

test('a long ledger loses grants whose pods are gone or going, where all pods are known', () => {
  const grant = { allowed: true, reason: 'WithinBudget', record: true, unavailableAllowed: 3 } as const;
  const at = '2026-01-01T00:10:00Z';
  const disruptedPods = { gone: at, going: at, stays: at, old: at, older: at };
  const pods = new Map([
    ['going', { name: 'going', active: false, createdAtMs: 0 }],
    ['stays', { name: 'stays', active: true, createdAtMs: 0 }],
  ]);
  const eviction = { operation: 'EVICT', podName: 'next', nowMs: START } as const;
  const charged = { unavailableAllowed: 3, disruptedPods: { stays: at, next: at } };
  expect(chargedUnavailability({ disruptedPods }, grant, { ...eviction, pods })).toEqual(charged);
  expect(chargedUnavailability({ disruptedPods }, grant, eviction)?.disruptedPods).toEqual({
    ...disruptedPods,
    next: at,
  });
  const { older: _, ...four } = disruptedPods;
  expect(chargedUnavailability({ disruptedPods: four }, grant, { ...eviction, pods })?.disruptedPods).toHaveProperty(
    'gone',
  );
});
