/** volcano#5805 with the real kube-scheduler: a gang is evicted, and pods that fill gaps want the room it counts on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as groups from '../scenarios/stories/groups.ts';
import * as stage from './stage.ts';

const MEMBERS = 4;

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
let client: Client;

beforeAll(async () => {
  plane = await stage.startPlane();
  const shape = { capacity: { cpu: String(MEMBERS) } };
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2, shape } });
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'only', 'adopt');
  await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
  client = createNetworkClient(plane, 'quorate-test');
});
afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);

async function podsOf(app: string): Promise<Pod[]> {
  return (await client.list(podType, { namespace: 'default', labelSelector: `app=${app}` })).items;
}

const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;

const nodesOf = async (app: string): Promise<(string | undefined)[]> =>
  (await podsOf(app)).map(({ spec }) => spec?.nodeName);

function replicaSet(app: string, more: object = {}): object {
  const containers = [{ name: 'c', image: 'registry.k8s.io/pause:3.9', resources: { requests: { cpu: '1' } } }];
  const spec = { terminationGracePeriodSeconds: 1, containers, ...more };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: app, namespace: 'default' },
    spec: {
      replicas: MEMBERS,
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec },
    },
  };
}

/** A gang on node-0, which is cordoned, with room for all of it on node-1, and the budget that asks for that room. */
async function gangThatMoves(name: string, annotations: Record<string, string>): Promise<string[]> {
  await kubectl('uncordon', 'node-0');
  await kubectl('cordon', 'node-1');
  await stage.apply(
    plane,
    groups.workload(stage.groupVersion, name, MEMBERS),
    groups.podGroup(stage.groupVersion, name, name, MEMBERS),
    replicaSet(name, { schedulingGroup: { podGroupName: name } }),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: {
        name,
        namespace: 'default',
        annotations: { 'policy.quorate.dev/capacity': 'Require', ...annotations },
      },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } } },
    },
  );
  await stage.until('the gang to serve', async () => (await podsOf(name)).filter(isReady).length === MEMBERS, 120_000);
  await kubectl('uncordon', 'node-1');
  await kubectl('cordon', 'node-0');
  return (await podsOf(name)).map(({ metadata }) => metadata.name ?? '');
}

async function evictOnce(name: string): Promise<string[]> {
  const refusals = new Set<string>();
  await stage.until(`${name} to be let go`, async () => {
    const answer = await stage.evict(plane, name);
    if (answer !== 'granted') refusals.add(answer);
    return answer === 'granted';
  });
  return [...refusals];
}

const clear = async (...apps: string[]): Promise<void> => {
  for (const app of apps) await kubectl('delete', 'replicaset', app, '--wait=false');
  await stage.until(
    'the pods to be gone',
    async () => (await Promise.all(apps.map(podsOf))).flat().length === 0,
    60_000,
  );
};

test('PL-13 CP-12 volcano#5805: with room held a filler of the same priority waits, and the gang is back', async () => {
  const [first = '', ...others] = await gangThatMoves('held', { 'policy.quorate.dev/capacity-reserve': '10m' });
  const refusals = await evictOnce(first);
  expect(refusals.join()).toContain('Reserving');
  await stage.apply(plane, replicaSet('filler'));
  await stage.until('the filler to be looked at', async () =>
    (await podsOf('filler')).every(({ status }) => status?.conditions?.some(({ type }) => type === 'PodScheduled')),
  );
  for (const name of others) await evictOnce(name);
  const taken = new Set<string>();
  await stage.until(
    'the gang to be back',
    async () => {
      for (const node of await nodesOf('filler')) if (node !== undefined) taken.add(node);
      const back = (await podsOf('held')).filter(isReady);
      return back.length === MEMBERS && back.every(({ spec }) => spec?.nodeName === 'node-1');
    },
    120_000,
  );
  expect([...taken]).toEqual([]);
  await stage.until('the placeholders to be gone', async () => {
    const { items } = await client.list(podType, { labelSelector: 'policy.quorate.dev/hold=true' });
    return items.length === 0;
  });
  await clear('held', 'filler');
}, 300_000);

test('PL-13 volcano#5805: without it the filler takes the room, and the gang stays down', async () => {
  const [first = '', ...others] = await gangThatMoves('lost', {});
  await evictOnce(first);
  await stage.apply(plane, replicaSet('filler'));
  await stage.until('the filler to take room', async () => (await nodesOf('filler')).includes('node-1'), 60_000);
  for (const name of others) await evictOnce(name);
  const isLost = async (): Promise<boolean> => {
    const pods = (await podsOf('lost')).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return pods.length === MEMBERS && pods.some(({ spec }) => spec?.nodeName === undefined);
  };
  await stage.until('all members to be made again, and some to have no place', isLost, 60_000);
  // Nothing but the filler keeps it down: without that it is back.
  await kubectl('delete', 'replicaset', 'filler');
  await stage.until(
    'the gang to be back',
    async () => (await podsOf('lost')).filter(isReady).length === MEMBERS,
    120_000,
  );
  await clear('lost');
}, 300_000);
