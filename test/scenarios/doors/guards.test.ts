/** PodUnavailableBudgets through every door that takes pods away. */
import { afterEach, expect, it } from 'vitest';
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { namespaceType, nodeType, podType } from '../../../src/api/resource-types.ts';
import { drainNodes, executePlan, explainTarget, planClusterDrain } from '../../../src/tasks/index.ts';
import { formatResult } from '../../../src/cli/drain/run.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { unavailabilityGates } from '../../../src/decisions/unavailability/index.ts';
import { type ControllerContext, defineController, FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { PreemptionBudgets } from '../../../src/scheduler/budgets.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';

const namespace = 'default';
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'llm', uid: 'u', controller: true };
const RULES = { force: false, ignoreDaemonSets: true, deleteEmptyDirData: true, skipWaitForDeleteTimeoutSeconds: 0 };
let plane: ControlPlane;
afterEach(() => plane.stop());

interface Start {
  readonly bare?: boolean;
  readonly maxUnavailable?: number;
  readonly namespace?: string;
  readonly follow?: (context: ControllerContext) => PreemptionBudgets;
}

async function start({ bare = false, follow, maxUnavailable = 0, namespace = 'default' }: Start = {}): Promise<void> {
  const scheduler = defineController({ name: 'budgets', deps: (context) => follow?.(context).follow() });
  plane = await startControlPlane({ controllers: [createPodUnavailableBudgetController(), scheduler] });
  const { client } = plane;
  if (namespace !== 'default') await client.create(namespaceType, { metadata: { name: namespace } });
  await client.create(nodeType, { metadata: { name: 'node-1' } });
  const status = { allocatable: { pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] };
  const other = await client.create(nodeType, { metadata: { name: 'node-2' } });
  await client.updateStatus(nodeType, { ...other, status });
  await client.patch(nodeType, { name: 'node-2' }, { type: 'merge', body: { spec: { taints: null } } });
  for (let at = 0; at < 5; at += 1) {
    const made = await client.create(podType, {
      metadata: { name: `llm-${at}`, namespace, labels: { app: 'llm' }, ...(!bare && { ownerReferences: [owner] }) },
      spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.updateStatus(podType, { ...made, status });
  }
  await client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'llm', namespace },
    spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable, protectTotalReplicas: 5 },
  });
  await plane.settle();
}

const report = { step: () => {}, progress: () => {} };
const drain = (dryRun: boolean) =>
  drainNodes(
    { client: plane.client, clock: plane.clock, report },
    { nodes: ['node-1'], rules: RULES, allOrNothing: true, dryRun, timeoutMs: 0 },
  );
const remaining = async (): Promise<number> => (await plane.client.list(podType, { namespace })).items.length;
const now = (): number => plane.clock.now();

it('18.7: drain asks PodUnavailableBudgets, says which refuses and touches nothing', async () => {
  await start();
  for (const dryRun of [true, false]) {
    const result = await drain(dryRun);
    expect(result.outcome).toBe('Refused');
    expect(result.pods.every(({ state }) => state === 'Waiting')).toBe(true);
    expect(formatResult(result, now()).join('\n')).toContain('PodUnavailableBudget llm does not let it go');
  }
  expect(await remaining()).toBe(5);
  const why = await explainTarget(plane.client, { target: 'pod/llm-0', namespace, now: now() });
  expect(why.granted).toBe(false);
  const request = { nodes: ['node-1'], all: false, nodesReturn: false, now: now() };
  expect((await planClusterDrain(plane.client, request)).plan.blocked).not.toEqual([]);
});

it('18.7: in a namespace that is being deleted no PodUnavailableBudget holds anything back, through every door', async () => {
  let budgets: PreemptionBudgets | undefined;
  await start({
    namespace: 'doomed',
    follow: (context) => (budgets = new PreemptionBudgets(context, unavailabilityGates(new FeatureGates()))),
  });
  const { client } = plane;
  const preempts = (): boolean | undefined => budgets?.open()([{ namespace: 'doomed', name: 'llm-0' }] as never);
  expect(preempts()).toBe(true);
  await client.delete(namespaceType, { name: 'doomed' });
  await plane.settle();
  const why = await explainTarget(client, { target: 'pod/llm-0', namespace: 'doomed', now: now() });
  expect(why.value).toMatchObject({ allowed: true, unavailability: [{ reason: 'NamespaceGoing' }] });
  expect(why.lines.join()).toContain('its namespace is being deleted');
  expect((await drain(true)).outcome).toBe('WouldDrain');
  const request = { nodes: ['node-1'], all: false, nodesReturn: false, now: now() };
  expect((await planClusterDrain(client, request)).plan.blocked).toEqual([]);
  expect(preempts()).toBe(false);
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'llm-0', namespace: 'doomed' } };
  await client.createSubresource(podType, { namespace: 'doomed', name: 'llm-0' }, 'eviction', body);
});

it('18.7: a budget with room for two of five pods lets two go, whoever asks about how many', async () => {
  await start({ maxUnavailable: 2 });
  const { outcome, pods } = await drain(true);
  expect(outcome).toBe('Refused');
  expect(pods.filter(({ state }) => state === 'Planned')).toHaveLength(2);
  const node = await explainTarget(plane.client, { target: 'node/node-1', namespace, now: now() });
  expect(node.granted).toBe(false);
  expect(node.lines.filter((line) => line.startsWith('  may go'))).toHaveLength(2);
  const one = await explainTarget(plane.client, { target: 'pod/llm-4', namespace, now: now() });
  expect(one.granted).toBe(true);
});

it('18.9: a look at a plan says what its run would', async () => {
  await start({ bare: true, maxUnavailable: 5 });
  const { client, clock } = plane;
  const planned = await planClusterDrain(client, { nodes: ['node-1'], all: false, nodesReturn: false, now: now() });
  const options = { timeoutMs: 0, stepsDone: 0, save: () => {}, isPaused: () => false };
  const look = async (force: boolean, dryRun = true) =>
    executePlan({ client, clock, report }, planned, { ...options, dryRun, rules: { ...RULES, force } });
  const refused = await look(false);
  expect(refused.outcome).toBe('NotEvictable');
  expect(refused).toEqual(await look(false, false));
  expect((await look(true)).outcome).toBe('WouldRun');
  await client.delete(podType, { namespace, name: 'llm-0' }, { gracePeriodSeconds: 0 });
  await client.create(podType, {
    metadata: { name: 'late', namespace, labels: { app: 'other' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  });
  expect((await look(true)).outcome).toBe('MovedOn');
  expect(await remaining()).toBe(5);
});
