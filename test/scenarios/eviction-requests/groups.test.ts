/** EvictionRequests for pods of groups, which Kubernetes refuses: section 5.3 of the specification. */
import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import type { PodGroup } from '../../../src/api/generated/scheduling-v1beta1.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { ResourceType } from '../../../src/api/resource.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { pod, podDisruptionBudget } from '../../../src/testkit/index.ts';
import { EVICTOR, namespace, reportOf, told, World } from './fixture.ts';

const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;
const DELETED = ['Failed=False/Succeeded', 'TargetEvicted=True/PodDeleted'];

let world: World;
afterEach(() => world.stop());

/** A gang of four bare pods, Ready: nobody makes them again. */
async function gang(minCount: number, mode: 'all' | 'single'): Promise<Pod[]> {
  world = await World.start(4);
  const spec = { schedulingPolicy: { gang: { minCount } }, disruptionMode: { [mode]: {} } };
  await world.client.create(podGroupType, { metadata: { name: 'g', namespace }, spec });
  for (let at = 0; at < 4; at += 1) {
    const made = pod({ name: `g-${at}`, spec: { schedulingGroup: { podGroupName: 'g' } } });
    await world.client.create(podType, made);
  }
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True') === true;
  await world.until(async () => (await members()).every(isReady));
  return members();
}

const members = async (): Promise<Pod[]> => (await world.client.list(podType, { namespace })).items;
const names = async (): Promise<string[]> => (await members()).map(({ metadata }) => metadata.name ?? '').sort();
const groupEvictions = async (): Promise<number> =>
  (await world.client.list(groupEvictionType, { namespace })).items.length;
const at = (pods: readonly Pod[], index: number): Pod => pods[index] as Pod;

async function close(): Promise<void> {
  const spec = { maxUnavailable: 0, selector: {} };
  await world.client.create(podDisruptionBudgetType, podDisruptionBudget({ name: 'none', spec }));
  await world.pass(2);
}
const open = (): Promise<unknown> => world.client.delete(podDisruptionBudgetType, { namespace, name: 'none' });

test('ER-18: requests for two of a gang that goes as one are accepted, and all four go by one GroupEviction', async () => {
  const pods = await gang(2, 'all');
  await Promise.all([world.ask('a', at(pods, 0)), world.ask('b', at(pods, 2), { requester: 'example.com/scaler' })]);
  await world.until(async () => (await names()).length === 0);
  await world.pass(2);
  expect(await groupEvictions()).toBe(1);
  expect(await world.evictions()).toEqual(['pod-1-g-0', 'pod-1-g-2']);
  for (const name of ['a', 'b']) expect(told(await world.request(name))).toEqual(DELETED);
});

test('ER-19: one request that a gang can spare takes that pod alone', async () => {
  const pods = await gang(2, 'single');
  await world.ask('a', at(pods, 0));
  await world.until(async () => (await names()).length < 4);
  await world.pass(60);
  expect(await names()).toEqual(['g-1', 'g-2', 'g-3']);
  expect(await groupEvictions()).toBe(0);
  expect(told(await world.request('a'))).toEqual(DELETED);
});

test('ER-19: requests that would take a gang below its minimum take it as one, within budgets', async () => {
  const pods = await gang(2, 'single');
  await close();
  await Promise.all([0, 1, 2].map((index) => world.ask(`r${index}`, at(pods, index))));
  await world.pass(20);
  expect(await names()).toHaveLength(4);
  const message = reportOf(await world.eviction('pod-1-g-2'), EVICTOR)?.message;
  expect(message).toMatch(/^refused after \d+ tries: .*PodGroup g \(4 pods\)/);
  await open();
  await world.until(async () => (await names()).length === 0);
  await world.pass(2);
  expect(await groupEvictions()).toBe(1);
  for (const index of [0, 1, 2]) expect(told(await world.request(`r${index}`))).toEqual(DELETED);
});

test('5.3: requests that are all withdrawn before the first pod goes leave the gang as it is', async () => {
  const pods = await gang(4, 'all');
  await close();
  for (const index of [0, 1]) await world.ask(`r${index}`, at(pods, index));
  await world.pass(12);
  for (const index of [0, 1]) await world.intend(`r${index}`, 'Withdrawn');
  await open();
  await world.pass(120);
  expect(await names()).toHaveLength(4);
  expect(await groupEvictions()).toBe(0);
  expect(told(await world.request('r0'))).toEqual([
    'Failed=True/CanceledDueToNoRequesters',
    'TargetEvicted=False/EvictionFailed',
  ]);
});
