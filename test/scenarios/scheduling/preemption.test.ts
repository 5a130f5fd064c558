import { expect, test } from 'vitest';
import { builtinType } from '../../../src/api/registry.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { podDisruptionBudget } from '../../../src/testkit/index.ts';
import { onStage, type Stage } from './stage.ts';

const priorityClassType = builtinType('PriorityClass', 'scheduling.k8s.io');

async function classes(stage: Stage): Promise<void> {
  for (const [name, value] of [
    ['low', 1],
    ['high', 100],
  ] as const) {
    await stage.client.create(priorityClassType, { metadata: { name }, value } as never);
  }
}

const low = { spec: { priorityClassName: 'low', priority: 1 } };
const high = { spec: { priorityClassName: 'high', priority: 100 } };

test('a more important pod takes the place of a less important one, which is told why', () =>
  onStage({ nodes: [2] }, async (stage) => {
    await classes(stage);
    await stage.addPod('victim', { cpu: 2, ...low });
    await stage.settle();
    await stage.addPod('vip', { cpu: 2, ...high });
    await stage.settle();
    const victim = await stage.pod('victim');
    expect(victim.metadata.deletionTimestamp).toBeTruthy();
    expect(victim.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'PreemptionByScheduler',
    });
    expect((await stage.pod('vip')).status?.nominatedNodeName).toBe('n0');
    // Nobody less important slips into the promised room.
    await stage.endTerminating();
    await stage.addPod('upstart', { cpu: 1, ...low });
    await stage.pass(2);
    expect(await stage.bound()).toEqual(['vip']);
    expect((await stage.events('Preempted'))[0]?.involvedObject.name).toBe('victim');
  }));

test('P-01 a gang makes room for all of itself, or for none', () =>
  onStage({ nodes: [2, 2] }, async (stage) => {
    await classes(stage);
    for (const index of [0, 1, 2, 3]) await stage.addPod(`low-${index}`, low);
    await stage.settle();
    await stage.addGang('big', 5, { priority: 100, priorityClassName: 'high' });
    await stage.addMembers('big', 5, high);
    await stage.settle();
    expect(await stage.endTerminating()).toEqual([]);
    await stage.addGang('gang', 3, { priority: 100, priorityClassName: 'high' });
    await stage.addMembers('gang', 3, high);
    await stage.settle();
    expect(await stage.endTerminating()).toHaveLength(3);
    await stage.pass(5);
    expect(await stage.bound('gang')).toHaveLength(3);
    expect(await stage.bound('low')).toHaveLength(1);
    expect(await stage.bound('big')).toEqual([]);
  }));

test('P-02 a group that lives only whole is preempted whole', () =>
  onStage({ nodes: [3] }, async (stage) => {
    await classes(stage);
    await stage.addGang('v', 3, { disruptionMode: { all: {} }, priority: 1, priorityClassName: 'low' });
    await stage.addMembers('v', 3, low);
    await stage.settle();
    await stage.addPod('vip', high);
    await stage.settle();
    expect(await stage.endTerminating()).toEqual(['v-0', 'v-1', 'v-2']);
  }));

test('P-03 a pod its budget protects is spared while another will do', () =>
  onStage({ nodes: [1, 1] }, async (stage) => {
    await classes(stage);
    const budget = await stage.client.create(
      builtinType('PodDisruptionBudget', 'policy'),
      podDisruptionBudget({ spec: { minAvailable: 1, selector: { matchLabels: { guarded: 'yes' } } } }),
    );
    await stage.client.patch(
      builtinType('PodDisruptionBudget', 'policy'),
      { namespace: 'default', name: 'budget' },
      {
        type: 'merge',
        body: {
          status: {
            observedGeneration: budget.metadata.generation,
            disruptionsAllowed: 0,
            currentHealthy: 1,
            desiredHealthy: 1,
            expectedPods: 1,
          },
        },
      },
      { subresource: 'status' },
    );
    await stage.addPod('guarded', { ...low, labels: { guarded: 'yes' } });
    await stage.addPod('plain', low);
    await stage.settle();
    for (const name of ['guarded', 'plain']) {
      const conditions = [{ type: 'Ready', status: 'True' }];
      const body = { status: { phase: 'Running', conditions } };
      await stage.client.patch(
        podType,
        { namespace: 'default', name },
        { type: 'merge', body },
        { subresource: 'status' },
      );
    }
    await stage.settle();
    await stage.addPod('vip', high);
    await stage.settle();
    expect(await stage.endTerminating()).toEqual(['plain']);
    await stage.pass(2);
    await stage.addPod('vip-2', high);
    await stage.settle();
    expect(await stage.endTerminating()).toEqual(['guarded']);
  }));

test('P-05 a member beyond the minimum of a running gang makes room for itself', () =>
  onStage({ nodes: [3] }, async (stage) => {
    await classes(stage);
    await stage.addPod('low', low);
    await stage.addGang('g', 2, { priority: 100, priorityClassName: 'high' });
    await stage.addMembers('g', 2, high);
    await stage.settle();
    await stage.addPod('g-2', { group: 'g', ...high });
    await stage.settle();
    expect(await stage.endTerminating()).toEqual(['low']);
    await stage.pass(5);
    expect(await stage.bound()).toEqual(['g-0', 'g-1', 'g-2']);
  }));
