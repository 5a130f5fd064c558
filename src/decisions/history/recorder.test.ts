import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../api/quorate/disruption-history.ts';
import { seededRandom } from '../../machinery/values/index.ts';
import type { GivenAnswer } from './answers.ts';
import type { PodDeparture } from './cause.ts';
import type { GroupLook } from './outage.ts';
import { DisruptionRecorder } from './recorder.ts';

const SECOND = 1000;
const group = 'ml/PodGroup/trainer-0';

const departure = (at: number, uid: string, more: Partial<PodDeparture> = {}): PodDeparture => ({
  namespace: 'ml',
  group,
  owner: 'Job/trainer-0',
  pod: { name: uid, uid, node: 'node-1' },
  at,
  isFinished: false,
  target: { reason: 'EvictionByEvictionAPI', message: '' },
  node: 'Fine',
  isUnwanted: false,
  drain: undefined,
  ...more,
});

const look = (ready: number, more: Partial<GroupLook> = {}): GroupLook => ({
  isWhole: ready >= 4,
  going: 0,
  ready,
  together: false,
  isRemoved: false,
  ...more,
});

const refusal = (at: number, more: Partial<GivenAnswer> = {}): GivenAnswer => ({
  at,
  kind: 'Eviction',
  namespace: 'ml',
  pod: { name: 'a', uid: 'a' },
  who: 'ada',
  allowed: false,
  refusal: { reason: 'DisruptionBudget', message: 'no', budgets: ['all'], policies: [] },
  ...more,
});

/** A recorder whose entries are read as they would be written. */
class Kept {
  readonly recorder = new DisruptionRecorder({ writer: 'w' });
  readonly #written = new Map<string, HistoryEntry>();

  at(now: number): HistoryEntry[] {
    this.recorder.tick(now, () => true);
    for (const entry of this.recorder.takeChanged(now)) this.#written.set(entry.id, entry);
    return [...this.#written.values()];
  }
}

test('RC-04: seconds count from the first moment below the minimum to the first of a stretch of ten at it', () => {
  const all = new Kept();
  all.recorder.look(group, look(4), 0);
  all.recorder.look(group, look(3, { going: 1 }), 5 * SECOND);
  all.recorder.went(departure(5 * SECOND, 'a'), 6 * SECOND);
  // Whole for five seconds, and then not.
  all.recorder.look(group, look(4), 60 * SECOND);
  all.recorder.look(group, look(3), 65 * SECOND);
  expect(all.at(80 * SECOND)[0]).toMatchObject({ end: 'Open' });
  all.recorder.look(group, look(4), 105 * SECOND);
  expect(all.at(114 * SECOND)[0]).toMatchObject({ end: 'Open' });
  const [entry, ...rest] = all.at(115 * SECOND);
  expect(rest).toEqual([]);
  expect(entry).toMatchObject({
    downAt: '1970-01-01T00:00:05.000000Z',
    wholeAt: '1970-01-01T00:01:45.000000Z',
    groupSeconds: 100,
    podSeconds: 95,
    end: 'Whole',
  });
});

test('RC-04: a member that still goes keeps the stretch from beginning, and mode all is down with the first that goes', () => {
  const kept = new Kept();
  kept.recorder.look(group, look(6, { together: true }), 0);
  kept.recorder.look(group, look(5, { together: true, isWhole: true, going: 1 }), SECOND);
  kept.recorder.went(departure(SECOND, 'a'), SECOND);
  kept.recorder.look(group, look(5, { together: true, isWhole: true }), 21 * SECOND);
  expect(kept.at(40 * SECOND)[0]).toMatchObject({ groupSeconds: 20, end: 'Whole' });
});

test('8.3: a group that is removed counts until then', () => {
  const kept = new Kept();
  kept.recorder.look(group, look(4), 0);
  kept.recorder.look(group, look(3), SECOND);
  kept.recorder.went(departure(SECOND, 'a'), SECOND);
  kept.recorder.look(group, look(0, { isRemoved: true }), 11 * SECOND);
  expect(kept.at(30 * SECOND)[0]).toMatchObject({ end: 'Removed', groupSeconds: 10 });
});

test('8.3: pods that go within 30 s by one cause are one entry; another cause, or a later time, is another', () => {
  const kept = new Kept();
  kept.recorder.went(departure(0, 'a'), 0);
  kept.recorder.went(departure(29 * SECOND, 'b'), 29 * SECOND);
  kept.recorder.went(departure(58 * SECOND, 'c'), 58 * SECOND);
  kept.recorder.went(departure(59 * SECOND, 'd', { target: undefined }), 59 * SECOND);
  kept.recorder.went(departure(100 * SECOND, 'e'), 100 * SECOND);
  expect(kept.at(101 * SECOND).map(({ podsTotal, way }) => [way, podsTotal])).toEqual([
    ['Eviction', 3],
    ['Unknown', 1],
    ['Eviction', 1],
  ]);
});

test('8.1: at most 64 pods are listed, all are counted', () => {
  const kept = new Kept();
  for (let at = 0; at < 100; at += 1) kept.recorder.went(departure(0, `p${at}`), 0);
  const [entry] = kept.at(0);
  expect([entry?.pods.length, entry?.podsTotal]).toEqual([64, 100]);
});

test('8.3: what an owner removes after a member went is a part of that; alone it is no disruption', () => {
  const kept = new Kept();
  kept.recorder.went(departure(0, 'x', { target: undefined, isUnwanted: true, group: 'ml/PodGroup/other' }), 0);
  kept.recorder.look(group, look(4), 0);
  kept.recorder.look(group, look(3), 0);
  kept.recorder.went(departure(0, 'a'), 0);
  kept.recorder.went(departure(5 * SECOND, 'b', { target: undefined, isUnwanted: true }), 5 * SECOND);
  expect(kept.at(6 * SECOND).map((entry) => entry.podsTotal)).toEqual([2]);
});

test('RC-02: refusals that are the same within ten minutes are one entry', () => {
  const kept = new Kept();
  for (let at = 0; at < 40; at += 1) kept.recorder.answered(refusal(at * 7 * SECOND), group);
  kept.recorder.answered(refusal(100 * SECOND, { who: 'bob' }), group);
  kept.recorder.answered(refusal(601 * SECOND), group);
  expect(kept.at(601 * SECOND).map(({ repeats, who }) => [who, repeats])).toEqual([
    ['ada', 40],
    ['bob', 1],
    ['ada', 1],
  ]);
});

test('8.1: a grant whose pod stays is Expired', () => {
  const kept = new Kept();
  kept.recorder.answered(refusal(0, { allowed: true }), group);
  expect(kept.at(299 * SECOND)).toEqual([]);
  expect(kept.at(301 * SECOND)).toMatchObject([{ outcome: 'Expired', pods: [{ uid: 'a' }] }]);
});

test('8.3: a Ready member that is lost counts where it takes the group down', () => {
  const kept = new Kept();
  const crash = departure(0, 'a', { target: undefined, node: 'NotReady' });
  kept.recorder.look(group, look(5), 0);
  kept.recorder.look(group, look(4), SECOND);
  kept.recorder.lost(crash);
  expect(kept.at(SECOND)).toEqual([]);
  kept.recorder.look(group, look(3), 2 * SECOND);
  kept.recorder.lost(crash);
  expect(kept.at(2 * SECOND)).toMatchObject([{ outcome: 'Seen', way: 'NodeGone', end: 'Open' }]);
});

test('8.3: a pod that was lost and is then removed for that is one disruption; an eviction of it is another', () => {
  for (const [target, ways] of [
    [{ reason: 'DeletionByTaintManager', message: '' }, ['TaintManager']],
    [{ reason: 'EvictionByEvictionAPI', message: '' }, ['Unknown', 'Eviction']],
  ] as const) {
    const kept = new Kept();
    kept.recorder.look(group, look(4), 0);
    kept.recorder.look(group, look(3), SECOND);
    kept.recorder.lost(departure(SECOND, 'a', { target: undefined }));
    kept.recorder.went(departure(40 * SECOND, 'a', { target }), 40 * SECOND);
    expect(kept.at(41 * SECOND).map(({ way }) => way)).toEqual(ways);
  }
});

test('RC-05: an outage that another process saw begin goes on, and its pods are not entered twice', () => {
  const first = new Kept();
  first.recorder.look(group, look(4), 0);
  first.recorder.look(group, look(3), SECOND);
  first.recorder.went(departure(SECOND, 'a'), SECOND);
  const [written] = first.at(2 * SECOND);
  if (written === undefined) throw new Error('nothing was written');
  const next = new Kept();
  next.recorder.resume(written, 4);
  expect(next.recorder.went(departure(SECOND, 'a'), 60 * SECOND)).toBeUndefined();
  next.recorder.look(group, look(3), 60 * SECOND);
  next.recorder.look(group, look(4), 81 * SECOND);
  expect(next.at(95 * SECOND)).toMatchObject([{ id: written.id, groupSeconds: 80, podSeconds: 80, end: 'Whole' }]);
});

test('8.2: what could not be written is taken again', () => {
  const { recorder } = new Kept();
  recorder.went(departure(0, 'a'), 0);
  const taken = recorder.takeChanged(0);
  expect(recorder.takeChanged(0)).toEqual([]);
  recorder.giveBack(taken);
  expect(recorder.takeChanged(0)).toEqual(taken);
});

const SEED = process.env['QUORATE_SEED'] === 'random' ? Math.floor(Math.random() * 2 ** 31) : 1;

test(`8.3: every pod is in one entry, and no second of a group is counted twice (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < 200; round += 1) {
    const kept = new Kept();
    let [now, ready, uid] = [0, 6, 0];
    kept.recorder.look(group, look(ready), now);
    for (let step = 0; step < 40; step += 1) {
      now += Math.floor(random() * 20) * SECOND;
      // Ends of outages are seen where they are looked for.
      kept.at(now);
      const leaves = random() < 0.5 && ready > 0;
      ready = leaves ? ready - 1 : Math.min(6, ready + 1);
      kept.recorder.look(group, look(ready), now);
      if (!leaves) continue;
      uid += 1;
      const target = random() < 0.5 ? undefined : { reason: 'EvictionByEvictionAPI', message: '' };
      kept.recorder.went(departure(now, `u${uid}`, { target }), now);
    }
    kept.recorder.look(group, look(6), now);
    const entries = kept.at(now + 10 * SECOND);
    const pods = entries.flatMap((entry) => entry.pods.map((pod) => pod.uid));
    expect(pods.sort()).toEqual(Array.from({ length: uid }, (_, at) => `u${at + 1}`).sort());
    const spans = entries
      .filter((entry) => (entry.groupSeconds ?? 0) > 0)
      .map((entry) => [Date.parse(entry.downAt ?? ''), Date.parse(entry.wholeAt ?? '')] as const)
      .sort(([a], [b]) => a - b);
    for (const [at, [from]] of spans.entries()) expect(from).toBeGreaterThanOrEqual(spans[at - 1]?.[1] ?? 0);
    expect(entries.every((entry) => entry.end === 'Whole')).toBe(true);
  }
});
