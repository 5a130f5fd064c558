/** Capacity before disruption: a group goes down only while all of it finds places. */
import { expect, test } from 'vitest';
import { nodeType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { explainTarget } from '../../../src/tasks/why/index.ts';
import { node } from '../../../src/testkit/index.ts';
import { type Stage, withController, workloadType } from './support.ts';

const GPU = 'nvidia.com/gpu';

/** New nodes are tainted until somebody finds them ready. */
async function gpuNode({ plane }: Stage, name: string, gpus: number, unschedulable = false): Promise<void> {
  await plane.client.create(nodeType, node({ name, unschedulable, capacity: { [GPU]: String(gpus) } }));
  await plane.client.patch(nodeType, { name }, { type: 'merge', body: { spec: { taints: null } } });
}

/** Gangs of four with a GPU each, all on `old`, which is cordoned; `room` GPUs are free elsewhere. */
async function gangs(
  stage: Stage,
  { room, gangs: count = 1, capacity = 'Require', minCount = 4 }: GangOptions,
): Promise<void> {
  const { client } = stage.plane;
  await gpuNode(stage, 'old', 4 * count, true);
  await gpuNode(stage, 'new', room);
  await client.create(workloadType, {
    metadata: { name: 'w', namespace: 'default' },
    spec: { podGroups: [{ name: 'g', replicas: count, policy: { gang: { minCount } } }] },
  });
  await client.create(podDisruptionBudgetType, {
    metadata: { name: 'foo', namespace: 'default', annotations: { 'policy.quorate.dev/capacity': capacity } },
    spec: { selector: { matchLabels: { app: 'a' } }, maxUnavailable: '100%' },
  });
  for (let gang = 0; gang < count; gang += 1) {
    for (let at = 0; at < 4; at += 1) {
      const workloadRef = { name: 'w', podGroup: 'g', podGroupReplicaKey: String(gang) };
      const containers = [
        { name: 'main', image: 'x', resources: { requests: { [GPU]: '1' }, limits: { [GPU]: '1' } } },
      ];
      await stage.pod(`g${gang}p${at}`, { node: 'old', spec: { workloadRef, containers } });
    }
  }
  await stage.settle();
}

interface GangOptions {
  readonly room: number;
  readonly gangs?: number;
  readonly capacity?: string;
  readonly minCount?: number;
}

const reasons = (answer: Awaited<ReturnType<Stage['evict']>>): string[] =>
  answer.status.details?.causes?.map(({ message, reason }) => (reason === 'NoRoom' ? message : reason) ?? '') ?? [];

test(
  'CP-01 CP-04 a gang of four with room for four elsewhere goes, and all of it once it has begun',
  withController(async (stage) => {
    await gangs(stage, { room: 4 });
    expect((await stage.evict('g0p0')).code).toBe(201);
    await stage.pod('filler', { node: 'new', labels: {}, spec: gpus(4) });
    expect((await stage.evict('g0p1')).code).toBe(201);
  }),
);

const gpus = (count: number) => ({
  containers: [
    { name: 'main', image: 'x', resources: { requests: { [GPU]: String(count) }, limits: { [GPU]: String(count) } } },
  ],
});

test(
  'CP-02 with room for three it stays: 429, the budget and the binding constraint as causes, nothing charged',
  withController(async (stage) => {
    await gangs(stage, { room: 3 });
    const before = await stage.numbers();
    const refused = await stage.evict('g0p0');
    expect(refused.code).toBe(429);
    expect(refused.retryAfter).toBe('10');
    expect(reasons(refused).slice(0, 2)).toEqual([
      'DisruptionBudget',
      `NoRoom: 4 × ${GPU}; 3 are free on 1 node that matches`,
    ]);
    expect(await stage.numbers()).toEqual(before);
    const why = await explainTarget(stage.plane.client, { target: 'pod/g0p0', namespace: 'default', now: stage.now });
    expect(why.granted).toBe(false);
    expect(why.lines.join('\n')).toContain(`NoRoom: 4 × ${GPU}`);
  }),
);

test(
  'CP-03 a spare member goes without a question',
  withController(async (stage) => {
    await gangs(stage, { room: 0, minCount: 3 });
    expect((await stage.evict('g0p0')).code).toBe(201);
    expect((await stage.evict('g0p1')).code).toBe(429);
  }),
);

test(
  'CP-06 two gangs and room for one: the second waits, and goes when the first has come back elsewhere',
  withController(async (stage) => {
    await gangs(stage, { room: 4, gangs: 2 });
    expect((await stage.evict('g0p0')).code).toBe(201);
    expect((await stage.evict('g1p0')).code).toBe(429);
    await gpuNode(stage, 'newer', 4);
    expect((await stage.evict('g1p0')).code).toBe(201);
  }),
);

test(
  'CP-07 a dry run is told the same and keeps nothing',
  withController(async (stage) => {
    await gangs(stage, { room: 4, gangs: 2 });
    expect((await stage.evict('g0p0', {}, '?dryRun=All')).code).toBe(201);
    expect((await stage.evict('g1p0')).code).toBe(201);
    expect((await stage.evict('g0p0', {}, '?dryRun=All')).code).toBe(429);
  }),
);

test(
  'CP-09 a word that is not known counts as Require, Ignore as nothing',
  withController(async (stage) => {
    await gangs(stage, { room: 0, capacity: 'Requires' });
    expect((await stage.evict('g0p0')).code).toBe(429);
    await stage.plane.client.patch(
      podDisruptionBudgetType,
      { namespace: 'default', name: 'foo' },
      { type: 'merge', body: { metadata: { annotations: { 'policy.quorate.dev/capacity': 'Ignore' } } } },
    );
    await stage.settle();
    expect((await stage.evict('g0p0')).code).toBe(201);
  }),
);

test(
  'the gang enters its own room again where nothing keeps it from there',
  withController(async (stage) => {
    await gangs(stage, { room: 0 });
    await stage.plane.client.patch(
      nodeType,
      { name: 'old' },
      { type: 'merge', body: { spec: { unschedulable: null } } },
    );
    expect((await stage.evict('g0p0')).code).toBe(201);
    expect((await stage.plane.client.list(podType, { namespace: 'default' })).items.length).toBeGreaterThan(0);
  }),
);
