import { expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { PodUnavailableBudget } from '../api/kruise/types.ts';
import { DisruptionIndex, readBudget, readPod } from '../decisions/disruption/index.ts';
import { BudgetIndexes } from '../decisions/unavailability/index.ts';
import { createClient, ManualClock } from '../machinery/runtime/index.ts';
import { reviewAllBudgets } from './all-budgets.ts';
import { BudgetCopies } from './budget-copies.ts';
import { LedgerCluster } from './ledger-cluster.fixture.ts';
import type { ReviewRequest } from './review.ts';

const namespace = 'default';
const pod: Pod = {
  metadata: { name: 'a', namespace, labels: { app: 'llm' }, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { nodeName: 'n', containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};
const selector = { matchLabels: { app: 'llm' } };
const pub: PodUnavailableBudget = {
  metadata: { name: 'pub', namespace, generation: 1, resourceVersion: '1' },
  spec: { selector, maxUnavailable: 1 },
  status: { observedGeneration: 1, unavailableAllowed: 1, desiredAvailable: 1, totalReplicas: 2, currentAvailable: 2 },
};
const pdb = (disruptionsAllowed: number): PodDisruptionBudget => ({
  metadata: { name: 'pdb', namespace, generation: 1 },
  spec: { selector, minAvailable: 1 },
  status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
});

interface Known {
  /** The pod is there, and the watch shows it only once it has been read. */
  readonly late?: boolean;
  readonly guard?: PodUnavailableBudget;
}

/** Reviews an eviction where the cache shows one PodDisruptionBudget and the API server another. */
async function review(
  cached: PodDisruptionBudget,
  live: PodDisruptionBudget,
  { guard = pub, late = false }: Known = {},
) {
  const clock = new ManualClock();
  let writes = 0;
  let judged = 0;
  const show = (): void => {
    index.setPod(readPod(pod));
    indexes.of(namespace).setPod({ pod, targets: [] });
  };
  const client = createClient({
    userAgent: 'test',
    transport: ({ body, method, path }) => {
      if (method !== 'GET') writes += 1;
      const isPod = path.includes('/pods/');
      if (isPod) show();
      const answer = method === 'GET' ? (isPod ? pod : live) : (JSON.parse(String(body)) as object);
      async function* chunks() {
        yield Buffer.from(JSON.stringify(answer));
      }
      return Promise.resolve({ status: 200, headers: {}, body: chunks() });
    },
  });
  const index = new DisruptionIndex();
  index.setBudget(readBudget({ ...cached, status: {} }));
  const indexes = new BudgetIndexes();
  indexes.of(namespace).setBudget(guard);
  if (!late) show();
  const webhook = {
    client,
    clock,
    index,
    indexes,
    budgets: new BudgetCopies(client, indexes),
    budget: () => cached,
    isCordoned: () => false,
    podsResourceVersion: () => '1',
    podsIn: () => [],
    ledgers: new LedgerCluster({}).replica('a').desk,
    identity: 'a',
    changes: 'barrier' as const,
    get gates() {
      judged += 1;
      return { deletes: true, updates: true, verticalScaling: false };
    },
    scaleOf: () => undefined,
  };
  const request = { namespace, name: 'a', operation: 'CREATE', subResource: 'eviction' } as ReviewRequest;
  const { allowed, status } = await reviewAllBudgets(webhook, request, new AbortController().signal);
  return { allowed, code: status?.code, writes, judged };
}

test('W25 a PodUnavailableBudget is not charged for what a PodDisruptionBudget is bound to refuse', async () => {
  expect(await review(pdb(0), pdb(0))).toEqual({ allowed: false, code: 429, writes: 0, judged: 1 });
});

test('19.5: reviewAllBudgets() judges once, and refuses nothing on an old copy of a budget', async () => {
  expect(await review(pdb(0), pdb(1))).toEqual({ allowed: true, code: undefined, writes: 1, judged: 1 });
  expect(await review(pdb(1), pdb(1))).toEqual({ allowed: true, code: undefined, writes: 1, judged: 1 });
});

test('18.1: a pod that the watch shows late is judged by PodUnavailableBudgets as well', async () => {
  const guard = { ...pub, spec: { selector, maxUnavailable: 0 }, status: { ...pub.status, unavailableAllowed: 0 } };
  for (const late of [false, true]) {
    expect(await review(pdb(1), pdb(1), { guard, late })).toEqual({ allowed: false, code: 429, writes: 0, judged: 1 });
  }
});
