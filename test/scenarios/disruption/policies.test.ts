/** Budgets over time on a whole control plane: every door asks them, in the decision that asks budgets. */
import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import {
  type DisruptionLimits,
  type DisruptionPolicy,
  disruptionPolicyType,
} from '../../../src/api/quorate/disruption-policy.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import { explainTarget } from '../../../src/tasks/index.ts';
import { World } from '../maintenance/fixture.ts';

const namespace = 'default';
const HOUR_MS = 3_600_000;
let world: World;
afterEach(() => world.stop());

async function limit(limits: DisruptionLimits, name = 'nightly'): Promise<void> {
  await world.client.create(disruptionPolicyType, { metadata: { name, namespace }, spec: { selector: {}, limits } });
  await world.pass(1);
}

const policy = (name = 'nightly'): Promise<DisruptionPolicy> =>
  world.client.get(disruptionPolicyType, { namespace, name });

async function members(gang: string): Promise<Pod[]> {
  const { items } = await world.client.list(podType, { namespace });
  return items.filter(({ metadata }) => metadata.name?.startsWith(`${gang}-`));
}

/** The code of the answer, and its causes. */
async function answerOf(asked: Promise<unknown>): Promise<{ code: number; message: string; causes: string[] }> {
  try {
    await asked;
    return { code: 201, message: '', causes: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const causes = (error.status.details?.causes ?? []).map(({ reason }) => reason ?? '');
    return { code: error.code, message: error.message, causes };
  }
}

async function evict(gang: string, dryRun = false): ReturnType<typeof answerOf> {
  const [pod] = await members(gang);
  const name = pod?.metadata.name ?? '';
  const deleteOptions = dryRun ? { dryRun: ['All'] } : {};
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
  return answerOf(world.client.createSubresource(podType, { namespace, name }, 'eviction', body));
}

test('DP-02, DP-13: two gangs in an hour; the rest of a gang that goes is part of its disruption', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(3);
  await limit({ maxDisruptions: [{ count: 2, per: '1h' }] });
  expect((await evict('g0', true)).code).toBe(201);
  expect((await policy()).status?.ledger?.some(({ disruptions }) => disruptions !== undefined)).toBe(false);
  expect((await evict('g0')).code).toBe(201);
  expect((await evict('g0')).code).toBe(201);
  expect((await evict('g1')).code).toBe(201);
  const refused = await evict('g2');
  expect(refused.code).toBe(429);
  expect(refused.message).toContain(
    'DisruptionPolicy default/nightly does not allow default/PodGroup/g2 to be disrupted now: 2 of 2 disruptions in 1h0m0s are used (g0 ',
  );
  expect(refused.causes.slice(0, 2)).toEqual(['DisruptionPolicy', 'policy.quorate.dev/next-allowed']);
  const [pod] = await members('g2');
  const asked = { target: `pod/${pod?.metadata.name}`, namespace, now: world.plane.clock.now() };
  const why = await explainTarget(world.client, asked);
  expect(why.granted).toBe(false);
  expect(why.lines.join('\n')).toMatch(/TimeBudgetSpent.*2 of 2 disruptions.*To unblock: wait until /s);
  await world.pass(20);
  const { conditions, selectedGroups, summary } = (await policy()).status ?? {};
  expect(selectedGroups).toBe(3);
  expect(summary?.allowed).toMatch(/^TimeBudgetSpent until \d\d:\d\d$/);
  expect(conditions?.map(({ reason, status, type }) => `${type} ${status} ${reason}`)).toEqual([
    'Ready True Counting',
    'Allowing False TimeBudgetSpent',
  ]);
  const first = (await policy()).status?.ledger?.find(({ group }) => group === 'PodGroup/g0');
  const begun = Date.parse(first?.disruptions?.[0]?.at ?? '');
  const until = (time: number): Promise<void> => world.plane.clock.advance(time - world.plane.clock.now());
  await until(begun + HOUR_MS - 1);
  expect((await evict('g2')).code).toBe(429);
  // Exactly an hour after the first.
  await until(begun + HOUR_MS);
  expect(world.plane.clock.now()).toBe(begun + HOUR_MS);
  expect(await evict('g2')).toEqual({ code: 201, message: '', causes: [] });
});

test('DP-03, DP-04: the ledger follows a gang down and up again, and it is left alone after that', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(1);
  await limit({ minInterval: '1h' });
  await limit({ settle: { afterRecovery: '30m' } }, 'settling');
  expect((await evict('g0')).code).toBe(201);
  await world.pass(20);
  const group = (await policy('settling')).status?.ledger?.[0];
  expect(group).toMatchObject({ group: 'PodGroup/g0', disruptions: [{ state: 'Gone', way: 'Eviction' }] });
  expect(group?.down).toHaveLength(1);
  const refused = await evict('g0');
  expect(refused.message).toContain('DisruptionPolicy default/nightly');
  expect(refused.causes.filter((reason) => reason === 'DisruptionPolicy')).toHaveLength(2);
});

test('DP-10: where a budget refuses as well its cause comes first, and nothing is entered', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(1, { allowed: 0 });
  await limit({ windows: [{ start: '00:00', duration: '1m', days: ['Mon'] }] });
  const before = (await policy()).status;
  const { causes, code } = await evict('g0');
  expect(code).toBe(429);
  expect(causes.slice(0, 2)).toEqual(['DisruptionBudget', 'DisruptionPolicy']);
  expect((await policy()).status).toEqual(before);
});

test('DP-11: of two policies the one that refuses is named, and neither counts anything', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2);
  await limit({ maxDisruptions: [{ count: 1, per: '1h' }] });
  await limit({ maxDisruptions: [{ count: 5, per: '1h' }] }, 'roomy');
  expect((await evict('g0')).code).toBe(201);
  const counted = async (name: string) =>
    (await policy(name)).status?.ledger?.flatMap(({ disruptions, group }) => (disruptions ? [group] : []));
  const { causes, code, message } = await evict('g1');
  expect(code).toBe(429);
  expect(message).toContain('DisruptionPolicy default/nightly does not allow default/PodGroup/g1');
  expect(message).not.toContain('roomy');
  expect(causes.filter((reason) => reason === 'DisruptionPolicy')).toHaveLength(1);
  for (const name of ['nightly', 'roomy']) expect(await counted(name)).toEqual(['PodGroup/g0']);
  await world.client.delete(disruptionPolicyType, { namespace, name: 'nightly' });
  await world.pass(1);
  expect((await evict('g1')).code).toBe(201);
});

test('DP-14 on the embedded host: of many at once exactly one is granted', async () => {
  world = await World.start({ nodes: 6 });
  await world.gangs(6);
  await limit({ maxDisruptions: [{ count: 1, per: '1h' }] });
  const answers = await Promise.all([0, 1, 2, 3, 4, 5].map((at) => evict(`g${at}`)));
  expect(answers.filter(({ code }) => code === 201)).toHaveLength(1);
  expect(answers.filter(({ code }) => code === 429)).toHaveLength(5);
});

test('a GroupEviction is bound and counted like any other way', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2);
  await limit({ maxDisruptions: [{ count: 1, per: '1h' }] });
  const whole = (name: string): ReturnType<typeof answerOf> =>
    answerOf(world.client.create(groupEvictionType, { metadata: { name, namespace }, spec: { podGroupName: name } }));
  expect((await whole('g0')).code).toBe(201);
  const { code, message } = await whole('g1');
  expect(code).toBe(429);
  expect(message).toContain('1 of 1 disruptions in 1h0m0s are used (g0 ');
  expect((await members('g1')).every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
});

test('a Maintenance waits for a policy and names it', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(1);
  await limit({ maxDisruptions: [{ count: 0, per: '1h' }] });
  const [pod] = await members('g0');
  await world.maintain('m', { nodes: { names: [pod?.spec?.nodeName ?? ''] } });
  await world.pass(2);
  const { blockers, phase } = (await world.get('m')).status ?? {};
  expect(phase).toBe('Pending');
  expect(blockers?.[0]).toMatchObject({ kind: 'DisruptionPolicy', name: 'nightly', reason: 'TimeBudget' });
});
