import { afterEach, expect, test } from 'vitest';
import { evictionRequestType, evictionType } from '../../../api/lifecycle/index.ts';
import { podType } from '../../../api/resource-types.ts';
import { ApiError, type Client, FeatureGates, isInvalid, isNotFound } from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import { type ControlPlane, pod, startControlPlane } from '../../../testkit/index.ts';

const UID = '5477c2ff-f59f-4eb9-a0be-e54232323faa';
const namespace = 'default';
const target = { pod: { name: 'web', uid: UID } };
const request = (name: string) => ({
  metadata: { name, namespace },
  spec: { target, requester: 'example.com/drain', intent: 'Eviction' },
});
const condition = (type: string, reason: string) => ({
  type,
  status: 'True',
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

let plane: ControlPlane | undefined;
const start = async (gates = new FeatureGates()) => {
  plane = await startControlPlane({ gates });
  return plane;
};
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

interface Table {
  columnDefinitions: { name: string }[];
  rows: { cells: unknown[] }[];
}

async function cells(client: Client, plural: string): Promise<{ names: string[]; rows: unknown[][] }> {
  const path = `/apis/lifecycle.k8s.io/v1alpha1/namespaces/${namespace}/${plural}`;
  const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const table = await client.request<Table>('GET', path, undefined, accept);
  return { names: table.columnDefinitions.map(({ name }) => name), rows: table.rows.map((row) => row.cells) };
}

test('ER-01: a request is created without the status it came with, in generation 1, and counts its changes', async () => {
  const { client } = await start();
  const status = { observedGeneration: 7 };
  const made = await client.create(evictionRequestType, { ...request('a'), status });
  expect(made.metadata.generation).toBe(1);
  expect(made.status).toBeUndefined();
  const body = { spec: { intent: 'Withdrawn' }, status };
  const changed = await client.patch(evictionRequestType, { namespace, name: 'a' }, { type: 'merge', body });
  expect(changed.metadata.generation).toBe(2);
  expect(changed.status).toBeUndefined();
});

test('ER-02: what is wrong is told with its path', async () => {
  const { client } = await start();
  const bad = { ...request('a'), spec: { ...request('a').spec, requester: 'x.kubernetes.io/a', intent: 'x' } };
  const refused = client.create(evictionRequestType, bad);
  await expect(refused).rejects.toSatisfy(isInvalid);
  await expect(refused).rejects.toThrow(/spec\.requester: .*reserved.*spec\.intent: .*"Eviction", "Withdrawn"/);
});

test('ER-03: the status subresource changes neither spec nor labels', async () => {
  const { client } = await start();
  const made = await client.create(evictionRequestType, request('a'));
  const written = await client.updateStatus(evictionRequestType, {
    ...made,
    metadata: { ...made.metadata, labels: { a: 'b' } },
    spec: { ...request('a').spec, intent: 'Withdrawn' },
    status: { observedGeneration: 1, conditions: [condition('Failed', 'EvictionInvalid')] },
  });
  expect(written).toMatchObject({ spec: { intent: 'Eviction' }, status: { observedGeneration: 1 } });
  expect(written.metadata.labels).toBeUndefined();
  expect(written.metadata.generation).toBe(1);
});

test('ER-03: a PUT carries the version it was made from, and creates nothing', async () => {
  const { client } = await start();
  const made = await client.create(evictionRequestType, request('a'));
  const { resourceVersion: _, ...metadata } = made.metadata;
  await expect(client.update(evictionRequestType, { ...made, metadata })).rejects.toMatchObject({ code: 422 });
  const other = { ...made, metadata: { ...made.metadata, name: 'b' } };
  await expect(client.update(evictionRequestType, other)).rejects.toBeInstanceOf(ApiError);
});

test('ER-05: times in an Eviction are held against the clock of the server', async () => {
  const { client, clock } = await start();
  const made = await client.create(evictionType, { metadata: { name: 'pod-1-web', namespace }, spec: { target } });
  const status = (startTime: number) => ({
    observedGeneration: 1,
    targetResponders: [{ name: 'example.com/x', priority: 10_000, state: 'Active' }],
    responders: [{ name: 'example.com/x', startTime: formatTime(startTime) }],
  });
  const stale = client.updateStatus(evictionType, { ...made, status: status(clock.now() - 31_000) });
  await expect(stale).rejects.toThrow(/status\.responders\[0\]\.startTime: .*must be set to the present time/);
  await client.updateStatus(evictionType, { ...made, status: status(clock.now()) });
});

test('ER-08: responders of pods are checked when the pod is created, and stay', async () => {
  const { client } = await start();
  const evictionResponders = [{ name: 'example.com/x', priority: 500 }];
  await expect(client.create(podType, pod({ name: 'a', spec: { evictionResponders } }))).rejects.toThrow(
    /spec\.evictionResponders\[0\]\.priority/,
  );
  const good = [{ name: 'example.com/x', priority: 10_000 }];
  const grouped = { evictionResponders: good, schedulingGroup: { podGroupName: 'g' } };
  await expect(client.create(podType, pod({ name: 'b', spec: grouped }))).rejects.toThrow(
    /spec\.schedulingGroup: Forbidden/,
  );
  await client.create(podType, pod({ name: 'c', spec: { evictionResponders: good } }));
  const body = { spec: { evictionResponders: [{ name: 'example.com/x', priority: 9000 }] } };
  const change = client.patch(podType, { namespace, name: 'c' }, { type: 'merge', body });
  await expect(change).rejects.toSatisfy(isInvalid);
});

test('with the gate off there are no kinds, and new pods have no responders', async () => {
  const { client } = await start(new FeatureGates({ EvictionRequestAPI: false }));
  await expect(client.create(evictionRequestType, request('a'))).rejects.toSatisfy(isNotFound);
  const evictionResponders = [{ name: 'example.com/x', priority: 10_000 }];
  const made = await client.create(podType, pod({ name: 'a', spec: { evictionResponders } }));
  expect(made.spec?.evictionResponders).toBeUndefined();
});

test('kubectl get evictionrequests has the columns of Kubernetes', async () => {
  const { client } = await start();
  const made = await client.create(evictionRequestType, request('a'));
  expect((await cells(client, 'evictionrequests')).rows[0]?.slice(0, 4)).toEqual(['a', 'web', 'Pod', 'Pending']);
  await client.updateStatus(evictionRequestType, {
    ...made,
    status: { observedGeneration: 1, conditions: [condition('Failed', 'EvictionInvalid')] },
  });
  const { names, rows } = await cells(client, 'evictionrequests');
  expect(names).toEqual(['Name', 'Target', 'Target Type', 'Status', 'Requester', 'Intent', 'Age']);
  expect(rows[0]?.slice(0, 6)).toEqual([
    'a',
    'web',
    'Pod',
    'Failed (EvictionInvalid)',
    'example.com/drain',
    'Eviction',
  ]);
});

test('kubectl get evictions -o wide has the columns of Kubernetes', async () => {
  const { client, clock } = await start();
  const made = await client.create(evictionType, { metadata: { name: 'pod-1-web', namespace }, spec: { target } });
  const now = clock.now();
  await client.updateStatus(evictionType, {
    ...made,
    status: {
      observedGeneration: 1,
      requesters: [
        { name: 'example.com/b', intent: 'Eviction' },
        { name: 'example.com/a', intent: 'Eviction' },
        { name: 'example.com/0', intent: 'Withdrawn' },
      ],
      targetResponders: [
        { name: 'example.com/x', priority: 10_000, state: 'Active' },
        { name: 'example.com/y', priority: 5000, state: 'Inactive' },
      ],
      responders: [
        {
          name: 'example.com/x',
          startTime: formatTime(now),
          heartbeatTime: formatTime(now),
          expectedCompletionTime: formatTime(now + 600_000),
          message: 'saving ',
        },
        { name: 'example.com/y' },
      ],
    },
  });
  const { names, rows } = await cells(client, 'evictions');
  expect(names).toEqual([
    'Name',
    'Target',
    'Target Type',
    'Status',
    'Active Responder',
    'Responder Status',
    'Responder Expected Finish',
    'Requesters',
    'Age',
    'Responder Heartbeat',
    'Responder Status Message',
  ]);
  expect(rows[0]).toEqual([
    'pod-1-web',
    'web',
    'Pod',
    'Progressing',
    'example.com/x (1/2)',
    'Started (0s ago)',
    'in 10m',
    'example.com/a + 1 more...',
    '0s',
    '0s ago',
    'saving',
  ]);
});
