import { expect, test } from 'vitest';
import type { CompositePodGroup } from '../../../src/api/generated/scheduling-v1alpha3.ts';
import { builtinType } from '../../../src/api/registry.ts';
import { nodeType, podType } from '../../../src/api/resource-types.ts';
import { askCluster } from '../../../src/cluster-state/plan-question.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { planDrain } from '../../../src/decisions/drain-plan/index.ts';
import { podDisruptionBudget } from '../../../src/testkit/index.ts';
import { onStage, type Stage } from './stage.ts';

const compositeType = builtinType('CompositePodGroup', 'scheduling.k8s.io');
const priorityClassType = builtinType('PriorityClass', 'scheduling.k8s.io');
const from = (templateName: string) => ({ workloadRef: { workloadName: 'w', templateName } });

function addComposite(stage: Stage, name: string, minGroupCount: number, over: object = {}) {
  const spec = { ...from('root'), schedulingPolicy: { gang: { minGroupCount } }, ...over };
  return stage.client.create(compositeType, { metadata: { name, namespace: 'default' }, spec } as never);
}

const leaf = (parent: string, over: object = {}) => ({
  ...from('leaf'),
  parentCompositePodGroupName: parent,
  ...over,
});

test('G-21 prefill and decode are bound as one: where one does not fit, what fitted of the other is undone', () =>
  onStage({ nodes: [3] }, async (stage) => {
    await addComposite(stage, 'pair', 2);
    await stage.addGang('prefill', 2, leaf('pair'));
    await stage.addGang('decode', 2, leaf('pair'));
    await stage.addMembers('prefill', 2);
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    await stage.addMembers('decode', 2);
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    expect(await stage.condition('prefill')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    // Nothing is kept for it.
    await stage.addPod('single', { cpu: 3 });
    await stage.settle();
    expect(await stage.bound()).toEqual(['single']);
    await stage.addNode('more', 4);
    await stage.pass(30);
    expect(await stage.bound()).toEqual(['decode-0', 'decode-1', 'prefill-0', 'prefill-1', 'single']);
    expect(await stage.condition('decode')).toMatchObject({ status: 'True', reason: 'Scheduled' });
  }));

test('G-22 groups wait for the root of their tree, however late it comes', () =>
  onStage({ nodes: [4] }, async (stage) => {
    await stage.addGang('a', 1, leaf('middle'));
    await stage.addMembers('a', 1);
    await addComposite(stage, 'middle', 1, { parentCompositePodGroupName: 'root' });
    await stage.pass(10);
    expect(await stage.bound()).toEqual([]);
    const waiting = (await stage.pod('a-0')).status?.conditions?.find(({ type }) => type === 'PodScheduled');
    expect(waiting?.message).toBe('Waiting: CompositePodGroup "root" does not exist');
    await addComposite(stage, 'root', 1);
    await stage.settle();
    expect(await stage.bound()).toEqual(['a-0']);
  }));

test('a tree that needs 2 of 3 groups is bound with 2, and the third follows when there is room', () =>
  onStage({ nodes: [4] }, async (stage) => {
    await addComposite(stage, 'root', 2);
    for (const name of ['a', 'b', 'c']) {
      await stage.addGang(name, 2, leaf('root'));
      await stage.addMembers(name, 2);
    }
    await stage.settle();
    expect(await stage.bound()).toHaveLength(4);
    await stage.addNode('more', 2);
    await stage.pass(30);
    expect(await stage.bound()).toHaveLength(6);
  }));

async function compositeCondition(stage: Stage, name: string) {
  const { status } = (await stage.client.get(compositeType, { namespace: 'default', name })) as CompositePodGroup;
  return status?.conditions?.find(({ type }) => type === 'CompositePodGroupInitiallyScheduled');
}

const zoned = { schedulingConstraints: { topology: [{ key: 'zone' }] } };

test('the groups of a composite with a topology go to one zone, and its status says how they fare', () =>
  onStage({ nodes: [3, 3], labels: [{ zone: 'a' }, { zone: 'b' }] }, async (stage) => {
    await addComposite(stage, 'pair', 2, zoned);
    for (const name of ['prefill', 'decode']) {
      await stage.addGang(name, 2, leaf('pair'));
      await stage.addMembers(name, 2);
    }
    await stage.settle();
    // Six CPUs are free for four pods, but no zone has more than three.
    expect(await stage.bound()).toEqual([]);
    const waiting = await compositeCondition(stage, 'pair');
    expect(waiting).toMatchObject({ status: 'False', reason: 'Unschedulable', observedGeneration: 1 });
    expect(waiting?.message).toContain('1 of 2 groups of "pair" fit, at least 2 needed');
    await stage.addNode('b2', 1, { zone: 'b' });
    await stage.pass(30);
    expect(await stage.bound()).toHaveLength(4);
    const nodes = new Set<string>();
    for (const name of await stage.bound()) nodes.add((await stage.pod(name)).spec?.nodeName ?? '');
    expect([...nodes].sort()).toEqual(['b2', 'n1']);
    expect(await compositeCondition(stage, 'pair')).toMatchObject({
      status: 'True',
      reason: 'Scheduled',
      message: '2 of 2 groups were placed, 2 needed',
    });
  }));

test('a plan moves a group only into the zone where the other groups of its composite stand', () =>
  onStage({ nodes: [2, 2, 4], labels: [{ zone: 'a' }, { zone: 'a' }, { zone: 'b' }] }, async (stage) => {
    await stage.addPod('filler', { cpu: 4, spec: { nodeSelector: { zone: 'b' } } });
    await addComposite(stage, 'pair', 2, zoned);
    for (const name of ['prefill', 'decode']) {
      await stage.addGang(name, 2, leaf('pair'));
      await stage.addMembers(name, 2);
    }
    await stage.settle();
    expect(await stage.bound()).toHaveLength(5);
    const from = (await stage.pod('prefill-0')).spec?.nodeName ?? '';
    await stage.remove(podType, 'filler');
    // Only what has an owner comes back.
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'j', controller: true }];
    for (const name of await stage.bound()) {
      const body = { metadata: { ownerReferences } };
      await stage.client.patch(podType, { namespace: 'default', name }, { type: 'merge', body });
    }
    await stage.settle();
    const plan = async () => {
      const { items } = await stage.client.list(nodeType);
      const now = stage.plane.clock.now();
      const { asked } = await askCluster(stage.client, items, { drain: new Set([from]), nodesReturn: false, now });
      return planDrain(asked);
    };
    const stuck = await plan();
    expect(stuck.steps.flatMap(({ evictions }) => evictions)).toEqual([]);
    expect(stuck.blocked.map(({ text }) => text).join()).toMatch(/NoRoom: .*zone/);
    await stage.addNode('a3', 2, { zone: 'a' });
    await stage.settle();
    expect((await plan()).blocked).toEqual([]);
  }));

test('of a nested tree the composites that have their groups say so, the others have no news, and a True stays', () =>
  onStage({ nodes: [2] }, async (stage) => {
    await addComposite(stage, 'root', 1);
    for (const name of ['left', 'right']) {
      await addComposite(stage, name, 1, { parentCompositePodGroupName: 'root' });
      await stage.addGang(`${name}-a`, 2, leaf(name));
    }
    for (const name of ['left', 'right']) await stage.addMembers(`${name}-a`, 2);
    await stage.settle();
    expect(await stage.bound()).toEqual(['left-a-0', 'left-a-1']);
    expect(await compositeCondition(stage, 'root')).toMatchObject({
      status: 'True',
      message: '1 of 2 groups were placed, 1 needed',
    });
    expect(await compositeCondition(stage, 'left')).toMatchObject({ status: 'True', reason: 'Scheduled' });
    await stage.pass(30);
    expect(await compositeCondition(stage, 'right')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    for (const name of await stage.bound()) await stage.remove(podType, name);
    await stage.pass(60);
    expect(await stage.bound()).toEqual(['right-a-0', 'right-a-1']);
    expect(await compositeCondition(stage, 'right')).toMatchObject({ status: 'True', reason: 'Scheduled' });
    expect(await compositeCondition(stage, 'left')).toMatchObject({ status: 'True', reason: 'Scheduled' });
  }));

test('a tree that goes as one is preempted whole, by the priority of its root', () =>
  onStage({ nodes: [1, 1] }, async (stage) => {
    for (const [name, value] of [
      ['low', 1],
      ['high', 100],
    ] as const) {
      await stage.client.create(priorityClassType, { metadata: { name }, value } as never);
    }
    const low = { priorityClassName: 'low', priority: 1 };
    await addComposite(stage, 'pair', 2, { ...low, disruptionMode: { all: {} } });
    for (const name of ['prefill', 'decode']) {
      await stage.addGang(name, 1, leaf('pair', low));
      await stage.addMembers(name, 1, { spec: low });
    }
    await stage.settle();
    expect(await stage.bound()).toEqual(['decode-0', 'prefill-0']);
    await stage.addPod('vip', { cpu: 1, spec: { priorityClassName: 'high', priority: 100 } });
    await stage.settle();
    expect(await stage.endTerminating()).toEqual(['decode-0', 'prefill-0']);
  }));

test('GC-10 on the embedded host the first pod of a pair that goes as one takes the whole pair', () =>
  onStage({ nodes: [8], also: [createDisruptionController()] }, async (stage) => {
    for (const pair of ['one', 'two']) {
      await addComposite(stage, pair, 1, { disruptionMode: { all: {} } });
      for (const role of ['prefill', 'decode']) {
        await stage.addGang(`${pair}-${role}`, 1, leaf(pair));
        await stage.addMembers(`${pair}-${role}`, 1, { labels: { app: 'serve' } });
      }
    }
    await stage.settle();
    const now = new Date(stage.plane.clock.now()).toISOString();
    for (const name of await stage.bound()) {
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: now }];
      const body = { status: { phase: 'Running', conditions } };
      await stage.client.patch(
        podType,
        { namespace: 'default', name },
        { type: 'merge', body },
        { subresource: 'status' },
      );
    }
    const budget = podDisruptionBudget({
      name: 'serve',
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'serve' } } },
    });
    const type = builtinType('PodDisruptionBudget', 'policy');
    await stage.client.create(type, budget as never);
    await stage.settle();
    const read = async () =>
      ((await stage.client.get(type, { namespace: 'default', name: 'serve' })) as never as typeof budget).status;
    expect(await read()).toMatchObject({ expectedPods: 2, currentHealthy: 2, disruptionsAllowed: 1 });
    const evict = (name: string) =>
      stage.client.request('POST', `/api/v1/namespaces/default/pods/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: 'default' },
      });
    await evict('one-decode-0');
    expect(Object.keys((await read())?.disruptedPods ?? {})).toContain('one-prefill-0');
    await stage.settle();
    expect(await read()).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0 });
    await expect(evict('two-prefill-0')).rejects.toMatchObject({ status: { code: 429 } });
    await evict('one-prefill-0');
  }));
