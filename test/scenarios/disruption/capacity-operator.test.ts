/** Room before disruption where replicas of the operator judge, as on a cluster. */
import { expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import { type CapacityPolicy, POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import type { DisruptionLedger, LedgerRoom } from '../../../src/api/quorate/types.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import type { Plan } from '../../simulation/plan.ts';
import { World } from '../../simulation/world.ts';

/** Three nodes of three CPUs, two replicas, and nothing that goes wrong. */
const CALM: Plan = { seed: 1, host: 'cluster', nodes: 3, gangs: [], plain: 0, steps: [] };

const SETS = '/apis/apps/v1/namespaces/default/replicasets';
const GROUPS = '/apis/scheduling.k8s.io/v1beta1/namespaces/default';

function play(scenario: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const world = new World(CALM, { violated: () => {}, happened: () => {} });
    try {
      await world.start();
      await world.clock.advance(10_000);
      await scenario(world);
    } finally {
      await world.stop();
    }
  };
}

interface SetOptions {
  readonly size: number;
  readonly cpu: string;
  readonly node?: string;
  readonly group?: boolean;
  /** The budget over it. Default: that of its name. */
  readonly budget?: string;
}

/** Pods of one size, as a gang or each for itself. */
async function addSet({ client }: World, name: string, options: SetOptions): Promise<void> {
  const { budget = name, cpu, group = false, node, size } = options;
  if (group) {
    const spec = { schedulingPolicy: { gang: { minCount: size } } };
    const body = { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata: { name }, spec };
    await client.request('POST', `${GROUPS}/podgroups`, body);
  }
  await client.request('POST', SETS, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name },
    spec: {
      replicas: size,
      selector: { matchLabels: { set: name } },
      template: {
        metadata: { labels: { set: name, budget } },
        spec: {
          containers: [{ name: 'main', image: 'x', resources: { requests: { cpu } } }],
          terminationGracePeriodSeconds: 1,
          ...(group && { schedulingGroup: { podGroupName: name } }),
          ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
        },
      },
    },
  });
}

async function addBudget({ client }: World, name: string, annotations: Record<string, string> = {}): Promise<void> {
  await client.create(podDisruptionBudgetType, {
    metadata: { name, namespace: 'default', annotations: { 'policy.quorate.dev/capacity': 'Require', ...annotations } },
    spec: { selector: { matchLabels: { budget: name } }, maxUnavailable: '100%' },
  });
}

/** Counts sets of its label as groups. */
async function addPodBudget(
  { client }: World,
  name: string,
  policy: CapacityPolicy = {},
  minReadyReplicas = 1,
): Promise<void> {
  await client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: { budget: name } },
      maxUnavailable: '100%',
      podGroupPolicy: { groupLabelKey: 'set', minReadyReplicas },
      capacityPolicy: { mode: 'Require', ...policy },
    },
  });
}

async function podsOf({ client }: World, set: string) {
  const { items } = await client.list(podType, { namespace: 'default', labelSelector: `set=${set}` });
  return items.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

const cordon = ({ client }: World, name: string): Promise<unknown> =>
  client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable: true } } });

/** All at once; of each `granted`, or what was said. */
async function evict(world: World, ...names: string[]): Promise<string[]> {
  const asked = Promise.all(names.map((name) => ask(world, name)));
  await world.clock.advance(3000);
  return asked;
}

async function ask({ client }: World, name: string): Promise<string> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } };
  try {
    await client.request('POST', `/api/v1/namespaces/default/pods/${name}/eviction`, body);
    return 'granted';
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

test(
  'CP-01 CP-02 replicas refuse while a gang has no room for all of it, and grant once it has, with the nodes in the ledger',
  play(async (world) => {
    const { client, clock } = world;
    await addSet(world, 'filler', { size: 1, cpu: '3', node: 'node-2' });
    await addBudget(world, 'gang');
    await addSet(world, 'gang', { size: 2, cpu: '2', group: true });
    await clock.advance(8_000);
    const members = await podsOf(world, 'gang');
    expect(new Set(members.map(({ spec }) => spec?.nodeName))).toEqual(new Set(['node-0', 'node-1']));
    await cordon(world, 'node-0');
    await clock.advance(8_000);
    const victim = members[0]?.metadata.name ?? '';
    expect((await evict(world, victim))[0]).toContain('NoRoom: 4 cpu');
    await client.delete(podType, {
      namespace: 'default',
      name: (await podsOf(world, 'filler'))[0]?.metadata.name ?? '',
    });
    await client.request('DELETE', `${SETS}/filler`);
    await clock.advance(20_000);
    const rooms: LedgerRoom[] = [];
    world.history.onCommit((commit) => {
      for (const { after, key } of commit) {
        if (!key.includes('/disruptionledgers/') || rooms.length > 0) continue;
        for (const { room = [] } of (after as unknown as DisruptionLedger)?.status?.grants ?? []) rooms.push(...room);
      }
    });
    expect(await evict(world, victim)).toEqual(['granted']);
    expect(rooms).toHaveLength(2);
    expect(rooms).toContainEqual({ node: 'node-1', pods: 1, amounts: { cpu: 2000 } });
    expect(rooms).toContainEqual({ node: 'node-2', pods: 1, amounts: { cpu: 2000 } });
  }),
);

test.each([
  ['PodDisruptionBudget', addBudget],
  ['PodUnavailableBudget', addPodBudget],
] as const)('CP-06 two gangs under a %s, room for one, asked at once by two replicas: one goes', (_, add) =>
  play(async (world) => {
    const { clock } = world;
    await add(world, 'both');
    for (const name of ['a', 'b']) {
      const node = name === 'a' ? 'node-0' : 'node-1';
      await addSet(world, name, { size: 1, cpu: '3', group: true, budget: 'both' });
      await clock.advance(6_000);
      expect((await podsOf(world, name))[0]?.spec?.nodeName).toBe(node);
      await cordon(world, node);
    }
    await clock.advance(8_000);
    const [first] = await podsOf(world, 'a');
    const [second] = await podsOf(world, 'b');
    const answers = await evict(world, first?.metadata.name ?? '', second?.metadata.name ?? '');
    expect(answers.filter((answer) => answer === 'granted')).toHaveLength(1);
    expect(answers.filter((answer) => answer.includes('NoRoom: 3 cpu'))).toHaveLength(1);
  })(),
);

test(
  'CP-02 a budget that counts pods is refused for want of room too, and Kubernetes decides the rest',
  play(async (world) => {
    const { clock } = world;
    await addBudget(world, 'lone');
    await addSet(world, 'lone', { size: 1, cpu: '3' });
    await addSet(world, 'filler', { size: 2, cpu: '2' });
    await clock.advance(8_000);
    const [pod] = await podsOf(world, 'lone');
    await cordon(world, pod?.spec?.nodeName ?? '');
    await clock.advance(8_000);
    expect((await evict(world, pod?.metadata.name ?? ''))[0]).toContain('NoRoom: 3 cpu');
    await world.client.request('DELETE', `${SETS}/filler`);
    for (const { metadata } of await podsOf(world, 'filler'))
      await world.client.delete(podType, { namespace: 'default', name: metadata.name ?? '' });
    await clock.advance(20_000);
    expect(await evict(world, pod?.metadata.name ?? '')).toEqual(['granted']);
  }),
);

const placeholders = async ({ client }: World): Promise<Pod[]> =>
  (await client.list(podType, { namespace: 'default', labelSelector: 'policy.quorate.dev/hold=true' })).items;

const RESERVE = { 'policy.quorate.dev/capacity-reserve': '10m' };

/** A gang of two on a node that is cordoned, with room for it on another. */
async function gangThatMoves(world: World, add: (world: World, name: string) => Promise<void>): Promise<Pod[]> {
  await add(world, 'gang');
  await addSet(world, 'gang', { size: 2, cpu: '1500m', group: true });
  await addSet(world, 'blocker', { size: 1, cpu: '3' });
  await world.clock.advance(8_000);
  const members = await podsOf(world, 'gang');
  expect(new Set(members.map(({ spec }) => spec?.nodeName)).size).toBe(1);
  await cordon(world, members[0]?.spec?.nodeName ?? '');
  await world.clock.advance(8_000);
  return members;
}

const reserving = (world: World, name: string): Promise<void> => addBudget(world, name, RESERVE);
const reservingPods = (world: World, name: string): Promise<void> =>
  addPodBudget(world, name, { reserveFor: '10m' }, 2);

test.each([
  ['PodDisruptionBudget', reserving],
  ['PodUnavailableBudget', reservingPods],
] as const)(
  'CP-11 CP-12 PL-13 under a %s room is held before the first eviction, a filler waits, and the gang is back on the held node',
  (_, add) =>
    play(async (world) => {
      const { clock } = world;
      const members = await gangThatMoves(world, add);
      const [first = '', second = ''] = members.map(({ metadata }) => metadata.name ?? '');
      expect((await evict(world, first))[0]).toContain('Reserving: 0 of 2 placeholders stand on their nodes');
      const held = await placeholders(world);
      expect(held.map(({ spec }) => spec?.nodeName)).toEqual(
        [...new Set(held.map(({ spec }) => spec?.nodeName))].flatMap((node) => [node, node]),
      );
      await addSet(world, 'filler', { size: 2, cpu: '1' });
      await clock.advance(3_000);
      expect((await podsOf(world, 'filler')).map(({ spec }) => spec?.nodeName)).toEqual([undefined, undefined]);
      expect(await evict(world, first, second)).toEqual(['granted', 'granted']);
      await clock.advance(20_000);
      const back = await podsOf(world, 'gang');
      expect(back.map(({ spec }) => spec?.nodeName)).toEqual([held[0]?.spec?.nodeName, held[0]?.spec?.nodeName]);
      expect((await podsOf(world, 'filler')).map(({ spec }) => spec?.nodeName)).toEqual([undefined, undefined]);
      expect(await placeholders(world)).toEqual([]);
    })(),
);

test(
  'CP-15 a replica that dies between two placeholders: another makes the rest, under the same names',
  play(async (world) => {
    const [member] = await gangThatMoves(world, reserving);
    const name = member?.metadata.name ?? '';
    await evict(world, name);
    const names = (await placeholders(world)).map(({ metadata }) => metadata.name);
    const [lost] = names;
    await world.client.delete(podType, { namespace: 'default', name: lost ?? '' }, { gracePeriodSeconds: 0 });
    expect((await evict(world, name))[0]).toContain('Reserving: 1 of 2');
    expect((await placeholders(world)).map(({ metadata }) => metadata.name)).toEqual(names);
    expect(await evict(world, name)).toEqual(['granted']);
  }),
);
