import { afterEach, expect, test } from 'vitest';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudgetSpec } from '../../../src/api/kruise/types.ts';
import { eventType, jobType, podType } from '../../../src/api/resource-types.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { explainTarget } from '../../../src/tasks/index.ts';
import { type ApiError, FeatureGates, Metrics } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../../src/testkit/index.ts';
import { codeOf, evict as askEviction } from '../../shared/answers.ts';

const namespace = 'default';
let plane: ControlPlane | undefined;
afterEach(() => plane?.stop());

async function start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const compat = options.compat === 'kruise';
  plane = await startControlPlane({ controllers: [createPodUnavailableBudgetController({ compat })], ...options });
  return plane;
}

async function addPod(
  on: ControlPlane,
  name: string,
  shard?: string,
  owner?: { uid: string; name: string },
): Promise<void> {
  const made = await on.client.create(podType, {
    metadata: {
      name,
      namespace,
      labels: { app: 'llm', ...(shard !== undefined && { shard }) },
      ...(owner && {
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', controller: true, name: owner.name, uid: owner.uid }],
      }),
    },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'app:1' }] },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await on.client.updateStatus(podType, { ...made, status });
}

async function addBudget(on: ControlPlane, spec: PodUnavailableBudgetSpec): Promise<void> {
  await on.client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'pub', namespace },
    spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: 0, ...spec },
  });
  await on.settle();
}

const evict = (on: ControlPlane, name: string, dryRun = false): Promise<number> =>
  codeOf(askEviction(on.client, namespace, name, { ...(dryRun && { deleteOptions: { dryRun: ['All'] } }) }), 201);
const budgetStatus = async (on: ControlPlane) =>
  (await on.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' })).status ?? {};

test('W2 a refusal is counted and told in an event on the pod; a dry run is not', async () => {
  const metrics = new Metrics();
  const on = await start({ metrics });
  for (const name of ['a', 'b']) await addPod(on, name, 'x');
  await addBudget(on, { podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 2 } });
  expect(await evict(on, 'a', true)).toBe(429);
  await on.settle();
  expect((await on.client.list(eventType, { namespace })).items.map(({ reason }) => reason)).not.toContain(
    'PubPreventPodDeletion',
  );
  expect(await evict(on, 'a')).toBe(429);
  await on.settle();
  const { items } = await on.client.list(eventType, { namespace });
  expect(items.find(({ reason }) => reason === 'PubPreventPodDeletion')).toMatchObject({
    type: 'Warning',
    involvedObject: { kind: 'Pod', name: 'a' },
    message: 'openkruise pub prevents pod deletion',
  });
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/^pod_unavailable_budget\{kind_namespace_name="unknown_default_a",username="[^"]+"\} 1$/m);
  expect(text).toContain(
    'pod_unavailable_budget_group_denials_total{namespace="default",name="pub",operation="EVICT",constraint="maxUnavailable"} 1',
  );
  for (const state of ['expected', 'available']) {
    expect(text).toContain(`pod_unavailable_budget_groups{namespace="default",name="pub",state="${state}"} 1`);
  }
  expect(text).toContain('pod_unavailable_budget_groups{namespace="default",name="pub",state="unavailable"} 0');
  expect(text).toContain('pod_unavailable_budget_ungrouped_pods{namespace="default",name="pub"} 0');

  await on.client.delete(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' });
  await on.settle();
  const after = await metrics.registry.metrics();
  expect(after).not.toContain('name="pub"');
});

for (const [compat, want] of [
  [undefined, { totalReplicas: 6, desiredAvailable: 5 }],
  ['kruise', { totalReplicas: -2, desiredAvailable: 0 }],
] as const) {
  test(`C14 pods of two Jobs without a scale${compat ? ', in compatibility mode' : ''}`, async () => {
    const on = await start(compat ? { compat } : {});
    for (const name of ['one', 'two']) {
      const job = await on.client.create(jobType, {
        metadata: { name, namespace },
        spec: {
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'app:1' }] } },
        },
      });
      for (const at of [0, 1, 2]) await addPod(on, `${name}-${at}`, undefined, { name, uid: job.metadata.uid ?? '' });
    }
    await addBudget(on, { maxUnavailable: 1 });
    const status = await budgetStatus(on);
    expect(status).toMatchObject(want);
    const unknown = status.conditions?.find(({ type }) => type === 'ExpectedCountUnknown')?.status;
    expect(unknown).toBe(compat ? undefined : 'True');
  });
}

test('V17 with both gates off no budget is accepted; PodWebhook switches both off', async () => {
  const on = await start({ gates: new FeatureGates({ PodWebhook: false }) });
  await expect(addBudget(on, {})).rejects.toThrow(/please open via feature-gate\(PodUnavailableBudgetDeleteGate/);
});

test('without its gate a budget over groups is refused', async () => {
  const on = await start({ gates: new FeatureGates({ PodUnavailableBudgetGroupPolicy: false }) });
  await expect(addBudget(on, { podGroupPolicy: { groupLabelKey: 'a/b' } })).rejects.toThrow(
    /feature-gate\(PodUnavailableBudgetGroupPolicy\)/,
  );
  await addBudget(on, {});
});

test('why tells of a pod and of a budget what a refused eviction is told', async () => {
  const on = await start();
  for (const [name, shard] of [
    ['a0', 'a'],
    ['a1', 'a'],
    ['b0', 'b'],
    ['b1', 'b'],
  ] as const)
    await addPod(on, name, shard);
  await addBudget(on, {
    maxUnavailable: 1,
    protectTotalReplicas: 2,
    podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 2 },
  });
  const ask = (target: string) => explainTarget(on.client, { target, namespace, now: on.clock.now() });
  expect(await ask('pod/a0')).toMatchObject({ granted: true });
  expect((await ask('a0')).lines.join('\n')).toContain(
    'PodUnavailableBudget pub lets it go: it has room (WithinBudget).',
  );
  expect(await ask('pub/pub')).toMatchObject({
    granted: true,
    value: { counts: 'PodGroup', available: 2, allowed: 1 },
  });

  expect(await evict(on, 'a0')).toBe(201);
  await on.settle();
  const refusal = await on.client
    .createSubresource(podType, { namespace, name: 'b0' }, 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'b0', namespace },
    })
    .then(
      () => undefined,
      (error: unknown) => error as ApiError,
    );
  const why = await ask('b0');
  expect(why.granted).toBe(false);
  expect(refusal?.causes.length).toBeGreaterThan(2);
  for (const { message = '' } of refusal?.causes ?? []) expect(why.lines.join('\n')).toContain(message);
  expect((await ask('a1')).lines.join('\n')).toContain('(GroupAlreadyUnavailable)');
  const budget = await ask('pub');
  expect(budget).toMatchObject({ granted: false, value: { available: 1, allowed: 0 } });
  expect(budget.lines.join('\n')).toContain('To unblock: wait until group a is available again.');
  await expect(ask('pub/none')).rejects.toThrow('no PodUnavailableBudget "none" in namespace "default"');
});
