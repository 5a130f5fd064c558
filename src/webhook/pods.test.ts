import { expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodUnavailableBudget, PodUnavailableBudgetSpec } from '../api/kruise/types.ts';
import { type BudgetIndex, BudgetIndexes } from '../decisions/unavailability/index.ts';
import { ApiError, type Client, createClient, ManualClock, settle } from '../machinery/runtime/index.ts';
import { BudgetCopies } from './budget-copies.ts';
import { type PodWebhook, reviewPod } from './pods.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

const namespace = 'default';
const never = new AbortController().signal;

const pod = (name: string, labels: Record<string, string>): Pod => ({
  metadata: { name, namespace, labels, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});

const budget = (allowed: number, spec: PodUnavailableBudgetSpec = {}): PodUnavailableBudget => ({
  metadata: { name: 'pub', namespace, generation: 1, resourceVersion: '1' },
  spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: 1, ...spec },
  status: {
    observedGeneration: 1,
    unavailableAllowed: allowed,
    desiredAvailable: 1,
    totalReplicas: 2,
    currentAvailable: 2,
  },
});

/** An API server whose status writes conflict as often as it is told; reads give `stored`. */
function server(conflicts: number, stored: () => PodUnavailableBudget) {
  const seen: { writes: number; written: PodUnavailableBudget | undefined } = { writes: 0, written: undefined };
  const newer = (budget: PodUnavailableBudget): PodUnavailableBudget => {
    const { metadata } = budget;
    return { ...budget, metadata: { ...metadata, resourceVersion: String(Number(metadata.resourceVersion) + 1) } };
  };
  const client = createClient({
    userAgent: 'test',
    transport: ({ body, method }) => {
      if (method === 'GET') return answer(200, newer(stored()));
      seen.writes += 1;
      if (seen.writes <= conflicts)
        return answer(409, { kind: 'Status', status: 'Failure', code: 409, reason: 'Conflict', message: 'modified' });
      seen.written = newer(JSON.parse(String(body)) as PodUnavailableBudget);
      return answer(200, seen.written);
    },
  });
  return { client, seen };
}

function answer(status: number, body: object) {
  async function* chunks() {
    yield Buffer.from(JSON.stringify(body));
  }
  return Promise.resolve({ status, headers: {}, body: chunks() });
}

interface Setup {
  readonly client: Client;
  readonly budgets: readonly PodUnavailableBudget[];
  readonly pods?: readonly Pod[];
  readonly compat?: boolean;
  /** How new the pods are; called with every look at it. */
  readonly podsVersion?: (index: BudgetIndex) => string;
}

const eviction: ReviewRequest = {
  uid: '1',
  operation: 'CREATE',
  resource: { group: '', version: 'v1', resource: 'pods' },
  subResource: 'eviction',
  namespace,
  name: 'p',
  object: {},
};

async function review(
  { budgets, client, compat = false, pods = [], podsVersion }: Setup,
  over: Partial<ReviewRequest> = {},
) {
  const clock = new ManualClock();
  const indexes = new BudgetIndexes({ compat });
  const index = indexes.of(namespace);
  for (const one of [pod('p', { app: 'llm' }), ...pods]) index.setPod({ pod: one, targets: [] });
  for (const one of budgets) index.setBudget(one);
  const webhook: PodWebhook = {
    client,
    clock,
    podsResourceVersion: () => podsVersion?.(index) ?? '1',
    indexes,
    budgets: new BudgetCopies(client, indexes),
    gates: { deletes: true, updates: true, verticalScaling: false },
    scaleOf: () => undefined,
    compat,
  };
  const request: ReviewRequest = { ...eviction, ...over };
  let response: ReviewResponse | undefined;
  const done = reviewPod(webhook, request, never).then((given) => {
    response = given;
  });
  while (response === undefined) {
    await settle();
    await clock.advance(1000);
  }
  await done;
  return { response, index, webhook };
}

test('W1 a grant is written before it is given', async () => {
  const { client, seen } = server(0, () => budget(1));
  const { index, response, webhook } = await review({ client, budgets: [budget(1)] });
  expect(response.allowed).toBe(true);
  expect(seen.writes).toBe(1);
  const charged = { unavailableAllowed: 0, disruptedPods: { p: expect.stringMatching(/./) as string } };
  expect(seen.written?.status).toMatchObject(charged);
  // 19.5: the index is the controller's; who asks next brings what was written.
  expect(index.budget('pub')?.budget).toEqual(budget(1));
  expect(webhook.budgets.ask(namespace, (one) => one.budget('pub')?.budget.status)).toMatchObject(charged);
});

test('W5 a dry run of the request alone leaves the budget untouched', async () => {
  const { client, seen } = server(0, () => budget(1));
  expect((await review({ client, budgets: [budget(1)] }, { dryRun: true })).response.allowed).toBe(true);
  expect(seen.writes).toBe(0);
});

test('W5 in compatibility mode a dry run of the request alone is charged, one of the delete options is not', async () => {
  const related = pod('q', { app: 'llm' });
  related.metadata.annotations = { 'pub.kruise.io/related-pub': 'pub' };
  for (const [deleteOptions, writes] of [
    [undefined, 1],
    [{ dryRun: ['All'] }, 0],
  ] as const) {
    const { client, seen } = server(0, () => budget(1));
    const setup = { client, budgets: [budget(1)], pods: [related], compat: true };
    const { response } = await review(setup, { name: 'q', dryRun: true, object: { deleteOptions } });
    expect(response.allowed).toBe(true);
    expect(seen.writes).toBe(writes);
  }
});

test('W11 a pod that names a budget which is not there, and that no other covers, may go', async () => {
  const { client, seen } = server(0, () => budget(0));
  const named = pod('q', { app: 'other' });
  named.metadata.annotations = { 'pub.kruise.io/related-pub': 'gone' };
  const { response } = await review({ client, budgets: [budget(0)], pods: [named] }, { name: 'q' });
  expect(response.allowed).toBe(true);
  expect(seen.writes).toBe(0);
});

test('W19 after a conflict the fresh numbers decide', async () => {
  const { client, seen } = server(1, () => budget(0));
  const { response } = await review({ client, budgets: [budget(1)] });
  expect(response).toMatchObject({ allowed: false, status: { code: 429 } });
  expect(seen.writes).toBe(1);
});

test('W20 four conflicts refuse, in a way that makes drains wait', async () => {
  const { client, seen } = server(Number.POSITIVE_INFINITY, () => budget(1));
  const { response } = await review({ client, budgets: [budget(1)] });
  expect(response).toMatchObject({ allowed: false, status: { code: 429, reason: 'TooManyRequests' } });
  expect(response.status?.message).toContain('changed too often');
  expect(seen.writes).toBe(4);
});

test('H18 a pod of a group that is short already may go although nothing can be recorded', async () => {
  const policy = { podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 3 } };
  // Groups have had their three pods, so the threshold can be met and this one is short of it.
  const reached = { type: 'MinReadyReplicasImpossible', status: 'False', reason: 'ThresholdReached' };
  const short = budget(0, policy);
  short.status = { ...short.status, conditions: [{ ...reached, message: '', lastTransitionTime: '' }] };
  const { client, seen } = server(Number.POSITIVE_INFINITY, () => short);
  const member = pod('s', { app: 'llm', shard: 'a' });
  const { response } = await review({ client, budgets: [short], pods: [member] }, { name: 's' });
  expect(response.allowed).toBe(true);
  expect(seen.writes).toBe(4);
});

/** One of two groups is down, which the controller has seen and forgotten; its pod may still be there for us. */
function halfDown(): { budgets: PodUnavailableBudget[]; pods: Pod[] } {
  const one = budget(0, { podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 1 } });
  const groupStatus = { unavailableGroups: 1, podsResourceVersion: '20' };
  const pods = ['a', 'b'].map((shard) => pod(shard, { app: 'llm', shard }));
  return { budgets: [{ ...one, status: { ...one.status, groupStatus } }], pods };
}

test('a pod may not go by pods that are older than those its budget was counted from', async () => {
  const { budgets, pods } = halfDown();
  const { client, seen } = server(0, () => budgets[0] as PodUnavailableBudget);
  const { response } = await review({ client, budgets, pods, podsVersion: () => '9' }, { name: 'a' });
  expect(response).toMatchObject({ allowed: false, status: { code: 429, details: { retryAfterSeconds: 1 } } });
  expect(response.status?.message).toBe('the budgets of pod a were counted from pods not seen here yet, try again');
  expect(seen.writes).toBe(0);
});

test('pods that are seen a moment later are waited for, and decide', async () => {
  const { budgets, pods } = halfDown();
  const { client, seen } = server(0, () => budgets[0] as PodUnavailableBudget);
  let looks = 0;
  const podsVersion = (index: BudgetIndex): string => {
    looks += 1;
    if (looks === 3) index.deletePod('b');
    return looks < 3 ? '19' : '21';
  };
  const { response } = await review({ client, budgets, pods, podsVersion }, { name: 'a' });
  expect(response).toMatchObject({ allowed: false, status: { code: 429 } });
  expect(response.status?.message).toContain('would make group');
  expect(seen.writes).toBe(0);
});

test('a failure that is no conflict is not granted', async () => {
  const client = createClient({
    userAgent: 'test',
    transport: () => answer(500, { kind: 'Status', status: 'Failure', code: 500, message: 'disk full' }),
  });
  await expect(
    (async () => {
      const clock = new ManualClock();
      const indexes = new BudgetIndexes();
      indexes.of(namespace).setPod({ pod: pod('p', { app: 'llm' }), targets: [] });
      indexes.of(namespace).setBudget(budget(1));
      const gates = { deletes: true, updates: true, verticalScaling: false };
      await reviewPod(
        {
          client,
          clock,
          indexes,
          budgets: new BudgetCopies(client, indexes),
          gates,
          scaleOf: () => undefined,
          podsResourceVersion: () => '1',
        },
        eviction,
        never,
      );
    })(),
  ).rejects.toBeInstanceOf(ApiError);
});

/** A DELETE review that claims the pod as it is given, and a server that has `stored`. */
async function reviewDelete(claimed: Pod, stored: Pod | undefined) {
  const writes: string[] = [];
  const client = createClient({
    userAgent: 'test',
    transport: ({ body, method, path }) => {
      if (method === 'GET' && path.includes('/pods/')) {
        if (stored !== undefined) return answer(200, stored);
        return answer(404, { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message: 'gone' });
      }
      if (method === 'GET') return answer(200, budget(1));
      writes.push(path);
      return answer(200, JSON.parse(String(body)) as object);
    },
  });
  const { response } = await review(
    { client, budgets: [budget(1)], pods: [member('p', 'p-uid', '7')] },
    { operation: 'DELETE', subResource: '', oldObject: claimed as unknown as Record<string, unknown> },
  );
  return { response, writes };
}

function member(name: string, uid: string, resourceVersion: string): Pod {
  const one = pod(name, { app: 'llm' });
  return { ...one, metadata: { ...one.metadata, uid, resourceVersion } };
}

test('17.9: WS-13 a delete of the pod that is there is charged, also where our copy is older', async () => {
  const now = await reviewDelete(member('p', 'p-uid', '7'), undefined);
  expect(now).toMatchObject({ response: { allowed: true }, writes: [/podunavailablebudgets/] });
  const newer = await reviewDelete(member('p', 'p-uid', '9'), member('p', 'p-uid', '9'));
  expect(newer).toMatchObject({ response: { allowed: true }, writes: [/podunavailablebudgets/] });
});

test.each([
  ['of another uid', member('p', 'forged', '7'), member('p', 'p-uid', '7'), false],
  ['without a uid', pod('p', { app: 'llm' }), member('p', 'p-uid', '7'), false],
  ['newer than the API server has it', member('p', 'p-uid', '99'), member('p', 'p-uid', '9'), false],
  ['that is gone', member('p', 'p-uid', '9'), undefined, true],
])('17.9: WS-13 a delete of a pod %s charges nothing', async (_what, claimed, stored, allowed) => {
  const { response, writes } = await reviewDelete(claimed, stored);
  expect(response.allowed).toBe(allowed);
  expect(writes).toEqual([]);
});
