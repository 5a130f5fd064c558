/** In what order groups may go, written on the pods for those who choose among pods. */
import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { eventType, podDisruptionBudgetType, podType, replicaSetType } from '../../src/api/resource-types.ts';
import { createGroupCostController } from '../../src/controllers/quorate/group-cost/index.ts';
import { type Components, runComponents } from '../../src/app/run-components.ts';
import { Metrics, silentLogger } from '../../src/machinery/runtime/index.ts';
import { startWorld, type World } from './downscale/world.ts';

const DELETION = 'controller.kubernetes.io/pod-deletion-cost';
const KARPENTER = 'karpenter.sh/disruption-cost';
const COST = 'policy.quorate.dev/disruption-cost';
const MARK = 'policy.quorate.dev/published-cost';
const PICK = 'policy.quorate.dev/downscale-pick';

let w: World;
let later: Components | undefined;
afterEach(async () => {
  later?.stop();
  later = undefined;
  await w.stop();
});

/** A ReplicaSet whose pods are groups of `size` by their label, under a budget; each group's cost is told by its pods. */
async function start(costs: readonly number[], { forKarpenter = false, size = 2 } = {}): Promise<void> {
  w = await startWorld({ starts: [createGroupCostController({ forKarpenter })] });
  const { client } = w;
  const replicas = costs.length * size;
  await client.create(replicaSetType, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
    },
  });
  await w.settle();
  for (const [at, { metadata }] of (await w.pods()).entries()) {
    const group = Math.floor(at / size);
    await patch(metadata.name ?? '', { [COST]: String((costs[group] ?? 0) / size) }, { group: `g${group}` });
    await w.bring(metadata.name ?? '');
  }
  await client.create(podDisruptionBudgetType, {
    metadata: {
      name: 'web',
      namespace: 'default',
      annotations: {
        'policy.quorate.dev/group-by': 'label:group',
        'policy.quorate.dev/group-min-count': String(size),
      },
    },
    spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
  });
  await w.settle();
}

const patch = (name: string, annotations: Record<string, string | null>, labels = {}) =>
  w.client.patch(
    podType,
    { namespace: 'default', name },
    { type: 'merge', body: { metadata: { annotations, labels } } },
  );

async function pass(seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at += 1) await w.advance(1_000);
}

const said = async (annotation = DELETION): Promise<Record<string, (string | undefined)[]>> => {
  const groups: Record<string, (string | undefined)[]> = {};
  for (const { metadata } of await w.pods()) {
    if (metadata.deletionTimestamp === undefined)
      (groups[metadata.labels?.['group'] ?? ''] ??= []).push(metadata.annotations?.[annotation]);
  }
  return groups;
};

const versions = async (): Promise<string[]> => (await w.pods()).map(({ metadata }) => metadata.resourceVersion ?? '');
const first = async (group: string): Promise<Pod> => (await w.pods(`group=${group}`))[0] as Pod;

test('CO-09: groups of a ReplicaSet carry their rank, and a downscale takes the first of them whole', async () => {
  await start([10, 20, 30]);
  await pass(15);
  expect(await said()).toEqual({ g0: ['0', '0'], g1: ['10', '10'], g2: ['20', '20'] });
  await w.scale(replicaSetType, 'web', 4);
  expect(Object.keys(await said()).sort()).toEqual(['g1', 'g2']);
});

test('CO-10: a cost that a user has set stands, and is told of once; a pick stands while it lasts', async () => {
  await start([10, 20, 30]);
  const { metadata } = await first('g1');
  const name = metadata.name ?? '';
  await patch(name, { [DELETION]: '7' });
  await pass(40);
  expect((await said())['g1']?.sort()).toEqual(['10', '7']);
  const { items } = await w.client.list(eventType, { namespace: 'default' });
  const told = items.filter(({ reason }) => reason === 'GroupCostNotPublished');
  expect(told.map(({ count = 1, involvedObject }) => [involvedObject?.name, count])).toEqual([[name, 1]]);

  const other = (await first('g2')).metadata.name ?? '';
  const note = JSON.stringify({ cost: '-2147483648', before: '20', generation: 1 });
  await patch(other, { [DELETION]: '-2147483648', [PICK]: note });
  await pass(70);
  expect((await first('g2')).metadata.annotations?.[DELETION]).toBe('-2147483648');
  await patch(other, { [DELETION]: '20', [PICK]: null });
  await pass(70);
  expect((await said())['g2']).toEqual(['20', '20']);
});

test('CO-11: nothing is written while the order stays; where two groups swap, only their pods, twenty a second', async () => {
  await start([120, 240, 360], { size: 12 });
  await w.advance(1_000);
  for (let second = 0; second < 15 && !(await isPublished()); second += 1) {
    const before = new Set(await versions());
    await w.advance(1_000);
    expect((await versions()).filter((version) => !before.has(version)).length).toBeLessThanOrEqual(20);
  }
  expect(await isPublished()).toBe(true);
  const quiet = await versions();
  await pass(600);
  expect(await versions()).toEqual(quiet);
  // The second becomes the cheapest.
  for (const { metadata } of await w.pods('group=g1')) await patch(metadata.name ?? '', { [COST]: '0' });
  const third = (await w.pods('group=g2')).map(({ metadata }) => metadata.resourceVersion);
  await pass(30);
  expect((await said())['g1']?.[0]).toBe('0');
  expect((await said())['g0']?.[0]).toBe('10');
  expect((await w.pods('group=g2')).map(({ metadata }) => metadata.resourceVersion)).toEqual(third);
});

const isPublished = async (): Promise<boolean> =>
  (await w.pods()).every(({ metadata }) => metadata.annotations?.[MARK] !== undefined);

test('CO-12: each member carries its share of what the group costs for Karpenter; turned off, what is ours goes', async () => {
  await start([1600, 0], { forKarpenter: true, size: 8 });
  await pass(15);
  expect(new Set((await said(KARPENTER))['g0'])).toEqual(new Set(['200']));
  const { metadata } = await first('g0');
  await patch(metadata.name ?? '', { [KARPENTER]: '5' });
  await pass(60);
  w.components.stop();
  later = runComponents(
    {
      transportFor: () => w.plane.transport,
      clock: w.clock,
      log: silentLogger,
      random: () => 0.5,
      metrics: new Metrics(),
    },
    [createGroupCostController()],
  );
  await later.informers.whenSynced();
  for (let second = 0; second < 15; second += 1) {
    await w.clock.advance(1_000);
    await w.until(() => later?.isIdle() ?? true);
  }
  expect((await said(KARPENTER))['g0']?.filter((value) => value !== undefined)).toEqual(['5']);
});
