/** Drains that wait for each other in a ring: said on each, and dissolved where asked for. */
import { afterEach, expect, test } from 'vitest';
import type { MaintenanceSpec } from '../../../src/api/quorate/maintenance.ts';
import { nodeType, podDisruptionBudgetType } from '../../../src/api/resource-types.ts';
import { explainTarget } from '../../../src/tasks/index.ts';
import { podDisruptionBudget } from '../../../src/testkit/index.ts';
import { told, World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

const mark = (node: string, labels: Record<string, string>): Promise<unknown> =>
  world.client.patch(nodeType, { name: node }, { type: 'merge', body: { metadata: { labels } } });

/**
 * Two drains and a budget that can spare nobody while two of its four gangs are down: `x` waits for the node of drain b,
 * `y` for that of drain a. One of the two back would be enough.
 */
async function plant(a: Partial<MaintenanceSpec> = {}, b: Partial<MaintenanceSpec> = {}): Promise<void> {
  world = await World.start({ nodes: 3 });
  const only = async (node: string, prefix: string): Promise<void> => {
    for (const at of [0, 1, 2]) await world.setCordon(`node-${at}`, `node-${at}` === node ? null : true);
    await world.gangs(1, { size: 1, prefix });
  };
  await only('node-0', 'a');
  await only('node-1', 'b');
  for (const at of [0, 1, 2]) await world.setCordon(`node-${at}`, null);
  for (const prefix of ['x', 'y'])
    await world.begin(prefix, { size: 1, fleet: prefix, spec: { nodeSelector: { for: prefix } } });
  const selector = { matchExpressions: [{ key: 'fleet', operator: 'In', values: ['a', 'b', 'x', 'y'] }] };
  const spec = { maxUnavailable: 2, selector };
  await world.client.create(podDisruptionBudgetType, podDisruptionBudget({ name: 'all', spec }));
  await world.pass(3);
  const shared = { mode: 'BestEffort', uncordon: 'WhenFinished' } as const;
  await world.maintain('a', { nodes: { names: ['node-0'] }, ...shared, ...a });
  await world.pass(2);
  await world.maintain('b', { nodes: { names: ['node-1'] }, ...shared, ...b });
  await world.is('a', 'Blocked');
  await world.is('b', 'Blocked');
}

/** From now on each of the two gangs fits on a node that a drain keeps. */
async function close(): Promise<void> {
  await mark('node-1', { for: 'x' });
  await mark('node-0', { for: 'y' });
}

const isDeadlocked = async (name: string): Promise<string | undefined> => told(await world.get(name))['Deadlocked'];

test('WG-01: a ring is said on both drains within 10 s, as text and with the one to pause', async () => {
  // WG-03: Yield on another than the one that costs least does nothing.
  await plant({ onDeadlock: 'Yield' });
  await world.pass(6);
  expect(await isDeadlocked('a')).toBe('False NoCycle');
  await close();
  await world.pass(10);
  for (const name of ['a', 'b']) {
    const { status } = await world.get(name);
    const said = status?.conditions?.find(({ type }) => type === 'Deadlocked');
    expect(said).toMatchObject({ status: 'True', reason: 'CycleFound' });
    expect(said?.message).toMatch(
      /^PodDisruptionBudget default\/all → group .* → capacity for .* → drain\/[ab] → PodDis/,
    );
    expect(said?.message).toMatch(/cheapest to pause: drain\/b$/);
    expect(status?.waitsFor).toEqual(['PodDisruptionBudget default/all']);
  }
  const { items } = await world.client.request<{ items: { reason?: string; involvedObject: { name: string } }[] }>(
    'GET',
    '/api/v1/events',
  );
  const about = items
    .filter(({ reason }) => reason === 'DeadlockFound')
    .map(({ involvedObject }) => involvedObject.name);
  expect(about.sort()).toEqual(['a', 'b']);
  for (const node of ['node-0', 'node-1']) expect((await world.node(node)).spec?.unschedulable).toBe(true);
  const why = await explainTarget(world.client, { target: 'node/node-0', namespace: '', now: world.plane.clock.now() });
  expect(why.lines.join('\n')).toMatch(
    /Drain a: Blocked\.\n {2}waits for PodDisruptionBudget default\/all\n[^]*DEADLOCK: /,
  );
  // WG-02: an open node fits.
  await mark('node-2', { for: 'x' });
  await world.pass(4);
  expect([await isDeadlocked('a'), await isDeadlocked('b')]).toEqual(['False NoCycle', 'False NoCycle']);
});

test('WG-02: nothing is said while an open node fits, or a person paused one', async () => {
  await plant();
  await mark('node-2', { for: 'x' });
  await world.change('a', { paused: true });
  await close();
  await world.pass(12);
  expect([await isDeadlocked('a'), await isDeadlocked('b')]).toEqual(['False NoCycle', 'False NoCycle']);
});

test('WG-02: nothing is said while one waits for its window with its nodes cordoned; it is once that opens', async () => {
  world = await World.start({ nodes: 4 });
  const only = async (node: string, prefix: string): Promise<void> => {
    for (const at of [0, 1, 2, 3]) await world.setCordon(`node-${at}`, `node-${at}` === node ? null : true);
    await world.gangs(1, { size: 1, prefix });
  };
  for (const [node, prefix] of [
    ['node-0', 'a'],
    ['node-3', 'c'],
    ['node-1', 'b'],
  ] as const)
    await only(node, prefix);
  for (const at of [0, 1, 2, 3]) await world.setCordon(`node-${at}`, null);
  const shared = { mode: 'BestEffort', uncordon: 'WhenFinished' } as const;
  const today = new Date(world.plane.clock.now()).toISOString();
  await world.maintain('a', {
    nodes: { names: ['node-0', 'node-3'] },
    ...shared,
    pace: { maxGroupsDownAtOnce: 1, pauseBetweenSteps: '5m' },
    windows: [{ start: today.slice(11, 16), duration: '2m' }],
  });
  // One gang has moved; before the other does the window closes.
  await world.is('a', 'WaitingForWindow');
  expect((await world.get('a')).status?.step?.number).toBe(1);
  for (const prefix of ['x', 'y'])
    await world.begin(prefix, { size: 1, fleet: prefix, spec: { nodeSelector: { for: prefix } } });
  const selector = { matchExpressions: [{ key: 'fleet', operator: 'In', values: ['a', 'b', 'c', 'x', 'y'] }] };
  const budget = podDisruptionBudget({ name: 'all', spec: { maxUnavailable: 2, selector } });
  await world.client.create(podDisruptionBudgetType, budget);
  await world.maintain('b', { nodes: { names: ['node-1'] }, ...shared });
  await world.is('b', 'Blocked');
  await mark('node-1', { for: 'x' });
  for (const node of ['node-0', 'node-3']) await mark(node, { for: 'y' });
  await world.pass(20);
  expect((await world.get('a')).status?.phase).toBe('WaitingForWindow');
  for (const node of ['node-0', 'node-3']) expect((await world.node(node)).spec?.unschedulable).toBe(true);
  expect(await isDeadlocked('b')).toBe('False NoCycle');
  await world.change('a', { windows: [] });
  await world.is('a', 'Blocked');
  await world.pass(10);
  expect([await isDeadlocked('a'), await isDeadlocked('b')]).toEqual(['True CycleFound', 'True CycleFound']);
});

test('WG-03: with Yield the cheapest lets go, the other ends, and it goes on', async () => {
  await plant({}, { onDeadlock: 'Yield' });
  await close();
  await world.until(async () => (await world.get('b')).status?.phase === 'Paused', 15);
  expect(told(await world.get('b'))['Progressing']).toBe('False Yielded');
  expect((await world.get('b')).spec?.paused).toBeUndefined();
  await world.pass(2);
  expect((await world.node('node-1')).spec?.unschedulable).toBeUndefined();
  expect((await world.ends('a')).status?.phase).toBe('Done');
  await mark('node-2', { for: 'x' });
  expect((await world.ends('b')).status?.phase).toBe('Done');
});
