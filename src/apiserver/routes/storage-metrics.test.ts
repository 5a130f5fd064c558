import { expect, it } from 'vitest';
import { builtinType } from '../../api/registry.ts';
import { Metrics } from '../../machinery/runtime/index.ts';
import { configMap, podDisruptionBudget, startControlPlane } from '../../testkit/index.ts';

it('18.15: every kind is counted under both names, also when there is none of it', async () => {
  const metrics = new Metrics();
  const plane = await startControlPlane({ metrics });
  const budgets = builtinType('PodDisruptionBudget', 'policy', 'v1');
  for (const name of ['a', 'b']) await plane.client.create(budgets, podDisruptionBudget({ name }));
  await plane.client.create(builtinType('ConfigMap', '', 'v1'), configMap({ name: 'm' }));
  const text = await metrics.registry.metrics();
  for (const name of ['apiserver_storage_objects', 'etcd_object_counts']) {
    expect(text).toContain(`${name}{resource="poddisruptionbudgets.policy"} 2`);
    expect(text).toContain(`${name}{resource="configmaps"} 1`);
    expect(text).toContain(`${name}{resource="podunavailablebudgets.policy.kruise.io"} 0`);
    expect(text).not.toMatch(/subjectaccessreviews|tokenreviews/);
  }
  await plane.stop();
});
