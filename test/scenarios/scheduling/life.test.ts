import { expect, test } from 'vitest';
import type { PodGroup as DraftPodGroup } from '../../../src/api/generated/scheduling-v1alpha1.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { ResourceType } from '../../../src/api/resource.ts';
import { configMapType, podType } from '../../../src/api/resource-types.ts';
import { garbageCollector } from '../../../src/controllers/kubernetes/garbage-collector/index.ts';
import { createPodGroupController } from '../../../src/controllers/quorate/pod-group/index.ts';
import { isNotFound } from '../../../src/machinery/runtime/index.ts';
import { onStage, podGroupType, type Stage } from './stage.ts';

const draftType = builtinType('PodGroup', 'scheduling.k8s.io', 'v1alpha1') as ResourceType<DraftPodGroup>;
const also = [createPodGroupController(), garbageCollector];

const exists = async (stage: Stage, name: string): Promise<boolean> => {
  try {
    await stage.client.get(podGroupType, { namespace: 'default', name });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
};

const finish = (stage: Stage, name: string) =>
  stage.client.patch(
    podType,
    { namespace: 'default', name },
    { type: 'merge', body: { status: { phase: 'Succeeded' } } },
    { subresource: 'status' },
  );

test('S4-03 S4-04 the draft version counts members and gives its own reason', () =>
  onStage({ nodes: [3], also }, async (stage) => {
    await stage.addGang('g', 3);
    await stage.addMembers('g', 3);
    await stage.addGang('late', 3);
    await stage.addMembers('late', 3);
    await stage.pass(1);
    const draft = (name: string) => stage.client.get(draftType, { namespace: 'default', name });
    const { status } = await draft('g');
    expect(status?.scheduledPods).toBe(3);
    const stands = (type: string, value: string, reason: string) =>
      expect.objectContaining({ type, status: value, reason });
    expect(status?.conditions).toContainEqual(stands('PodGroupScheduled', 'True', 'MinCountSatisfied'));
    const late = (await draft('late')).status;
    expect(late?.scheduledPods ?? 0).toBe(0);
    expect(late?.conditions).toContainEqual(stands('PodGroupScheduled', 'False', 'Unschedulable'));
    // Changing the object in the version that cannot count loses no count.
    await stage.client.patch(
      podGroupType,
      { namespace: 'default', name: 'g' },
      { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } },
    );
    expect((await draft('g')).status?.scheduledPods).toBe(3);
    await finish(stage, 'g-0');
    await stage.pass(1);
    expect((await draft('g')).status?.scheduledPods).toBe(2);
  }));

test('S4-07 S4-08 deleting the owner of a replica removes its pods, then its PodGroup, and no other', () =>
  onStage({ nodes: [8], also }, async (stage) => {
    for (const replica of ['r0', 'r1']) {
      const owner = await stage.client.create(configMapType, { metadata: { name: replica, namespace: 'default' } });
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: replica, uid: owner.metadata.uid ?? '' }];
      await stage.client.create(podGroupType, {
        metadata: { name: replica, namespace: 'default', ownerReferences },
        spec: { schedulingPolicy: { gang: { minCount: 2 } } },
      });
      for (const index of [0, 1]) {
        const made = await stage.addPod(`${replica}-${index}`, { group: replica });
        await stage.client.patch(
          podType,
          { namespace: 'default', name: made.metadata.name ?? '' },
          { type: 'merge', body: { metadata: { ownerReferences } } },
        );
      }
    }
    await stage.settle();
    expect(await stage.bound()).toHaveLength(4);
    await stage.client.delete(configMapType, { namespace: 'default', name: 'r0' });
    await stage.settle();
    // Its pods are going but not gone: the finalizer holds the group.
    expect(await exists(stage, 'r0')).toBe(true);
    expect(await stage.endTerminating()).toEqual(['r0-0', 'r0-1']);
    await stage.pass(1);
    expect([await exists(stage, 'r0'), await exists(stage, 'r1')]).toEqual([false, true]);
    expect(await stage.bound()).toEqual(['r1-0', 'r1-1']);
  }));

test('G-14 a deleted PodGroup stays until its last member has finished', () =>
  onStage({ nodes: [8], also }, async (stage) => {
    await stage.addGang('g', 1);
    await stage.addMembers('g', 1);
    await stage.settle();
    await stage.remove(podGroupType, 'g');
    await stage.settle();
    const going = await stage.client.get(podGroupType, { namespace: 'default', name: 'g' });
    expect(going.metadata.deletionTimestamp).toBeTruthy();
    await finish(stage, 'g-0');
    await stage.pass(1);
    expect(await exists(stage, 'g')).toBe(false);
  }));

test('a PodGroup no scheduler of groups looks after gets its condition from the controller', () =>
  onStage({ nodes: [8], also: [createPodGroupController({ writesCondition: true })] }, async (stage) => {
    await stage.addGang('g', 2);
    for (const index of [0, 1]) {
      await stage.addPod(`g-${index}`, { group: 'g', spec: { schedulerName: 'someone-else' } });
    }
    await stage.pass(1);
    expect(await stage.condition('g')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    for (const index of [0, 1]) {
      const name = `g-${index}`;
      await stage.client.createSubresource(podType, { namespace: 'default', name }, 'binding', {
        metadata: { name },
        target: { kind: 'Node', name: 'n0' },
      });
    }
    await stage.pass(1);
    expect(await stage.condition('g')).toMatchObject({ status: 'True', reason: 'Scheduled' });
  }));
