import { expect, test } from 'vitest';
import { podType } from '../../../src/api/resource-types.ts';
import { FeatureGates, isNotFound } from '../../../src/machinery/runtime/index.ts';
import { pod, startControlPlane } from '../../../src/testkit/index.ts';
import { onStage, podGroupType } from './stage.ts';

test('with GangScheduling off members of a group are scheduled one by one', () =>
  onStage({ nodes: [1], gates: new FeatureGates({ GangScheduling: false }) }, async (stage) => {
    await stage.addGang('g', 2);
    await stage.addMembers('g', 2);
    await stage.settle();
    expect(await stage.bound()).toHaveLength(1);
  }));

test('with GenericWorkload off groups are not served, and new pods lose their link to one', async () => {
  const plane = await startControlPlane({ gates: new FeatureGates({ GenericWorkload: false }) });
  try {
    const { client } = plane;
    await expect(client.list(podGroupType, { namespace: 'default' })).rejects.toSatisfy(isNotFound);
    const made = await client.create(
      podType,
      pod({ spec: { schedulingGroup: { podGroupName: 'g' }, workload: { name: 'w', podGroup: 'p' } } }),
    );
    expect(made.spec).not.toHaveProperty('schedulingGroup');
    expect(made.spec).not.toHaveProperty('workload');
  } finally {
    await plane.stop();
  }
});

test('with GenericWorkloadPodGroup off the links through a Workload stay', async () => {
  const plane = await startControlPlane({ gates: new FeatureGates({ GenericWorkloadPodGroup: false }) });
  try {
    const { client } = plane;
    await expect(client.list(podGroupType, { namespace: 'default' })).rejects.toSatisfy(isNotFound);
    const made = await client.create(podType, pod({ spec: { workloadRef: { name: 'w', podGroup: 'p' } } }));
    expect(made.spec?.workloadRef).toEqual({ name: 'w', podGroup: 'p' });
  } finally {
    await plane.stop();
  }
});
