import { expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { DisruptionLedger } from '../api/quorate/types.ts';
import { DisruptionIndex, readBudget, readPod, readPodGroup } from '../decisions/disruption/index.ts';
import { createClient, ManualClock } from '../machinery/runtime/index.ts';
import { reviewEviction } from './eviction.ts';

const namespace = 'default';
const never = new AbortController().signal;

const budget: PodDisruptionBudget = {
  metadata: { name: 'gangs', namespace, uid: 'b', generation: 1 },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'training' } } },
};

const ledger: DisruptionLedger = {
  metadata: { name: 'gangs', namespace, resourceVersion: '5' },
  status: {
    observedGeneration: 1,
    disruptionsAllowed: 2,
    currentHealthy: 3,
    desiredHealthy: 1,
    expectedPods: 3,
    conditions: [{ type: 'PodGroupBudget', status: 'True', reason: 'AllGrouped', message: '', lastTransitionTime: '' }],
    unit: 'PodGroup',
  },
};

const pod = (name: string, gang: string): Pod =>
  ({
    metadata: { name, namespace, uid: name, labels: { app: 'training' } },
    spec: { containers: [], schedulingGroup: { podGroupName: gang } },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }) as unknown as Pod;

/** Three gangs of two under one budget, and an API server that takes every status as it comes. */
function stage(refuseWith?: { code: number; reason: string }) {
  const index = new DisruptionIndex();
  for (const gang of ['a', 'b', 'c']) {
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    index.setPodGroup(namespace, gang, readPodGroup({ metadata: { name: gang, namespace }, spec } as never));
    for (const at of [0, 1]) index.setPod(readPod(pod(`${gang}-${at}`, gang)));
  }
  index.setBudget(readBudget({ ...budget, status: ledger.status }));
  const calls: string[] = [];
  const client = createClient({
    userAgent: 'test',
    transport: ({ body, method, path }) => {
      calls.push(`${method} ${path.split('/').slice(-2).join('/')}`);
      if (method === 'GET') return answer(404, { kind: 'Status', code: 404, reason: 'NotFound' });
      if (refuseWith !== undefined) return answer(refuseWith.code, { kind: 'Status', ...refuseWith });
      return answer(200, JSON.parse(String(body)) as object);
    },
  });
  const written: DisruptionLedger[] = [];
  const clock = new ManualClock();
  const webhook = {
    client,
    clock,
    index,
    budget: () => budget,
    isCordoned: () => false,
    podsResourceVersion: () => '9',
    cachedLedger: () => ledger,
    ledgerWritten: (one: DisruptionLedger) => void written.push(one),
  };
  const review = (name: string) =>
    reviewEviction(
      webhook,
      { uid: 'u', operation: 'CREATE', resource: { group: '', version: 'v1', resource: 'pods' }, namespace, name },
      never,
    );
  return { calls, clock, index, review, written };
}

function answer(status: number, body: object) {
  return Promise.resolve({ status, headers: {}, body: Buffer.from(JSON.stringify(body)) });
}

test('reviewEviction() charges with one write and no read', async () => {
  const { calls, review } = stage();
  expect(await review('a-0')).toEqual({ allowed: true });
  expect(calls).toEqual(['PUT gangs/status']);
});

test('reviewEviction() writes the count that the controller arrives at, so that it need not write again', async () => {
  const { clock, index, review, written } = stage();
  await review('a-0');
  const status = written[0]?.status;
  expect(status?.disruptionsAllowed).toBe(1);
  expect(status?.currentHealthy).toBe(index.count(namespace, 'gangs', clock.now())?.healthy);
  expect(Object.keys(status?.disruptedPods ?? {})).toEqual(['a-0']);
});

test('reviewEviction() refuses for now when the ledger it knew is gone', async () => {
  const { review, written } = stage({ code: 404, reason: 'NotFound' });
  expect(await review('a-0')).toMatchObject({ allowed: false, status: { code: 429 } });
  expect(written).toEqual([]);
});
