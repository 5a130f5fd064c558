/** Where the operator keeps ledgers, they decide about budgets that count groups, and not what a PDB says in pods. */
import { expect, it } from 'vitest';
import { builtinType } from '../../../src/api/registry.ts';
import { disruptionLedgerType } from '../../../src/api/quorate/types.ts';
import type { KubeObject } from '../../../src/api/resource.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { podGroupType } from '../../../src/api/scheduling/index.ts';
import { explainTarget } from '../../../src/tasks/index.ts';
import { unavailabilityGates } from '../../../src/decisions/unavailability/index.ts';
import { defineController, FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { PreemptionBudgets } from '../../../src/scheduler/budgets.ts';
import { startControlPlane } from '../../../src/testkit/index.ts';
import { definitions } from '../../../src/webhook/index.ts';

const namespace = 'default';

it('18.7: why and preemption go by the ledger of a budget that counts groups', async () => {
  let budgets: PreemptionBudgets | undefined;
  const plane = await startControlPlane({
    controllers: [
      defineController({
        name: 'budgets',
        deps(context) {
          budgets = new PreemptionBudgets(context, unavailabilityGates(new FeatureGates()));
        },
      }),
    ],
  });
  const { client, clock } = plane;
  for (const definition of definitions('native')) {
    if (definition.metadata.name !== 'disruptionledgers.policy.quorate.dev') continue;
    await client.create(builtinType('CustomResourceDefinition', 'apiextensions.k8s.io'), definition as KubeObject);
  }
  await plane.settle();
  await client.create(podGroupType('v1beta1'), {
    metadata: { name: 'g', namespace },
    spec: { schedulingPolicy: { gang: { minCount: 1 } } },
  } as KubeObject);
  const made = await client.create(podType, {
    metadata: { name: 'p', namespace, labels: { app: 'a' } },
    spec: { schedulingGroup: { podGroupName: 'g' }, nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  });
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.updateStatus(podType, { ...made, status: ready });
  const budget = await client.create(podDisruptionBudgetType, {
    metadata: { name: 'b', namespace },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } },
  });
  const now = (): number => clock.now();
  void budgets?.follow();
  await plane.settle();
  const preempts = (): boolean | undefined => budgets?.open()([{ namespace, name: 'p' }] as never);
  expect(preempts()).toBe(true);
  const numbers = {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 1,
    desiredHealthy: 0,
    expectedPods: 1,
  };
  const at = new Date(now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = {
    type: 'PodGroupBudget',
    status: 'True',
    reason: 'GroupUnits',
    message: '',
    lastTransitionTime: at,
  };
  const owner = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', name: 'b', uid: budget.metadata.uid ?? '' };
  const ledger = await client.create(disruptionLedgerType, {
    metadata: { name: 'b', namespace, ownerReferences: [owner] },
  });
  await client.updateStatus(disruptionLedgerType, { ...ledger, status: { ...numbers, conditions: [condition] } });
  await plane.settle();
  expect(preempts()).toBe(false);
  const published = (disruptionsAllowed: number, conditions: object[] = []) =>
    client.patch(
      podDisruptionBudgetType,
      { namespace, name: 'b' },
      { type: 'merge', body: { status: { ...numbers, disruptionsAllowed, conditions } } },
      { subresource: 'status' },
    );
  const why = async () => (await explainTarget(client, { target: 'pod/p', namespace, now: now() })).value;
  await published(1);
  expect(await why()).toMatchObject({ allowed: true, reason: 'WithinBudget' });
  // 18.7: beside Kubernetes' own controller an eviction needs its count as well; preemption deletes, and does not.
  await published(0);
  await plane.settle();
  expect(await why()).toMatchObject({ allowed: false, reason: 'BuiltInCountTighter' });
  expect(preempts()).toBe(false);
  // Where the numbers are the operator's, it makes room in them before it grants.
  const marker = { ...condition, type: 'CountsGroups' };
  await published(0, [marker]);
  expect(await why()).toMatchObject({ allowed: true, reason: 'WithinBudget' });
  await plane.stop();
});
