import { expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import type { PickerReading } from '../decisions/downscale/index.ts';
import { createClient, silentLogger, systemClock, type Transport } from '../machinery/runtime/index.ts';
import { type DownscaleWebhook, reviewDownscale } from './downscale.ts';
import type { ReviewRequest } from './review.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true };
const pod = (name: string, over: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: name, labels: { app: 'web' }, ownerReferences: [owner], ...over },
  spec: { nodeName: 'n', containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});
const replicaSet = (replicas: number) => ({
  metadata: { name: 'web', namespace: 'default', uid: 'rs', generation: 4 },
  spec: { replicas, selector: { matchLabels: { app: 'web' } } },
  status: { replicas: 3, readyReplicas: 3 },
});
const request = (over: Partial<ReviewRequest> = {}): ReviewRequest => ({
  uid: 'u',
  operation: 'UPDATE',
  resource: { group: 'apps', version: 'v1', resource: 'replicasets' },
  namespace: 'default',
  name: 'web',
  object: replicaSet(2),
  oldObject: replicaSet(3),
  ...over,
});
const chooses = (name: string): PickerReading => ({
  reason: 'Ranked',
  ignoredNames: 0,
  ranks: { by: 'PickerRank', perName: new Map([[name, 0]]), others: 3 },
});

interface World {
  readonly pods?: readonly Pod[];
  readonly reading?: PickerReading | undefined;
  /** Answers patches of pods with this status. */
  readonly patchStatus?: number;
  readonly kind?: 'Deployment' | 'ReplicaSet';
  /** How many pods the ReplicaSet's controller has counted as Ready, read after read; the last one stays. */
  readonly ready?: number[];
}

function world({
  kind = 'ReplicaSet',
  patchStatus = 200,
  pods = ['a', 'b', 'c'].map((name) => pod(name)),
  ...more
}: World) {
  const ready = [...(more.ready ?? [3])];
  const storedSet = () => {
    const readyReplicas = ready.length > 1 ? ready.shift() : ready[0];
    return { ...replicaSet(3), status: { replicas: 3, readyReplicas } };
  };
  const calls: string[] = [];
  const asked: object[] = [];
  let unwritten = 0;
  const transport: Transport = async ({ method, path }) => {
    const [url = ''] = path.split('?');
    calls.push(`${method} ${url}`);
    const status = method === 'PATCH' ? patchStatus : 200;
    const body = url.endsWith('/pods')
      ? { metadata: {}, items: pods }
      : method === 'PATCH'
        ? { metadata: { resourceVersion: '9' }, code: status, message: 'no' }
        : storedSet();
    return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  };
  const webhook: DownscaleWebhook = {
    client: createClient({ transport, userAgent: 'test' }),
    clock: systemClock,
    log: silentLogger,
    pickersIn: () => [
      {
        metadata: { name: 'p' },
        spec: { targetRef: { kind, name: 'web' }, timeoutSeconds: 30, http: { host: 'h', port: 1 } },
      },
    ],
    ask(concern) {
      asked.push({ question: concern.question, seconds: concern.picker.timeoutSeconds });
      return Promise.resolve('reading' in more ? more.reading : chooses('b'));
    },
    unwritten(_owner, count) {
      unwritten += count;
    },
    podsResourceVersion: () => '10',
  };
  return {
    calls,
    asked,
    review: (over: Partial<ReviewRequest> = {}) =>
      reviewDownscale(webhook, request(over), new AbortController().signal),
    unwritten: () => unwritten,
  };
}

const patches = (calls: readonly string[]): string[] => calls.filter((call) => call.startsWith('PATCH'));

test('the chosen pod is marked before the downscale is admitted, within the time the webhook has', async () => {
  const { asked, calls, review } = world({});
  expect(await review()).toEqual({ allowed: true });
  expect(asked).toEqual([{ question: { count: 1, candidates: ['a', 'b', 'c'] }, seconds: 6 }]);
  expect(calls).toEqual([
    'GET /apis/apps/v1/namespaces/default/replicasets/web',
    'GET /api/v1/namespaces/default/pods',
    'PATCH /api/v1/namespaces/default/pods/b',
  ]);
});

test('17.9: a decrease that the stored ReplicaSet does not know of marks nothing, whatever the review claims', async () => {
  const claims = { object: replicaSet(3), oldObject: replicaSet(8) };
  const { asked, calls, review } = world({});
  expect(await review(claims)).toEqual({ allowed: true });
  expect(asked).toEqual([]);
  expect(patches(calls)).toEqual([]);
});

test('17.9: pods that only the review says are owned are not marked', async () => {
  const forged = { ...replicaSet(3), metadata: { ...replicaSet(3).metadata, uid: 'other' } };
  const pods = ['a', 'b', 'c'].map((name) => pod(name, { ownerReferences: [{ ...owner, uid: 'other' }] }));
  const { calls, review } = world({ pods });
  expect(await review({ oldObject: forged })).toEqual({ allowed: true });
  expect(patches(calls)).toEqual([]);
});

test('a Scale names only the ReplicaSet, which is read first', async () => {
  const { calls, review } = world({});
  const object = { metadata: { name: 'web' }, spec: { replicas: 2 } };
  expect(await review({ subResource: 'scale', object, oldObject: { spec: { replicas: 3 } } })).toEqual({
    allowed: true,
  });
  expect(calls[0]).toBe('GET /apis/apps/v1/namespaces/default/replicasets/web');
  expect(patches(calls)).toHaveLength(1);
});

test('the downscale waits until the ReplicaSet controller has counted the pods we know', async () => {
  const { calls, review } = world({ ready: [2, 3] });
  expect(await review()).toEqual({ allowed: true });
  expect(calls.at(-1)).toBe('GET /apis/apps/v1/namespaces/default/replicasets/web');
});

test.each([
  ['a dry run', {}, { dryRun: true }],
  ['growth', {}, { object: replicaSet(4) }],
  ['a downscale to zero', {}, { object: { spec: {} } }],
  ['a picker of another workload', { kind: 'Deployment' }, {}],
  ['a picker without a usable answer', { reading: undefined }, {}],
  ['a picker without an opinion', { reading: { reason: 'NoOpinion', ignoredNames: 0 } }, {}],
  ['pods of another owner', { pods: ['a', 'b', 'c'].map((name) => pod(name, { ownerReferences: [] })) }, {}],
] as const)('%s marks nothing and is admitted', async (_what, given, over) => {
  const { calls, review } = world(given as World);
  expect(await review(over)).toEqual({ allowed: true });
  expect(patches(calls)).toEqual([]);
});

test.each([
  [403, 1],
  [404, 0],
])('marks refused with %i are reported as %i unwritten, and the downscale is admitted', async (patchStatus, count) => {
  const { review, unwritten } = world({ patchStatus });
  expect(await review()).toEqual({ allowed: true });
  expect(unwritten()).toBe(count);
});
