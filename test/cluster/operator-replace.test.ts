/** Replace mode: Kubernetes' own disruption controller is switched off and ours counts every budget. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { IGNORE_LABEL } from '../../src/webhook/index.ts';
import { budget, gangs, pod } from './gangs.ts';
import { expectGangToStay } from './preemption.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
const { until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
const evict = (name: string): Promise<string> => stage.evict(plane, name);

beforeAll(async () => {
  plane = await stage.startPlane({ flags: { 'kube-controller-manager': ['--controllers=*,-disruption-controller'] } });
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'only', 'replace');
  await stage.registerWebhooks(plane, operator);
});

afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

test('maxUnavailable counts groups exactly: one of two gangs may go, whole, and not the other', async () => {
  const gangs = ['g0', 'g1'].map((name) => groups.podGroup(stage.groupVersion, name, 'gangs', 2));
  const workload = groups.workload(stage.groupVersion, 'gangs', 2);
  const members = ['g0', 'g1'].flatMap((group) =>
    [0, 1].map((index) => pod(`${group}-${index}`, 'gangs', { schedulingGroup: { podGroupName: group } })),
  );
  await apply(workload, ...gangs, ...members, budget('gangs', { maxUnavailable: 1 }));
  const numbers = 'jsonpath={.status.expectedPods}/{.status.currentHealthy}/{.status.disruptionsAllowed}';
  await until('the ledger', async () => (await kubectl('get', 'disruptionledger', 'gangs', '-o', numbers)) === '2/2/1');
  const published =
    'jsonpath={.status.expectedPods}/{.status.currentHealthy}/{.status.desiredHealthy}/{.status.disruptionsAllowed}';
  const shows = (wanted: string): Promise<void> =>
    until(
      `the budget to show ${wanted}`,
      async () => (await kubectl('get', 'pdb', 'gangs', '-o', published)) === wanted,
    );
  await shows('4/4/2/2');
  expect(await evict('g0-0')).toBe('granted');
  expect(await evict('g0-1')).toBe('granted');
  expect(await evict('g1-0')).toContain('disruption budget');
  // Nothing may go, and whoever only reads sees it: preemption, autoscalers, alerts.
  await shows('2/2/2/0');
});

test('a budget over plain pods is counted as Kubernetes would', async () => {
  await apply(pod('p0', 'plain'), pod('p1', 'plain'), budget('plain', { minAvailable: 1 }));
  const numbers =
    'jsonpath={.status.expectedPods}/{.status.currentHealthy}/{.status.desiredHealthy}/{.status.disruptionsAllowed}';
  await until('the status', async () => (await kubectl('get', 'pdb', 'plain', '-o', numbers)) === '2/2/1/1');
  expect(await evict('p0')).toBe('granted');
  expect(await evict('p1')).toContain('disruption budget');
});

test('PB-26: where nothing of a group may go, kube-scheduler preempts a pod that no budget protects', async () => {
  await expectGangToStay(plane);
});

/** Shorter than the time after which every budget is looked at anyway. */
const FIRST_ROUND_MS = 40_000;

test('where evictions are not asked about, the first round of a new leader puts its numbers in', async () => {
  const namespace = 'apart';
  await apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { [IGNORE_LABEL]: 'true' } },
  });
  await until('its account', async () => (await kubectl('get', 'sa', 'default', '-n', namespace)) !== '');
  await operator.stop();
  const objects = [...gangs('apart', 2, 2), budget('apart', { maxUnavailable: 1 })] as { metadata: object }[];
  await apply(...objects.map((one) => ({ ...one, metadata: { ...one.metadata, namespace } })));
  // As Kubernetes' own controller leaves it, where it finds no controller of the pods.
  const left = { observedGeneration: 1, expectedPods: 0, currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0 };
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status: left })];
  await kubectl('patch', 'pdb', 'apart', '-n', namespace, ...patch);
  operator = await stage.startReplica(plane, 'next', 'replace');
  const numbers =
    'jsonpath={.status.expectedPods}/{.status.currentHealthy}/{.status.desiredHealthy}/{.status.disruptionsAllowed}';
  await until(
    'the numbers',
    async () => (await kubectl('get', 'pdb', 'apart', '-n', namespace, '-o', numbers)) === '4/4/2/2',
    FIRST_ROUND_MS,
  );
});
