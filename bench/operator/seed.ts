/**
 * Fills a cluster with pods by multiplying, in etcd, samples that were made through the API: what is stored is what
 * kube-apiserver writes. Names keep their length, so that the encoded objects stay valid.
 */
import { createHash } from 'node:crypto';
import { builtinType } from '../../src/api/registry.ts';
import {
  namespaceType,
  nodeType,
  podDisruptionBudgetType,
  podType,
  serviceAccountType,
} from '../../src/api/resource-types.ts';
import { type Client, isAlreadyExists } from '../../src/machinery/runtime/index.ts';

export const GANG_SIZE = 8;
export const NAMESPACES = 50;
const NODES = 5000;
/** etcd takes at most so many operations at once. */
const BATCH = 120;

export interface Seeded {
  readonly pods: number;
  /** Bytes of a pod as JSON, as the operator receives it. */
  readonly podBytes: number;
}

const READY_SECONDS = Date.UTC(2026, 0, 1) / 1000;

/** A number as protobuf writes it, as latin1 text. */
function varint(value: number): string {
  let text = '';
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) text += String.fromCharCode((rest % 128) + 128);
  return text + String.fromCharCode(rest);
}

const digits = (value: number, width: number): string => String(value).padStart(width, '0');
export const namespaceOf = (at: number): string => `load-${digits(at, 2)}`;
export const podName = (at: number): string => `trainer-${digits(at, 6)}`;
const gangName = (at: number): string => `gang-${digits(at, 5)}`;
const sliceName = (at: number): string => `slice-${digits(at, 2)}`;

/** Whole gangs; what is left over is in the last namespace, in no gang. */
export const podsInNamespace = (pods: number): number =>
  Math.floor(pods / NAMESPACES / (2 * GANG_SIZE)) * 2 * GANG_SIZE;
/** Most gangs of a namespace are under one budget, from which pods are evicted. */
export const trainingGangs = (pods: number): number => Math.floor((2 * gangsInNamespace(pods)) / 3);
const gangsInNamespace = (pods: number): number => podsInNamespace(pods) / 2 / GANG_SIZE;
const MOST_BUDGETS = 20;
/** The rest of the gangs are shared by the other budgets: a thousand budgets in all where there are gangs enough. */
export const budgetsInNamespace = (pods: number): number =>
  Math.min(MOST_BUDGETS, 1 + gangsInNamespace(pods) - trainingGangs(pods));

/** By which budget of its namespace a gang is counted. */
function sliceOf(gang: number, pods: number): number {
  const rest = gang - trainingGangs(pods);
  return rest < 0 ? 0 : 1 + (rest % (budgetsInNamespace(pods) - 1));
}

const budgetOf = (slice: number, namespace: string) => ({
  metadata: { name: slice === 0 ? 'training' : `training-${digits(slice, 2)}`, namespace },
  spec: {
    ...(slice === 0 ? { minAvailable: 1 } : { maxUnavailable: 1 }),
    selector: { matchLabels: { app: 'training', slice: sliceName(slice) } },
  },
});

const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io', 'v1alpha2');

/** Every namespace has budgets over gangs; half of the pods are in gangs of eight, half have a ReplicaSet above them. */
export async function seedPods(client: Client, etcd: string, pods: number): Promise<Seeded> {
  for (let at = 0; at < NAMESPACES; at += 1) {
    await client.create(namespaceType, { metadata: { name: namespaceOf(at) } });
    for (let slice = 0; slice < budgetsInNamespace(pods); slice += 1) {
      await client.create(podDisruptionBudgetType, budgetOf(slice, namespaceOf(at)));
    }
  }
  const namespace = namespaceOf(0);
  await client.create(serviceAccountType, { metadata: { name: 'default', namespace } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  await client.create(nodeType, { metadata: { name: 'node-0000' } });
  await client.create(podGroupType, {
    metadata: { name: gangName(0), namespace },
    spec: { schedulingPolicy: { gang: { minCount: GANG_SIZE } } },
  } as never);
  const gang = await createSample(client, namespace, true);
  const plain = await createSample(client, namespace, false);
  const { put, read } = createStore(etcd);
  const samples = {
    node: await read('/registry/minions/node-0000'),
    podGroup: await read(`/registry/podgroups/${namespace}/${gangName(0)}`),
    gang: await read(`/registry/pods/${namespace}/${gang.metadata.name}`),
    plain: await read(`/registry/pods/${namespace}/${plain.metadata.name}`),
  };
  for (let at = 1; at < NODES; at += 1) {
    await put(
      `/registry/minions/node-${digits(at, 4)}`,
      exchange(samples.node, { 'node-0000': `node-${digits(at, 4)}` }),
    );
  }
  const perNamespace = podsInNamespace(pods);
  for (let at = 0; at < pods; at += 1) {
    const place = Math.min(Math.floor(at / perNamespace), NAMESPACES - 1);
    const home = namespaceOf(place);
    const inNamespace = at - place * perNamespace;
    const isGang = inNamespace < perNamespace / 2;
    const group = gangName(Math.floor(at / GANG_SIZE));
    if (isGang && at % GANG_SIZE === 0 && group !== gangName(0)) {
      const changes = { [gangName(0)]: group, [namespace]: home };
      await put(`/registry/podgroups/${home}/${group}`, withUid(exchange(samples.podGroup, changes), group));
    }
    const own = isGang ? gang : plain;
    const changes = {
      [own.metadata.name ?? '']: podName(at),
      [namespace]: home,
      [gangName(0)]: group,
      ...(isGang && { [sliceName(0)]: sliceName(sliceOf(Math.floor(inNamespace / GANG_SIZE), pods)) }),
      'node-0000': `node-${digits(at % NODES, 4)}`,
      [own.metadata.uid ?? '']: uidOf(`pod-${at}`),
      // Moments differ from pod to pod, as they do in life.
      [varint(READY_SECONDS)]: varint(READY_SECONDS + at),
      [varint(Date.parse(own.metadata.creationTimestamp ?? '') / 1000)]: varint(READY_SECONDS + 7 * at),
      'web-rs-0000': `web-rs-${digits(Math.floor(at / 20) % 10_000, 4)}`,
    };
    await put(`/registry/pods/${home}/${podName(at)}`, exchange(isGang ? samples.gang : samples.plain, changes));
  }
  await put();
  for (const { metadata } of [gang, plain]) {
    await client.delete(podType, { namespace, name: metadata.name ?? '' }, { gracePeriodSeconds: 0 });
  }
  return { pods, podBytes: Buffer.byteLength(JSON.stringify(gang)) };
}

async function createSample(client: Client, namespace: string, isGang: boolean) {
  const env = Array.from({ length: 8 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `the value of variable ${at}` }));
  const name = isGang ? 'trainer-aaaaaa' : 'trainer-bbbbbb';
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web-rs-0000',
    uid: uidOf('web-rs'),
    controller: true,
  };
  const created = await client.create(podType, {
    metadata: {
      name,
      namespace,
      labels: {
        app: isGang ? 'training' : 'web',
        ...(isGang && { slice: sliceName(0) }),
        'pod-template-hash': '5d8f9c7b6',
        team: 'platform',
      },
      annotations: { 'example.com/config-checksum': uidOf('checksum') },
      ...(isGang ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      nodeName: 'node-0000',
      automountServiceAccountToken: false,
      ...(isGang ? { schedulingGroup: { podGroupName: gangName(0) } } : {}),
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/team/trainer:1.2.3',
          env,
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        },
      ],
    },
  } as never);
  const at = new Date(READY_SECONDS * 1000).toISOString().replace('.000', '');
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: at,
  }));
  const image = 'registry.example.com/team/trainer:1.2.3';
  const status = {
    phase: 'Running',
    podIP: '10.1.2.3',
    hostIP: '10.0.0.1',
    startTime: at,
    conditions,
    containerStatuses: [
      {
        name: 'main',
        ready: true,
        restartCount: 0,
        image,
        imageID: `registry.example.com/team/trainer@sha256:${createHash('sha256').update(image).digest('hex')}`,
        containerID: `containerd://${createHash('sha256').update('container').digest('hex')}`,
        state: { running: { startedAt: at } },
      },
    ],
  };
  return client.updateStatus(podType, { ...created, status } as never);
}

function uidOf(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const withUid = (value: string, seed: string): string => value.replace(UID, uidOf(seed));

/** Bytes as latin1 text, so that they can be searched. A sample's own name is as long as those of its copies. */
function exchange(value: string, changes: Readonly<Record<string, string>>): string {
  let text = value;
  for (const [from, to] of Object.entries(changes)) {
    if (from.length !== to.length) throw new Error(`Cannot exchange "${from}" for "${to}": their lengths differ`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** etcd over its JSON gateway. Writes gather; a call without arguments sends the rest. */
function createStore(etcd: string) {
  const call = async (path: string, body: object): Promise<{ kvs?: { value: string }[] }> => {
    const response = await fetch(`${etcd}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { kvs?: { value: string }[] };
  };
  const encode = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
  let waiting: object[] = [];
  return {
    read: async (key: string): Promise<string> => {
      const { kvs } = await call('range', { key: encode(key) });
      if (kvs?.[0] === undefined) throw new Error(`etcd has no ${key}`);
      return Buffer.from(kvs[0].value, 'base64').toString('latin1');
    },
    put: async (key?: string, value = ''): Promise<void> => {
      if (key !== undefined) waiting.push({ requestPut: { key: encode(key), value: encode(value) } });
      if (waiting.length === 0 || (key !== undefined && waiting.length < BATCH)) return;
      const success = waiting;
      waiting = [];
      await call('txn', { success });
    },
  };
}
