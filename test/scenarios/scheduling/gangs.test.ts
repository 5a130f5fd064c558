import { expect, test } from 'vitest';
import { podType } from '../../../src/api/resource-types.ts';
import { onStage, podGroupType, workloadType } from './stage.ts';

test('S4-01 S4-03 a gang is bound together, and its PodGroup says so', () =>
  onStage({ nodes: [2, 1] }, async (stage) => {
    await stage.addGang('g', 3);
    await stage.addMembers('g', 2);
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    await stage.addPod('g-2', { group: 'g' });
    await stage.settle();
    expect(await stage.bound()).toEqual(['g-0', 'g-1', 'g-2']);
    expect(await stage.condition('g')).toMatchObject({ status: 'True', reason: 'Scheduled', observedGeneration: 1 });
    expect((await stage.events('Scheduled')).map(({ message }) => message)).toContain(
      `Successfully assigned default/g-0 to ${(await stage.pod('g-0')).spec?.nodeName}`,
    );
  }));

test('S4-02 S4-09 S4-12 S4-14 members wait for their PodGroup and for no other', () =>
  onStage({ nodes: [4] }, async (stage) => {
    await stage.addMembers('x', 3);
    await stage.settle();
    await stage.addGang('y', 1);
    await stage.pass(60);
    expect(await stage.bound()).toEqual([]);
    const waiting = (await stage.pod('x-0')).status?.conditions?.find(({ type }) => type === 'PodScheduled');
    expect(waiting).toMatchObject({ status: 'False', message: 'Waiting: PodGroup "x" does not exist' });
    await stage.addGang('x', 3);
    await stage.settle();
    expect(await stage.bound()).toEqual(['x-0', 'x-1', 'x-2']);
  }));

test('S4-04 S4-15 S4-16 a gang without room binds nothing, keeps nothing, and is bound when room appears', () =>
  onStage({ nodes: [4] }, async (stage) => {
    await stage.addPod('blocker');
    await stage.addGang('g', 4);
    await stage.addMembers('g', 4);
    await stage.settle();
    expect(await stage.bound()).toEqual(['blocker']);
    expect(await stage.condition('g')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    expect((await stage.events('FailedScheduling'))[0]?.message).toContain(
      '3 of 4 pods of group "g" fit, at least 4 needed: 0/1 nodes are available: 1 Insufficient cpu.',
    );
    await stage.addPod('as-large-as-what-is-free', { cpu: 3 });
    await stage.settle();
    expect(await stage.bound()).toEqual(['as-large-as-what-is-free', 'blocker']);
    await stage.remove(podType, 'as-large-as-what-is-free');
    await stage.remove(podType, 'blocker');
    await stage.pass(30);
    expect(await stage.bound()).toEqual(['g-0', 'g-1', 'g-2', 'g-3']);
  }));

test('S4-05 G-02 the surplus waits, and the condition stays True', () =>
  onStage({ nodes: [2] }, async (stage) => {
    await stage.addGang('g', 2);
    await stage.addMembers('g', 3);
    await stage.settle();
    expect(await stage.bound()).toHaveLength(2);
    await stage.pass(60);
    expect(await stage.condition('g')).toMatchObject({ status: 'True' });
    await stage.addNode('more', 1);
    await stage.pass(60);
    expect(await stage.bound()).toHaveLength(3);
  }));

test('S4-06 G-11 members that contradict their group are an error, and nothing is bound', () =>
  onStage({ nodes: [8] }, async (stage) => {
    await stage.addGang('g', 2);
    await stage.addMembers('g', 1);
    await stage.addPod('odd', { group: 'g', spec: { schedulerName: 'other' } });
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    expect(await stage.condition('g')).toMatchObject({ status: 'False', reason: 'SchedulerError' });
  }));

test('S4-10 G-16 the Workload of a PodGroup with its own policy does not matter', () =>
  onStage({ nodes: [4] }, async (stage) => {
    await stage.addGang('g', 2, { workloadRef: { workloadName: 'gone', templateName: 't' } });
    await stage.addMembers('g', 2);
    await stage.settle();
    expect(await stage.bound()).toHaveLength(2);
  }));

test('S4-10 S4-11 S4-13 G-17 a 1.35 reference needs its Workload and entry; replica keys are groups of their own', () =>
  onStage({ nodes: [8] }, async (stage) => {
    const ref = (key: string) => ({ spec: { workloadRef: { name: 'w', podGroup: 'p', podGroupReplicaKey: key } } });
    await stage.addPod('a-0', ref('a'));
    await stage.addPod('a-1', ref('a'));
    await stage.addPod('b-0', ref('b'));
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    const policy = { gang: { minCount: 2 } };
    const workload = (name: string) => ({
      metadata: { name: 'w', namespace: 'default' },
      spec: { podGroupTemplates: [{ name, schedulingPolicy: policy }] },
    });
    await stage.client.create(workloadType('v1beta1'), workload('another'));
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    await stage.remove(workloadType('v1beta1'), 'w');
    await stage.client.create(workloadType('v1beta1'), workload('p'));
    await stage.settle();
    expect(await stage.bound()).toEqual(['a-0', 'a-1']);
  }));

for (const order of [
  ['a', 'b'],
  ['b', 'a'],
]) {
  test(`G-03 of two gangs that fit only one at a time exactly one is bound whole (${order.join(' before ')})`, () =>
    onStage({ nodes: [2, 1] }, async (stage) => {
      for (const name of order) await stage.addGang(name, 3);
      for (let index = 0; index < 3; index += 1) {
        for (const name of order) await stage.addPod(`${name}-${index}`, { group: name });
      }
      await stage.settle();
      await stage.pass(120);
      const [a, b] = [await stage.bound('a'), await stage.bound('b')];
      expect(new Set([a.length, b.length])).toEqual(new Set([0, 3]));
      for (const name of a.length > 0 ? a : b) await stage.remove(podType, name);
      await stage.pass(60);
      expect((await stage.bound(a.length > 0 ? 'b' : 'a')).length).toBe(3);
    }));
}

test('G-04 a gang and a single pod with room for either do not block each other', () =>
  onStage({ nodes: [3] }, async (stage) => {
    await stage.addGang('g', 3);
    await stage.addPod('g-0', { group: 'g' });
    await stage.addPod('single');
    await stage.addPod('g-1', { group: 'g' });
    await stage.addPod('g-2', { group: 'g' });
    await stage.settle();
    expect(await stage.bound()).toEqual(['single']);
    await stage.remove(podType, 'single');
    await stage.pass(30);
    expect(await stage.bound()).toEqual(['g-0', 'g-1', 'g-2']);
  }));

test('G-05 G-06 replacements bind alone while enough members exist, and are held while not', () =>
  onStage({ nodes: [8] }, async (stage) => {
    await stage.addGang('g', 4);
    await stage.addMembers('g', 4);
    await stage.settle();
    await stage.remove(podType, 'g-0');
    await stage.addPod('g-0', { group: 'g' });
    await stage.settle();
    expect(await stage.bound()).toHaveLength(4);
    await stage.remove(podType, 'g-0');
    await stage.remove(podType, 'g-1');
    await stage.addPod('g-0', { group: 'g' });
    await stage.settle();
    expect(await stage.bound()).toEqual(['g-2', 'g-3']);
    await stage.addPod('g-1', { group: 'g' });
    await stage.settle();
    expect(await stage.bound()).toHaveLength(4);
  }));

test('G-07 a smaller minimum frees a held gang; a larger one leaves running pods alone', () =>
  onStage({ nodes: [8] }, async (stage) => {
    await stage.addGang('g', 3);
    await stage.addMembers('g', 2);
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    const patch = (minCount: number) =>
      stage.client.patch(
        podGroupType,
        { namespace: 'default', name: 'g' },
        { type: 'merge', body: { spec: { schedulingPolicy: { gang: { minCount } } } } },
      );
    await patch(2);
    await stage.settle();
    expect(await stage.bound()).toHaveLength(2);
    await patch(5);
    await stage.pass(400);
    expect(await stage.bound()).toHaveLength(2);
  }));

test('G-09 a gate on one member holds the whole group', () =>
  onStage({ nodes: [8] }, async (stage) => {
    await stage.addGang('g', 2);
    await stage.addPod('gated', { group: 'g', spec: { schedulingGates: [{ name: 'example.com/wait' }] } });
    await stage.addMembers('g', 2);
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    await stage.client.patch(
      podType,
      { namespace: 'default', name: 'gated' },
      { type: 'merge', body: { spec: { schedulingGates: null } } },
    );
    await stage.settle();
    expect(await stage.bound()).toEqual(['g-0', 'g-1', 'gated']);
  }));

test('G-10 a basic group binds what fits, and is scheduled', () =>
  onStage({ nodes: [2] }, async (stage) => {
    await stage.addGroup('g', { schedulingPolicy: { basic: {} } });
    await stage.addMembers('g', 3);
    await stage.settle();
    expect(await stage.bound()).toHaveLength(2);
    expect(await stage.condition('g')).toMatchObject({ status: 'True' });
  }));

test('G-15 without their PodGroup pending members are not tried; with a new one of the name they are', () =>
  onStage({ nodes: [1] }, async (stage) => {
    await stage.addGang('g', 2);
    await stage.addMembers('g', 2);
    await stage.settle();
    await stage.remove(podGroupType, 'g');
    await stage.client.patch(
      podGroupType,
      { namespace: 'default', name: 'g' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    );
    await stage.addNode('more', 4);
    await stage.pass(60);
    expect(await stage.bound()).toEqual([]);
    await stage.addGang('g', 2);
    await stage.pass(60);
    expect(await stage.bound()).toHaveLength(2);
  }));

test('G-18 finished members do not count', () =>
  onStage({ nodes: [8] }, async (stage) => {
    await stage.addGang('g', 3);
    await stage.addMembers('g', 3);
    await stage.settle();
    const finish = (name: string) =>
      stage.client.patch(
        podType,
        { namespace: 'default', name },
        { type: 'merge', body: { status: { phase: 'Succeeded' } } },
        { subresource: 'status' },
      );
    await finish('g-0');
    await stage.addPod('g-3', { group: 'g' });
    await stage.settle();
    expect(await stage.bound()).toContain('g-3');
    await finish('g-1');
    await finish('g-2');
    await stage.addPod('g-4', { group: 'g' });
    await stage.settle();
    expect(await stage.bound()).not.toContain('g-4');
  }));

test('G-20 a gang stays within one rack', () =>
  onStage({ nodes: [3, 2, 2], labels: [{ rack: 'A' }, { rack: 'B' }, { rack: 'C' }] }, async (stage) => {
    await stage.addGang('g', 3, { schedulingConstraints: { topology: [{ key: 'rack' }] } });
    await stage.addMembers('g', 3);
    await stage.settle();
    const nodes = await Promise.all((await stage.bound()).map(async (name) => (await stage.pod(name)).spec?.nodeName));
    expect(nodes).toEqual(['n0', 'n0', 'n0']);
  }));
