import { expect, it } from 'vitest';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { pod, podDisruptionBudget, startControlPlane } from '../../../src/testkit/index.ts';

it('18.15: with PodDisruptionBudget off nobody counts budgets, and evictions under one wait', async () => {
  const gates = FeatureGates.parse('PodDisruptionBudget=false');
  const plane = await startControlPlane({ controllers: true, gates });
  const labels = { app: 'web' };
  await plane.client.create(podType, pod({ name: 'web', labels, spec: { nodeName: 'n' } }));
  const budget = podDisruptionBudget({ name: 'web', spec: { minAvailable: 0, selector: { matchLabels: labels } } });
  await plane.client.create(podDisruptionBudgetType, budget);
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const key = { namespace: 'default', name: 'web' };
  await plane.client.patch(podType, key, { type: 'merge', body: { status } }, { subresource: 'status' });
  await plane.settle();
  const read = await plane.client.get(podDisruptionBudgetType, key);
  expect(read.status?.observedGeneration ?? 0).toBe(0);
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key };
  const path = '/api/v1/namespaces/default/pods/web/eviction';
  await expect(plane.client.request('POST', path, eviction)).rejects.toMatchObject({ status: { code: 429 } });
  await plane.stop();
});
