/** Groups with `disruptionMode: all`: one member goes only together with all. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtinType } from '../../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { explainTarget } from '../../../src/tasks/index.ts';
import { namesOf, namespace, Stage } from './fixture.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.start();
});
afterEach(() => stage.plane.stop());

const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io');

test('DM-01: without a budget the eviction of one member takes all four in one step', async () => {
  await stage.gang('g');
  await stage.gang('h');
  expect((await stage.evict('g-1')).code).toBe(201);
  expect(await stage.staying()).toEqual(namesOf('h'));
  const reasons = (await stage.pods()).flatMap(({ metadata, status }) =>
    (status?.conditions ?? [])
      .filter(({ type }) => type === 'DisruptionTarget')
      .map(({ reason }) => `${metadata.name} ${reason}`),
  );
  expect(reasons).toEqual(['g-0 GroupEviction', 'g-1 EvictionByEvictionAPI', 'g-2 GroupEviction', 'g-3 GroupEviction']);
  // Going already: allowed, and nothing more goes.
  expect((await stage.evict('g-0')).code).toBe(201);
});

test('DM-02: another group is down and one may be: 429 names the budget and the members, nothing goes', async () => {
  await stage.gang('g');
  await stage.gang('h');
  await stage.budget('one', { maxUnavailable: 1 });
  const down = await stage.client.get(podType, { namespace, name: 'h-0' });
  await stage.client.updateStatus(podType, { ...down, status: { phase: 'Running', conditions: [] } });
  await stage.plane.settle();
  const refused = await stage.evict('g-2');
  expect(refused.code).toBe(429);
  expect(refused.message).toContain('its group goes as one: 4 members');
  expect(refused.message).toContain('budget one');
  expect(refused.causes).toContain('DisruptionBudget');
  expect(await stage.staying()).toHaveLength(8);
  const why = await explainTarget(stage.client, { target: 'pod/g-2', namespace, now: stage.plane.clock.now() });
  expect(why.granted).toBe(false);
});

test('DM-03: a budget that counts pods and allows 3 charges nothing; one that allows 4 is charged 4', async () => {
  const inPods = { 'policy.quorate.dev/budget-scope': 'Pod' };
  await stage.gang('g');
  await stage.budget('three', { minAvailable: 1 }, inPods);
  const refused = await stage.evict('g-0');
  expect(refused.code).toBe(429);
  expect(refused.message).toContain('4 members');
  expect((await stage.budgetNow('three')).status).toMatchObject({ disruptionsAllowed: 3 });
  expect((await stage.budgetNow('three')).status?.disruptedPods).toBeUndefined();
  expect(await stage.staying()).toHaveLength(4);
  const why = await explainTarget(stage.client, { target: 'pod/g-0', namespace, now: stage.plane.clock.now() });
  expect(why.granted).toBe(false);
  expect(why.lines.join('\n')).toContain('goes as one');

  const budget = await stage.budgetNow('three');
  await stage.client.update(podDisruptionBudgetType, { ...budget, spec: { ...budget.spec, minAvailable: 0 } });
  await stage.plane.settle();
  const before = (await stage.budgetNow('three')).status?.disruptionsAllowed;
  expect(before).toBe(4);
  expect((await stage.evict('g-0')).code).toBe(201);
  expect((await stage.budgetNow('three')).status).toMatchObject({ disruptionsAllowed: 0 });
  expect(await stage.staying()).toEqual([]);
});

test('DM-04: a dry run is judged for all of the group, and leaves nothing behind', async () => {
  await stage.gang('g');
  expect((await stage.evict('g-0', true)).code).toBe(201);
  await stage.budget('none', { maxUnavailable: 0 });
  expect((await stage.evict('g-0', true)).code).toBe(429);
  expect(await stage.staying()).toHaveLength(4);
  expect((await stage.client.list(groupEvictionType, {})).items).toEqual([]);
  const marked = (await stage.pods()).filter(({ status }) =>
    status?.conditions?.some(({ type }) => type === 'DisruptionTarget'),
  );
  expect(marked).toEqual([]);
});

test('DM-05: a member that is not bound yet, or has finished, goes by itself; one that is not Ready takes all', async () => {
  await stage.gang('g');
  await stage.pod('g-waits', 'g', { phase: 'Pending', spec: { nodeName: undefined } });
  await stage.pod('g-done', 'g', { phase: 'Succeeded' });
  await stage.plane.settle();
  expect((await stage.evict('g-waits')).code).toBe(201);
  expect((await stage.evict('g-done')).code).toBe(201);
  expect(await stage.staying()).toEqual(namesOf('g'));
  await stage.pod('g-4', 'g', { phase: 'Pending' });
  await stage.plane.settle();
  expect((await stage.evict('g-4')).code).toBe(201);
  expect(await stage.staying()).toEqual([]);
});

test('DM-06: with two spare members all four go all the same, for one unit', async () => {
  const spare = { schedulingPolicy: { gang: { minCount: 2 } } };
  await stage.gang('g', spare);
  await stage.gang('h', spare);
  await stage.budget('one', { maxUnavailable: 1 });
  expect((await stage.evict('g-3')).code).toBe(201);
  expect(await stage.staying()).toEqual(namesOf('h'));
  await stage.plane.settle();
  expect((await stage.budgetNow('one')).status).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 1 });
  expect((await stage.evict('h-0')).code).toBe(429);
});

test('DM-07: of two budgets over a member a plain eviction is 500; a GroupEviction asks both', async () => {
  await stage.gang('g');
  await stage.budget('wide', { maxUnavailable: 1 });
  await stage.budget('narrow', { maxUnavailable: 0, selector: { matchLabels: { group: 'g' } } });
  expect((await stage.evict('g-0')).code).toBe(500);
  const ask = (name: string) =>
    stage.client.create(groupEvictionType, { metadata: { name, namespace }, spec: { podGroupName: 'g' } });
  await expect(ask('first')).rejects.toMatchObject({ code: 429 });
  expect(await stage.staying()).toHaveLength(4);
  const narrow = await stage.budgetNow('narrow');
  await stage.client.update(podDisruptionBudgetType, { ...narrow, spec: { ...narrow.spec, maxUnavailable: 1 } });
  await stage.plane.settle();
  await ask('second');
  expect(await stage.staying()).toEqual([]);
  for (const name of ['wide', 'narrow']) {
    expect((await stage.budgetNow(name)).status).toMatchObject({ disruptionsAllowed: 0 });
  }
});

test('DM-09: v1alpha2 says PodGroup and means it; children of a composite that goes as one all go', async () => {
  const old = podGroupType as ResourceType;
  const spec = { schedulingPolicy: { gang: { minCount: 4 } }, disruptionMode: 'PodGroup' };
  await stage.client.create({ ...old, version: 'v1alpha2' }, {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: 'PodGroup',
    metadata: { name: 'old', namespace },
    spec,
  } as KubeObject);
  for (const name of namesOf('old')) await stage.pod(name, 'old');
  await stage.plane.settle();
  expect((await stage.evict('old-0')).code).toBe(201);
  expect(await stage.staying()).toEqual([]);
});

test('DM-10: for 30 s after its PodGroup is deleted a group goes as one, then pod by pod', async () => {
  for (const name of ['g', 'h']) {
    await stage.gang(name);
    await stage.dropGroup(name);
  }
  await stage.plane.clock.advance(10_000);
  expect((await stage.evict('g-0')).code).toBe(201);
  expect(await stage.staying()).toEqual(namesOf('h'));
  await stage.plane.clock.advance(21_000);
  expect((await stage.evict('h-0')).code).toBe(201);
  expect(await stage.staying()).toEqual(namesOf('h', [1, 2, 3]));
});

test('a GroupEviction without spec, or with an empty one, is 422 with the path of the field', async () => {
  const ask = (object: object) =>
    stage.client.create(groupEvictionType, { metadata: { name: 'ask', namespace }, ...object });
  await expect(ask({})).rejects.toMatchObject({ code: 422, message: expect.stringContaining('spec: Required value') });
  await expect(ask({ spec: {} })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('spec: Invalid value'),
  });
});

test('DM-09: children of a composite that goes as one all go, and so by a GroupEviction of one of them', async () => {
  const composite = (name: string): KubeObject =>
    ({
      metadata: { name, namespace },
      spec: {
        workloadRef: { workloadName: 'w', templateName: 'root' },
        schedulingPolicy: { gang: { minGroupCount: 2 } },
        disruptionMode: { all: {} },
      },
    }) as KubeObject;
  for (const root of ['r', 's']) {
    await stage.client.create(builtinType('CompositePodGroup', 'scheduling.k8s.io'), composite(root));
    for (const child of ['x', 'y']) {
      const spec = {
        schedulingPolicy: { gang: { minCount: 1 } },
        disruptionMode: { single: {} },
        parentCompositePodGroupName: root,
        workloadRef: { workloadName: 'w', templateName: child },
      };
      await stage.group(`${root}${child}`, spec);
      await stage.pod(`${root}${child}-0`, `${root}${child}`);
    }
  }
  await stage.plane.settle();
  expect((await stage.evict('rx-0')).code).toBe(201);
  expect(await stage.staying()).toEqual(['sx-0', 'sy-0']);
  await stage.client.create(groupEvictionType, { metadata: { name: 'ask', namespace }, spec: { podGroupName: 'sy' } });
  expect(await stage.staying()).toEqual([]);
});

test('DM-09: a Job that says so gets a PodGroup that says so, and goes whole', async () => {
  await stage.client.create(builtinType('Job', 'batch'), {
    metadata: { name: 'train', namespace },
    spec: {
      parallelism: 4,
      completions: 4,
      completionMode: 'Indexed',
      scheduling: { schedulingPolicy: { gang: { minCount: 4 } }, disruptionMode: { all: {} } },
      template: {
        spec: { restartPolicy: 'Never', schedulerName: 'nobody', containers: [{ name: 'c', image: 'app:1' }] },
      },
    },
  } as KubeObject);
  await stage.plane.settle();
  const members = await stage.pods();
  expect(members).toHaveLength(4);
  for (const [at, pod] of members.entries()) {
    const { name = '' } = pod.metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace },
      target: { kind: 'Node', name: `n${at}` },
    };
    await stage.client.createSubresource(podType, { namespace, name }, 'binding', body);
    const bound = await stage.client.get(podType, { namespace, name });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await stage.client.updateStatus(podType, { ...bound, status });
  }
  await stage.plane.settle();
  expect((await stage.evict(members[0]?.metadata.name ?? '')).code).toBe(201);
  const left = await stage.staying();
  expect(left.filter((name) => members.some(({ metadata }) => metadata.name === name))).toEqual([]);
});
