/**
 * Pod pickers with the real Deployment and ReplicaSet controllers. QUORATE_PICKER_RUNS says how many downscales to
 * compare with the picker's choice; the target is 99 of 100.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPodReady } from '../../src/api/core/pod-state.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { DELETION_COST_ANNOTATION, PICK_ANNOTATION } from '../../src/decisions/downscale/index.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { createPodPicker, type ListeningPicker } from '../../src/picker-sdk/index.ts';
import { chosenMinor } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import { defaultInstall, installObjects } from '../../src/webhook/index.ts';
import * as stage from './stage.ts';

const RUNS = Number(process.env['QUORATE_PICKER_RUNS'] ?? 10);
const { until } = stage;

let plane: RealControlPlane;
let nodes: NodesHost;
let client: Client;
let operator: Operator;
let picker: ListeningPicker;
/** What the picker was asked and answered, latest last. */
const asked: { candidates: readonly string[]; chosen: readonly string[]; token: unknown }[] = [];
let seed = 0;

/** Scattered, and another choice every time. */
function choose(candidates: readonly string[], count: number): string[] {
  seed += 1;
  const weight = (name: string): number => {
    let hash = seed * 2_654_435_761;
    for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619);
    return hash >>> 0;
  };
  return [...candidates].sort((a, b) => weight(a) - weight(b)).slice(0, count);
}

beforeAll(async () => {
  plane = await startRealControlPlane({ minor: chosenMinor() });
  client = createNetworkClient(plane, 'quorate-test');
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 3 } });
  await stage.prepareCluster(plane);
  picker = await createPodPicker(({ candidates, count, headers }) => {
    const chosen = choose(candidates, count);
    asked.push({ candidates, chosen, token: headers['authorization'] });
    return { chosen, tied: [] };
  }).listen({ port: 0, host: '127.0.0.1' });
  // With the rights an installation gives it, and no more.
  const access = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']);
  await stage.apply(plane, ...installObjects(defaultInstall).filter(({ kind }) => access.has(kind ?? '')));
  operator = await stage.startReplica(plane, 'first', 'alongside', {
    kubeconfig: await stage.accountKubeconfig(plane, 'quorate'),
    pickers: { pickerAddresses: { allow: ['127.0.0.0/8'] } },
  });
  await stage.registerWebhooks(plane, operator);
});

afterAll(async () => {
  await operator?.stop();
  await picker?.close();
  nodes?.stop();
  await plane?.stop();
});

const workload = (kind: 'Deployment' | 'ReplicaSet', name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }] },
    },
  },
});
const pickerFor = (kind: string, name: string, port: number) => ({
  apiVersion: 'policy.quorate.dev/v1alpha1',
  kind: 'DownscalePodPicker',
  metadata: { name, namespace: 'default' },
  spec: { targetRef: { kind, name }, http: { host: '127.0.0.1', port } },
});

async function podsOf(app: string): Promise<Pod[]> {
  const { items } = await client.list(podType, { namespace: 'default', labelSelector: `app=${app}` });
  return items.filter(({ metadata }) => !metadata.deletionTimestamp);
}
const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name ?? '').sort();

async function readyPods(app: string, count: number): Promise<string[]> {
  await until(`${count} ready pods of ${app}`, async () => {
    const pods = await podsOf(app);
    return pods.length === count && pods.every(isPodReady);
  });
  return names(await podsOf(app));
}

/** The call an autoscaler makes. */
const scale = (plural: string, name: string, replicas: number): Promise<unknown> =>
  client.request(
    'PATCH',
    `/apis/apps/v1/namespaces/default/${plural}/${name}/scale`,
    { spec: { replicas } },
    { 'content-type': 'application/merge-patch+json' },
  );

async function shrink(plural: string, app: string, [from, to]: [number, number]) {
  const before = await readyPods(app, from);
  const calls = asked.length;
  await scale(plural, app, to);
  await until(`${app} to shrink`, async () => (await podsOf(app)).length === to);
  const left = new Set(names(await podsOf(app)));
  return { gone: before.filter((name) => !left.has(name)), calls: asked.slice(calls) };
}

const noPicksLeft = (app: string): Promise<void> =>
  until('the picks to be taken back', async () =>
    (await podsOf(app)).every(({ metadata }) => metadata.annotations?.[PICK_ANNOTATION] === undefined),
  );

test(`an autoscaler shrinks a Deployment ${RUNS} times, and the pods its picker chose go`, {
  timeout: 1_800_000,
}, async () => {
  await stage.apply(plane, workload('Deployment', 'web', 6), pickerFor('Deployment', 'web', picker.port));
  await readyPods('web', 6);
  const missed: object[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const size = 4 + (run % 2);
    await scale('deployments', 'web', size + 3);
    const { calls, gone } = await shrink('deployments', 'web', [size + 3, size]);
    const chosen = [...(calls.at(-1)?.chosen ?? [])].sort();
    if (chosen.join() !== gone.join()) missed.push({ run, chosen, gone, calls: calls.length });
  }
  process.stdout.write(`picker: ${RUNS - missed.length} of ${RUNS} downscales took exactly the pods it chose\n`);
  for (const miss of missed) process.stdout.write(`picker: missed ${JSON.stringify(miss)}\n`);
  expect(missed.length).toBeLessThanOrEqual(Math.floor(RUNS / 100));
  await noPicksLeft('web');
  expect(
    (await podsOf('web')).every(({ metadata }) => metadata.annotations?.[DELETION_COST_ANNOTATION] === undefined),
  ).toBe(true);
});

test('a ReplicaSet scaled by its own scale subresource asks its picker too', async () => {
  await stage.apply(plane, workload('ReplicaSet', 'alone', 5), pickerFor('ReplicaSet', 'alone', picker.port));
  const { calls, gone } = await shrink('replicasets', 'alone', [5, 3]);
  expect(gone).toEqual([...(calls.at(-1)?.chosen ?? ['nobody'])].sort());
});

test('a picker that is down changes nothing but the order, and an event says so', async () => {
  await stage.apply(plane, workload('ReplicaSet', 'orphan', 3), pickerFor('ReplicaSet', 'orphan', 1));
  const { gone } = await shrink('replicasets', 'orphan', [3, 2]);
  expect(gone).toHaveLength(1);
  await until('the event', async () => {
    const text = await stage.kubectl(plane, 'get', 'events', '--field-selector=reason=DownscalePodPickerFailed');
    return /replicaset\/orphan\s+Pod picker gave no usable answer: ConnectionFailed \[F2\] after 4 attempts/.test(text);
  });
  expect((await podsOf('orphan')).every(({ metadata }) => metadata.annotations === undefined)).toBe(true);
});

test('a secret is sent to the picker where the operator may read it; elsewhere the picker is not asked', async () => {
  const name = 'guarded';
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default' },
    stringData: { token: 'x1' },
  };
  const header = { name: 'Authorization', valueFrom: { secretKeyRef: { name, key: 'token' } } };
  const { spec, ...object } = pickerFor('ReplicaSet', name, picker.port);
  const guarded = { ...object, spec: { ...spec, http: { ...spec.http, httpHeaders: [header] } } };
  await stage.apply(plane, secret, workload('ReplicaSet', name, 4), guarded);
  const without = await shrink('replicasets', name, [4, 3]);
  expect(without.calls).toEqual([]);
  await until('the event', async () => {
    const text = await stage.kubectl(plane, 'get', 'events', '--field-selector=reason=DownscalePodPickerFailed');
    return /replicaset\/guarded\s+Pod picker gave no usable answer: SecretUnusable \[F15\]/.test(text);
  });
  const role = ['--verb=get', '--resource=secrets', `--resource-name=${name}`];
  await stage.kubectl(plane, 'create', 'role', name, ...role);
  await stage.kubectl(
    plane,
    'create',
    'rolebinding',
    name,
    `--role=${name}`,
    '--serviceaccount=quorate-system:quorate',
  );
  await stage.accountKubeconfig(plane, 'quorate', [['get', `secret/${name}`]]);
  const { calls, gone } = await shrink('replicasets', name, [3, 2]);
  expect(calls.map(({ chosen, token }) => [token, chosen])).toEqual([['x1', gone]]);
});

test('picks that an earlier replica left behind are taken back, with the cost there was', async () => {
  const [pod] = await podsOf('alone');
  const left = {
    [PICK_ANNOTATION]: '{"cost":"-2147483648","before":"7","generation":1}',
    [DELETION_COST_ANNOTATION]: '-2147483648',
  };
  const key = { namespace: 'default', name: pod?.metadata.name ?? '' };
  await client.patch(podType, key, { type: 'merge', body: { metadata: { annotations: left } } });
  await noPicksLeft('alone');
  expect((await client.get(podType, key)).metadata.annotations?.[DELETION_COST_ANNOTATION]).toBe('7');
});

test('a picker that makes no sense is refused with the paths of its fields', async () => {
  const bad = pickerFor('StatefulSet', 'bad', 70_000);
  await expect(stage.apply(plane, bad)).rejects.toThrow(/spec\.targetRef\.kind[^]*spec\.http\.port/);
  await expect(
    stage.apply(plane, { ...pickerFor('Deployment', 'web', 80), metadata: { name: 'rival', namespace: 'default' } }),
  ).rejects.toThrow(/spec\.targetRef: Invalid value: "Deployment\/web": web picks for it already/);
});
