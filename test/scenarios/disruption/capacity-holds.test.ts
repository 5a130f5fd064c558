/** Room that is held from the grant until the group is back: placeholder pods (volcano-sh/volcano#5805). */
import { expect, test } from 'vitest';
import type { Pod, PodSpec } from '../../../src/api/generated/core-v1.ts';
import { builtinType } from '../../../src/api/registry.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import type { KubeObject } from '../../../src/api/resource.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { RoomLink } from '../../../src/app/plane.ts';
import { onStage, type Stage } from '../scheduling/stage.ts';
import { Stage as Evicting } from './support.ts';

const MEMBERS = ['g-0', 'g-1', 'g-2', 'g-3'];
const HOLD = 'quorate-hold-';

interface Play extends Pick<Stage, 'plane'> {
  readonly stage: Stage;
  readonly evicting: Evicting;
}

const spec = (over: Partial<PodSpec> = {}): PodSpec => ({
  containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }],
  priorityClassName: 'important',
  ...over,
});

/** A gang of four on a cordoned node, with room for four on two others; fillers are as important as the gang. */
function play(annotations: Record<string, string>, scenario: (play: Play) => Promise<void>): () => Promise<void> {
  return () => {
    const roomLink = new RoomLink();
    const also = [createDisruptionController({ room: () => roomLink.room() })];
    return onStage({ also, roomLink }, async (stage) => {
      const { client, plane } = stage;
      const evicting = new Evicting(plane);
      await client.create(builtinType('PriorityClass', 'scheduling.k8s.io'), {
        metadata: { name: 'important' },
        value: 100,
      } as KubeObject);
      await stage.addNode('old', 4);
      await stage.addNode('new-1', 2);
      await stage.addNode('new-2', 2);
      await stage.addGang('g', 4, { priorityClassName: 'important' });
      await client.create(podDisruptionBudgetType, {
        metadata: {
          name: 'foo',
          namespace: 'default',
          annotations: { 'policy.quorate.dev/capacity': 'Require', ...annotations },
        },
        spec: { selector: { matchLabels: { app: 'a' } }, maxUnavailable: '100%' },
      });
      for (const name of MEMBERS) {
        const member = spec({ schedulingGroup: { podGroupName: 'g' } });
        await evicting.pod(name, { node: 'old', spec: member as unknown as Record<string, unknown> });
      }
      await client.patch(nodeType, { name: 'old' }, { type: 'merge', body: { spec: { unschedulable: true } } });
      await stage.settle();
      await scenario({ plane, stage, evicting });
    });
  };
}

async function fill({ stage }: Play): Promise<void> {
  for (let at = 0; at < 4; at += 1) await stage.addPod(`filler-${at}`, { labels: { app: 'filler' }, spec: spec() });
  await stage.settle();
}

/** What a drain and the gang's owner do: the rest goes, kubelets end it, and all four are made again. */
async function comeBack({ evicting, stage }: Play): Promise<void> {
  for (const name of MEMBERS.slice(1)) expect((await evicting.evict(name)).code).toBe(201);
  await stage.settle();
  expect(await endMembers(stage)).toEqual(MEMBERS);
  for (const name of MEMBERS) await stage.addPod(name, { labels: { app: 'a' }, group: 'g', spec: spec() });
  await stage.settle();
  await endPlaceholders(stage);
  await stage.pass(60);
}

async function endMembers(stage: Stage): Promise<string[]> {
  return (await stage.endTerminating()).filter((name) => name.startsWith('g-'));
}

async function endPlaceholders(stage: Stage): Promise<void> {
  await stage.endTerminating();
  await stage.settle();
}

async function placeholders({ stage }: Play): Promise<Pod[]> {
  const { items } = await stage.client.list(podType, { namespace: 'default' });
  return items.filter(({ metadata }) => metadata.name?.startsWith(HOLD) && !metadata.deletionTimestamp);
}

const TEN_MINUTES = { 'policy.quorate.dev/capacity-reserve': '10m' };

test(
  'PL-13 CP-12 volcano#5805: a filler that comes after the grant waits, and the gang is back on the held nodes',
  play(TEN_MINUTES, async (scene) => {
    const { evicting, stage } = scene;
    expect((await evicting.evict('g-0')).code).toBe(201);
    await fill(scene);
    expect(await stage.bound('filler')).toEqual([]);
    await comeBack(scene);
    expect(await stage.bound('g-')).toEqual(MEMBERS);
    expect(await stage.bound('filler')).toEqual([]);
    const nodes = await Promise.all(MEMBERS.map(async (name) => (await stage.pod(name)).spec?.nodeName ?? ''));
    expect(nodes.sort()).toEqual(['new-1', 'new-1', 'new-2', 'new-2']);
    expect(await placeholders(scene)).toEqual([]);
  }),
);

test(
  'PL-13 without a reservation the filler takes the room and the gang does not come back',
  play({}, async (scene) => {
    const { evicting, stage } = scene;
    expect((await evicting.evict('g-0')).code).toBe(201);
    await fill(scene);
    expect(await stage.bound('filler')).toHaveLength(4);
    await comeBack(scene);
    expect(await stage.bound('g-')).toEqual([]);
  }),
);

test(
  'CP-10 a placeholder for every member: its size and priority, never preempting, pinned, owned by the budget, unlabelled',
  play(TEN_MINUTES, async (scene) => {
    const { evicting, stage } = scene;
    expect((await evicting.evict('g-0')).code).toBe(201);
    const held = await placeholders(scene);
    const budget = await evicting.getBudget();
    expect(held).toHaveLength(4);
    for (const { metadata, spec: made } of held) {
      expect(metadata.labels).toEqual({
        'policy.quorate.dev/hold': 'true',
        'app.kubernetes.io/managed-by': 'quorate',
      });
      expect(metadata.ownerReferences).toMatchObject([{ kind: 'PodDisruptionBudget', uid: budget.metadata.uid }]);
      expect(metadata.ownerReferences?.[0]?.controller).toBeUndefined();
      expect(made).toMatchObject({ priority: 100, preemptionPolicy: 'Never', priorityClassName: 'quorate-hold-100' });
      expect(made?.containers[0]?.resources?.requests).toEqual({ cpu: '1000m' });
      expect(made?.activeDeadlineSeconds).toBe(660);
    }
    expect(held.map((pod) => pod.spec?.nodeName ?? '').sort()).toEqual(['new-1', 'new-1', 'new-2', 'new-2']);
    await stage.settle();
    expect(await placeholders(scene)).toHaveLength(4);
  }),
);

test(
  'CP-19 placeholders of low priority hold nothing against a filler: it pushes them out, and the gang stays down',
  play({ ...TEN_MINUTES, 'policy.quorate.dev/capacity-reserve-priority': 'Low' }, async (scene) => {
    const { evicting, stage } = scene;
    expect((await evicting.evict('g-0')).code).toBe(201);
    const held = await placeholders(scene);
    expect(held.map(({ spec: made }) => made?.priority)).toEqual([-5, -5, -5, -5]);
    expect(held[0]?.spec).toMatchObject({ priorityClassName: 'quorate-hold-low', preemptionPolicy: 'Never' });
    await fill(scene);
    await endPlaceholders(stage);
    await stage.pass(60);
    expect(await stage.bound('filler')).not.toEqual([]);
    for (const name of MEMBERS.slice(1)) expect((await evicting.evict(name)).code).toBe(201);
    await stage.endTerminating();
    for (const name of MEMBERS) await stage.addPod(name, { labels: { app: 'a' }, group: 'g', spec: spec() });
    await stage.pass(60);
    expect(await stage.bound('g-')).toEqual([]);
  }),
);

test(
  'CP-16 members that do not come back: the room is given back at the deadline, said once, and held no more',
  play(TEN_MINUTES, async (scene) => {
    const { evicting, stage } = scene;
    expect((await evicting.evict('g-0')).code).toBe(201);
    await stage.pass(599);
    expect(await placeholders(scene)).toHaveLength(4);
    await stage.pass(2);
    expect(await placeholders(scene)).toEqual([]);
    expect(await evicting.events('HoldExpired')).toHaveLength(1);
  }),
);

test(
  'CP-14 a quota that cannot take the group once more: 429 with its name, and with Proceed granted without a hold',
  play(TEN_MINUTES, async (scene) => {
    const { evicting, stage } = scene;
    await stage.client.create(builtinType('ResourceQuota'), {
      metadata: { name: 'small', namespace: 'default' },
      spec: { hard: { 'requests.cpu': '6' } },
      status: { hard: { 'requests.cpu': '6' }, used: { 'requests.cpu': '4' } },
    } as KubeObject);
    await stage.client.patch(
      builtinType('ResourceQuota'),
      { namespace: 'default', name: 'small' },
      { type: 'merge', body: { status: { hard: { 'requests.cpu': '6' }, used: { 'requests.cpu': '4' } } } },
      { subresource: 'status' },
    );
    const refused = await evicting.evict('g-0');
    expect(refused.code).toBe(429);
    expect(refused.status.message).toContain('ReserveFailed: exceeded quota: small');
    expect(await placeholders(scene)).toEqual([]);
    await stage.client.patch(
      podDisruptionBudgetType,
      { namespace: 'default', name: 'foo' },
      {
        type: 'merge',
        body: { metadata: { annotations: { 'policy.quorate.dev/capacity-reserve-failure': 'Proceed' } } },
      },
    );
    await stage.settle();
    expect((await evicting.evict('g-0')).code).toBe(201);
    expect(await placeholders(scene)).toEqual([]);
  }),
);

test(
  'CP-20 a budget over everything counts no placeholders, and evictions of them pass',
  play(TEN_MINUTES, async (scene) => {
    const { evicting, stage } = scene;
    await evicting.budget({ selector: {}, minAvailable: 1 }, { name: 'all' });
    await stage.settle();
    const [, , , before] = await evicting.numbers('all');
    await stage.client.delete(podDisruptionBudgetType, { namespace: 'default', name: 'all' });
    await stage.settle();
    expect((await evicting.evict('g-0')).code).toBe(201);
    await evicting.budget({ selector: {}, minAvailable: 1 }, { name: 'all' });
    await stage.settle();
    expect((await evicting.numbers('all'))[3]).toBe(before);
    const [held] = await placeholders(scene);
    expect((await evicting.evict(held?.metadata.name ?? '')).code).toBe(201);
  }),
);

test(
  'CP-17 the budget is deleted: what it held is given back',
  play(TEN_MINUTES, async (scene) => {
    expect((await scene.evicting.evict('g-0')).code).toBe(201);
    await scene.stage.client.delete(podDisruptionBudgetType, { namespace: 'default', name: 'foo' });
    await scene.stage.pass(61);
    expect(await placeholders(scene)).toEqual([]);
  }),
);

test(
  'a group that goes as one by GroupEviction has its room held too',
  play(TEN_MINUTES, async (scene) => {
    const answer = await scene.evicting.post('/apis/policy.quorate.dev/v1alpha1/namespaces/default/groupevictions', {
      apiVersion: 'policy.quorate.dev/v1alpha1',
      kind: 'GroupEviction',
      metadata: { name: 'go', namespace: 'default' },
      spec: { podGroupName: 'g' },
    });
    expect(answer.code).toBe(201);
    expect(await placeholders(scene)).toHaveLength(4);
  }),
);

test(
  'a dry run holds nothing',
  play(TEN_MINUTES, async (scene) => {
    expect((await scene.evicting.evict('g-0', {}, '?dryRun=All')).code).toBe(201);
    expect(await placeholders(scene)).toEqual([]);
  }),
);

/** What is more important than the gang, as large as all that is held on a node. */
async function addRival({ stage }: Play): Promise<void> {
  await stage.client.create(builtinType('PriorityClass', 'scheduling.k8s.io'), {
    metadata: { name: 'rival' },
    value: 200,
  } as KubeObject);
  const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '2' } } }];
  const nodeSelector = { 'kubernetes.io/hostname': 'new-1' };
  await stage.addPod('rival', {
    labels: { app: 'rival' },
    spec: { containers, nodeSelector, priorityClassName: 'rival' },
  });
  await stage.settle();
  await endPlaceholders(stage);
  await stage.pass(5);
}

/** All members are told to go; the first has gone. */
async function takeGang({ evicting }: Play): Promise<void> {
  for (const name of MEMBERS) expect((await evicting.evict(name)).code).toBe(201);
}

const REPLACED = 'policy.quorate.dev/hold-replaced';

test(
  'CP-13 what is more important takes held room: it is held elsewhere, and the gang is back there',
  play(TEN_MINUTES, async (scene) => {
    const { evicting, stage } = scene;
    await takeGang(scene);
    await stage.addNode('new-3', 2);
    await addRival(scene);
    expect(await stage.bound('rival')).toEqual(['rival']);
    const held = await placeholders(scene);
    expect(held.map((pod) => pod.spec?.nodeName ?? '').sort()).toEqual(['new-2', 'new-2', 'new-3', 'new-3']);
    expect(held.filter(({ metadata }) => metadata.annotations?.[REPLACED] === 'true')).toHaveLength(2);
    expect(await evicting.events('CapacityLost')).toEqual([]);
    for (const name of MEMBERS) await stage.addPod(name, { labels: { app: 'a' }, group: 'g', spec: spec() });
    await stage.settle();
    await endPlaceholders(stage);
    await stage.pass(60);
    const nodes = await Promise.all(MEMBERS.map(async (name) => (await stage.pod(name)).spec?.nodeName ?? ''));
    expect(nodes.sort()).toEqual(['new-2', 'new-2', 'new-3', 'new-3']);
  }),
);

test(
  'CP-13 held room is lost and there is none elsewhere: CapacityLost, and no other group goes until the gang is whole',
  play(TEN_MINUTES, async (scene) => {
    const { evicting, stage } = scene;
    await stage.addNode('beside', 3);
    await stage.addGang('other', 1, { priorityClassName: 'important' });
    const other = spec({ schedulingGroup: { podGroupName: 'other' }, containers: [{ name: 'main', image: 'x' }] });
    await evicting.pod('other-0', { node: 'beside', spec: other as unknown as Record<string, unknown> });
    await stage.addPod('blocker', { cpu: 3, labels: { app: 'blocker' }, spec: { nodeName: 'beside' } });
    await stage.settle();
    await takeGang(scene);
    await addRival(scene);
    const [lost, ...more] = await evicting.events('CapacityLost');
    expect(more).toEqual([]);
    expect(lost?.message).toContain('(by pod); no other group goes until it is whole again');
    const said = async () =>
      (await evicting.getBudget()).status?.conditions?.find(({ type }) => type === 'CapacityAvailable');
    expect(await said()).toMatchObject({ status: 'False', reason: 'CapacityLost' });
    const refused = await evicting.evict('other-0');
    expect(refused.code).toBe(429);
    expect(refused.status.message).toContain('CapacityLost: default/');
    // What has the room goes, and the gang is made again.
    await stage.client.delete(podType, { namespace: 'default', name: 'rival' }, { gracePeriodSeconds: 0 });
    for (const name of MEMBERS) {
      const member = spec({ schedulingGroup: { podGroupName: 'g' } });
      await evicting.pod(name, { node: 'new-2', spec: member as unknown as Record<string, unknown> });
    }
    await stage.settle();
    await stage.pass(61);
    expect((await said())?.reason).not.toBe('CapacityLost');
    expect((await evicting.evict('other-0')).code).toBe(201);
  }),
);
