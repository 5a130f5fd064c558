import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { DisruptionLedger, LedgerGrant } from '../api/quorate/types.ts';
import { podDisruptionBudgetType } from '../api/resource-types.ts';
import { DisruptionIndex, readBudget, readWorkload } from '../decisions/disruption/index.ts';
import { groupUnits, member } from '../decisions/disruption/fixtures.ts';
import { Metrics } from '../machinery/runtime/index.ts';
import { type ControlPlane, podDisruptionBudget, startControlPlane } from '../testkit/index.ts';
import { Publisher } from './publisher.ts';

const key = { namespace: 'default', name: 'budget' };
let plane: ControlPlane;
let index: DisruptionIndex;
let ledger: DisruptionLedger;
let shown: PodDisruptionBudget;
let publisher: Publisher;
const metrics = new Metrics();

beforeEach(async () => {
  plane = await startControlPlane({ controllers: [] });
  const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } };
  shown = await plane.client.create(podDisruptionBudgetType, podDisruptionBudget({ spec }));
  index = new DisruptionIndex();
  const podGroups = [{ name: 'g', replicas: 3, policy: { gang: { minCount: 4 } } }];
  index.setWorkload('default', 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
  for (let unit = 0; unit < 3; unit += 1) {
    for (let at = 0; at < 4; at += 1) index.setPod(member(`g${unit}p${at}`, { key: String(unit) }));
  }
  ledger = ledgerWith([]);
  publisher = new Publisher({
    client: plane.client,
    clock: plane.clock,
    index,
    ledger: () => ledger,
    budget: () => shown,
    metrics,
  });
});
afterEach(() => plane.stop());

function ledgerWith(names: readonly string[]): DisruptionLedger {
  const { generation, uid } = shown.metadata;
  const at = new Date(plane.clock.now()).toISOString();
  const grants = names.map(
    (name): LedgerGrant => ({ name, uid: `uid-${name}`, at, cost: 1, kind: 'Charged', pinned: 'uid', by: 'r' }),
  );
  const status = { observedGeneration: generation, budgetUID: uid, conditions: [groupUnits] as never, grants };
  return { metadata: key, status };
}

/** Judged and recorded, as the eviction webhook does before it looks for room. */
function grant(...names: string[]): void {
  ledger = ledgerWith(names);
  index.setBudget(readBudget({ ...shown, status: ledger.status }));
}

const stored = (): Promise<PodDisruptionBudget> => plane.client.get(podDisruptionBudgetType, key);
const signal = new AbortController().signal;
const room = (name: string): Promise<boolean> => {
  const pod = index.pod('default', name);
  if (pod === undefined) throw new Error(`no pod ${name}`);
  return publisher.makeRoom(key, pod, signal);
};

test('numbers and marker are put into the budget, and what the API server noted stays', async () => {
  const disruptedPods = { gone: '2026-01-01T00:00:00Z' };
  shown = await plane.client.updateStatus(podDisruptionBudgetType, { ...shown, status: { disruptedPods } as never });
  await publisher.publish(key);
  expect((await stored()).status).toMatchObject({
    observedGeneration: 1,
    disruptionsAllowed: 4,
    currentHealthy: 12,
    desiredHealthy: 8,
    expectedPods: 12,
    disruptedPods,
    conditions: [
      { type: 'DisruptionAllowed', status: 'True' },
      { type: 'CountsGroups', status: 'True', reason: 'GroupUnits' },
    ],
  });
});

test('what is published already is not written again', async () => {
  await publisher.publish(key);
  shown = await stored();
  await publisher.publish(key);
  expect((await stored()).metadata.resourceVersion).toBe(shown.metadata.resourceVersion);
});

test('a change that the ledger does not answer yet is not lifted', async () => {
  await publisher.publish(key);
  const { metadata, spec } = await stored();
  shown = await plane.client.update(podDisruptionBudgetType, {
    metadata,
    spec: { ...spec, maxUnavailable: 2 },
  } as never);
  expect(shown.metadata.generation).toBe(2);
  await publisher.publish(key);
  expect((await stored()).status?.observedGeneration).toBe(1);
  grant('g0p0');
  ledger = { ...ledger, status: { ...ledger.status, observedGeneration: 1 } };
  expect(await room('g0p0')).toBe(false);
});

const NONE_READY = {
  observedGeneration: 1,
  disruptionsAllowed: 0,
  currentHealthy: 0,
  desiredHealthy: 12,
  expectedPods: 12,
};

test('PB-28: where the stored number leaves no room, one that does is written before the grant is given', async () => {
  // Published while nothing was Ready; the pods have come up since.
  shown = await plane.client.updateStatus(podDisruptionBudgetType, { ...shown, status: NONE_READY });
  grant('g0p0');
  expect(await room('g0p0')).toBe(true);
  expect((await stored()).status).toMatchObject({ disruptionsAllowed: 4, currentHealthy: 12, desiredHealthy: 8 });
});

test('room that is there costs no write', async () => {
  await publisher.publish(key);
  shown = await stored();
  grant('g0p0', 'g0p1', 'g0p2', 'g0p3');
  expect(await room('g0p3')).toBe(true);
  expect((await stored()).metadata.resourceVersion).toBe(shown.metadata.resourceVersion);
});

test('a budget that changed meanwhile is read anew', async () => {
  shown = await plane.client.updateStatus(podDisruptionBudgetType, { ...shown, status: NONE_READY });
  // The watch does not show what an eviction wrote since.
  const disruptedPods = { g0p0: new Date(plane.clock.now()).toISOString() };
  await plane.client.updateStatus(podDisruptionBudgetType, {
    ...shown,
    status: { ...NONE_READY, disruptedPods } as never,
  });
  grant('g0p0', 'g0p1');
  const found = room('g0p1');
  for (let step = 0; step < 5; step += 1) await plane.clock.advance(100);
  expect(await found).toBe(true);
  expect((await stored()).status).toMatchObject({ disruptionsAllowed: 3, currentHealthy: 11 });
});

test('unready pods need room only where nothing is desired', async () => {
  await publisher.publish(key);
  shown = await stored();
  index.setPod(member('g0p0', { key: '0' }, { ready: false }));
  const emptied = { ...shown.status, disruptionsAllowed: 0 } as never;
  shown = await plane.client.updateStatus(podDisruptionBudgetType, { ...shown, status: emptied });
  grant('g0p0');
  expect(await room('g0p0')).toBe(true);
  expect((await stored()).metadata.resourceVersion).toBe(shown.metadata.resourceVersion);
});

test('a pod that the API server has noted and that is evicted again has room once more', async () => {
  grant('g0p0');
  const noted = { g0p0: new Date(plane.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z') };
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 0,
    currentHealthy: 8,
    desiredHealthy: 8,
    expectedPods: 12,
  };
  const withNote = { ...shown, status: { ...status, disruptedPods: noted } as never };
  shown = await plane.client.updateStatus(podDisruptionBudgetType, withNote);
  expect(await room('g0p0')).toBe(true);
  const written = await stored();
  expect(written.status).toMatchObject({ disruptionsAllowed: 4, currentHealthy: 12 });
  expect(written.status?.disruptedPods ?? {}).toEqual({});
});

test('where no other controller does, notes of pods that are long gone are taken out of the budget', async () => {
  const now = plane.clock.now();
  const at = (ms: number): string => new Date(now + ms).toISOString().replace('.000Z', 'Z');
  // One that is gone, one just noted that is not known here yet, one that is still there.
  const disruptedPods = { gone: at(-300_000), young: at(-1000), g0p0: at(-300_000) };
  const status = { disruptedPods } as never;
  shown = await plane.client.updateStatus(podDisruptionBudgetType, { ...shown, status });
  const { client, clock } = plane;
  const tidy = new Publisher({ client, clock, index, ledger: () => ledger, budget: () => shown, tidies: true });
  await tidy.publish(key);
  expect(Object.keys((await stored()).status?.disruptedPods ?? {}).sort()).toEqual(['g0p0', 'young']);
  // And once more, where the numbers are the same.
  shown = await stored();
  await clock.advance(300_000);
  await tidy.publish(key);
  expect(Object.keys((await stored()).status?.disruptedPods ?? {})).toEqual(['g0p0']);
});
