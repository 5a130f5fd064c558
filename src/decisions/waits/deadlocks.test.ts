/**
 * Rings of drains: planted ones are named, others never. `QUORATE_DEADLOCK_DRAWS=10000 npx vitest run src/decisions/waits`
 * runs the whole campaign; `npm test` takes a part of it.
 */
import { expect, test } from 'vitest';
import { type Random, seededRandom } from '../../machinery/values/index.ts';
import { findDeadlocks, tellDeadlock } from './deadlocks.ts';
import { findLive } from './live.ts';
import type { WaitingDrain, WaitState } from './model.ts';

const DRAWS = Number(process.env['QUORATE_DEADLOCK_DRAWS'] ?? 200);
const SEED =
  process.env['QUORATE_SEED'] === 'random' ? Date.now() % 1_000_000 : Number(process.env['QUORATE_SEED'] ?? 21);

const drain = (id: string, waitsFor: string[], more: Partial<WaitingDrain> = {}): WaitingDrain => ({
  id: `drain/${id}`,
  isLive: false,
  waitsFor,
  isOurs: true,
  returns: true,
  cost: { groupsDown: 0, podsMoved: 0, nodesDrained: 0, createdAt: 0 },
  ...more,
});

/** Two drains, one budget over two groups; each group waits for a node that one of the drains keeps. */
const ring = (more: { a?: Partial<WaitingDrain>; b?: Partial<WaitingDrain> } = {}): WaitState => ({
  drains: [drain('a', ['budget'], more.a), drain('b', ['budget'], more.b)],
  budgets: [{ id: 'budget', lacks: 1, short: ['group 1', 'group 2'] }],
  groups: [
    { id: 'group 1', isLive: false, waitsFor: ['capacity 1'] },
    { id: 'group 2', isLive: false, waitsFor: ['capacity 2'] },
  ],
  rooms: [
    { id: 'capacity 1', isLive: false, keptBy: [{ drain: 'drain/b', opensWhenPaused: true }] },
    { id: 'capacity 2', isLive: false, keptBy: [{ drain: 'drain/a', opensWhenPaused: true }] },
  ],
});

test('WG-01: both drains of a ring are named, with the ring as text and one to pause', () => {
  const [found, ...others] = findDeadlocks(ring());
  expect(others).toEqual([]);
  expect(found).toMatchObject({ drains: ['drain/a', 'drain/b'], pause: 'drain/a' });
  expect(found && tellDeadlock(found)).toBe(
    'budget → group 1 → capacity 1 → drain/b → budget; cheapest to pause: drain/a',
  );
});

test('WG-02: what gets on by itself is no deadlock', () => {
  const state = ring();
  const fits = { ...state, groups: state.groups.map((one, at) => (at === 0 ? { ...one, isLive: true } : one)) };
  const grown = { ...state, rooms: state.rooms.map((one, at) => (at === 0 ? { ...one, isLive: true } : one)) };
  for (const live of [fits, grown, ring({ a: { isLive: true } })]) expect(findDeadlocks(live)).toEqual([]);
});

test('WG-04: a budget that another group helps is no deadlock', () => {
  const state = ring();
  const helped = { ...state, groups: [...state.groups.slice(1), { id: 'group 1', isLive: false, waitsFor: [] }] };
  expect(findDeadlocks(helped)).toEqual([]);
  const both = { ...helped, budgets: [{ id: 'budget', lacks: 2, short: ['group 1', 'group 2'] }] };
  expect(findDeadlocks(both).length).toBe(1);
});

test('WG-05: in a ring with a drain of somebody else ours is the one to pause', () => {
  const cost = { groupsDown: 9, podsMoved: 9, nodesDrained: 9, createdAt: 0 };
  expect(findDeadlocks(ring({ a: { isOurs: false }, b: { cost } }))[0]?.pause).toBe('drain/b');
});

test.each<[string, Partial<WaitingDrain['cost']>]>([
  ['fewer groups down', { groupsDown: 0, podsMoved: 9 }],
  ['fewer pods moved', { podsMoved: 0, nodesDrained: 9 }],
  ['fewer nodes drained', { nodesDrained: 0 }],
  ['the later deadline', { deadline: 200 }],
  ['no deadline', { deadline: undefined }],
  ['the younger', { createdAt: 10 }],
])('the cheapest to pause has %s', (_, less) => {
  const cost = { groupsDown: 1, podsMoved: 1, nodesDrained: 1, deadline: 100, createdAt: 5 };
  expect(findDeadlocks(ring({ a: { cost }, b: { cost: { ...cost, ...less } } }))[0]?.pause).toBe('drain/b');
});

test('a drain whose nodes are empty already is not worth a pause; then the smallest change of a budget is said', () => {
  const state = ring();
  const rooms = state.rooms.map((one) => ({
    ...one,
    keptBy: one.keptBy.map((kept) => ({ ...kept, opensWhenPaused: false })),
  }));
  const [found] = findDeadlocks({ ...state, rooms });
  expect(found).toMatchObject({ loosen: { budget: 'budget', by: 1 } });
  expect(found?.pause).toBeUndefined();
});

test('two that wait for a claim of each other are named', () => {
  const drains = [drain('a', ['drain/b']), drain('b', ['drain/a'])];
  expect(findDeadlocks({ drains, budgets: [], groups: [], rooms: [] })[0]?.ring).toEqual(['drain/a', 'drain/b']);
});

const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const some = <T>(random: Random, of: readonly T[], chance: number): T[] => of.filter(() => random() < chance);

/** A small state, drawn; with few things, so that all of them can be tried. */
function draw(random: Random): WaitState {
  const names = (prefix: string, most: number): string[] =>
    Array.from({ length: 1 + Math.floor(random() * most) }, (_, at) => `${prefix}${at}`);
  const [drains, budgets, groups, rooms] = [
    names('drain/', 3),
    names('budget ', 3),
    names('group ', 3),
    names('room ', 3),
  ];
  return {
    drains: drains.map((id) =>
      drain(
        id.slice('drain/'.length),
        [
          ...some(random, budgets, 0.5),
          ...some(random, groups, 0.2),
          ...some(random, rooms, 0.1),
          ...some(random, drains, 0.1),
        ],
        { isLive: random() < 0.15, returns: random() < 0.7, isOurs: random() < 0.8 },
      ),
    ),
    budgets: budgets.map((id) => ({ id, lacks: Math.floor(random() * 3), short: some(random, groups, 0.6) })),
    groups: groups.map((id) => ({ id, isLive: random() < 0.15, waitsFor: some(random, rooms, 0.6) })),
    rooms: rooms.map((id) => ({
      id,
      isLive: random() < 0.1,
      keptBy: some(random, drains, 0.7).map((one) => ({ drain: one, opensWhenPaused: random() < 0.7 })),
    })),
  };
}

/** What never gets on, found by trying every set: of a set that holds itself back no member has a way out. */
function stuckByTrying({ budgets, drains, groups, rooms }: WaitState): Set<string> {
  const returning = new Set(drains.filter(({ returns }) => returns).map(({ id }) => id));
  const holds: [string, (set: ReadonlySet<string>) => boolean][] = [
    ...drains.map(({ id, isLive, waitsFor }) => held(id, (set) => !isLive && waitsFor.some((one) => set.has(one)))),
    ...budgets.map(({ id, lacks, short }) => held(id, (set) => short.filter((one) => !set.has(one)).length < lacks)),
    ...groups.map(({ id, isLive, waitsFor }) => held(id, (set) => !isLive && waitsFor.some((one) => set.has(one)))),
    ...rooms.map(({ id, isLive, keptBy }) =>
      held(id, (set) => !isLive && keptBy.every(({ drain: by }) => !returning.has(by) || set.has(by))),
    ),
  ];
  const stuck = new Set<string>();
  for (let mask = 1; mask < 1 << holds.length; mask += 1) {
    const chosen = holds.filter((_, at) => mask & (1 << at));
    const set = new Set(chosen.map(([id]) => id));
    if (chosen.every(([, check]) => check(set))) for (const id of set) stuck.add(id);
  }
  return stuck;
}

const held = (
  id: string,
  check: (set: ReadonlySet<string>) => boolean,
): [string, (set: ReadonlySet<string>) => boolean] => [id, check];

/** Drains that lead back to themselves over stuck things alone. */
function drainsInRings(state: WaitState, stuck: ReadonlySet<string>): string[] {
  const next = (id: string): readonly string[] =>
    [
      ...state.drains.map((one) => ({ id: one.id, to: one.waitsFor })),
      ...state.budgets.map((one) => ({ id: one.id, to: one.short })),
      ...state.groups.map((one) => ({ id: one.id, to: one.waitsFor })),
      ...state.rooms.map((one) => ({ id: one.id, to: one.keptBy.map((kept) => kept.drain) })),
    ].find((one) => one.id === id)?.to ?? [];
  return state.drains
    .map(({ id }) => id)
    .filter((start) => {
      if (!stuck.has(start)) return false;
      const seen = new Set<string>();
      const open = [start];
      for (let id = open.pop(); id !== undefined; id = open.pop()) {
        for (const to of next(id)) {
          if (!stuck.has(to)) continue;
          if (to === start) return true;
          if (!seen.has(to)) open.push(to);
          seen.add(to);
        }
      }
      return false;
    });
}

test(`WG-06: of ${DRAWS} drawn states (seed ${SEED}) those with a ring that holds itself are named, and no others`, () => {
  const random = seededRandom(SEED);
  let rings = 0;
  for (let at = 0; at < DRAWS; at += 1) {
    const state = draw(random);
    // All sets are tried for a part of them: it takes a thousand times as long.
    const stuck = at < 200 || at % 50 === 0 ? stuckByTrying(state) : undefined;
    const found = findDeadlocks(state);
    const named = found.flatMap(({ drains }) => drains).sort();
    if (stuck !== undefined) {
      const live = findLive(state);
      const all = [...state.drains, ...state.budgets, ...state.groups, ...state.rooms].map(({ id }) => id);
      expect(
        all.filter((id) => !live.has(id)),
        `draw ${at}`,
      ).toEqual(all.filter((id) => stuck.has(id)));
      expect(named, `draw ${at}`).toEqual(drainsInRings(state, stuck).sort());
    }
    rings += found.length;
  }
  expect(rings).toBeGreaterThan(DRAWS / 20);
});

/** Everything waits only for what was drawn before it: nothing leads back. */
function drawAcyclic(random: Random): WaitState {
  const state: { [kind in keyof WaitState]: WaitState[kind][number][] } = {
    drains: [],
    budgets: [],
    groups: [],
    rooms: [],
  };
  const ids = (...kinds: (keyof WaitState)[]): string[] => kinds.flatMap((kind) => state[kind].map(({ id }) => id));
  for (let at = 0; at < 4 + Math.floor(random() * 20); at += 1) {
    const kind = pick(random, ['drains', 'budgets', 'groups', 'rooms'] as const);
    if (kind === 'drains') {
      const waitsFor = some(random, ids('budgets', 'groups', 'rooms', 'drains'), 0.3);
      state.drains.push(drain(`${at}`, waitsFor, { returns: random() < 0.5 }));
    } else if (kind === 'budgets') {
      state.budgets.push({
        id: `budget ${at}`,
        lacks: Math.floor(random() * 4),
        short: some(random, ids('groups'), 0.5),
      });
    } else if (kind === 'groups') {
      state.groups.push({ id: `group ${at}`, isLive: false, waitsFor: some(random, ids('rooms'), 0.5) });
    } else {
      const keptBy = some(random, ids('drains'), 0.5).map((by) => ({ drain: by, opensWhenPaused: random() < 0.5 }));
      state.rooms.push({ id: `room ${at}`, isLive: false, keptBy });
    }
  }
  return state;
}

test(`WG-06: none is named in ${DRAWS} states without a ring (seed ${SEED})`, () => {
  const random = seededRandom(SEED + 1);
  for (let at = 0; at < DRAWS; at += 1) expect(findDeadlocks(drawAcyclic(random)), `draw ${at}`).toEqual([]);
});

test(`every one of ${DRAWS} planted rings is named, whatever stands beside it (seed ${SEED})`, () => {
  const random = seededRandom(SEED + 2);
  for (let at = 0; at < DRAWS; at += 1) {
    const size = 1 + Math.floor(random() * 6);
    const names = Array.from({ length: size }, (_, one) => `p${one}`);
    const beside = drawAcyclic(random);
    const wanted = (one: number): string => `planted budget ${one}`;
    const planted: WaitState = {
      drains: names.map((name, one) =>
        drain(name, [wanted(one), ...some(random, beside.budgets, 0.2).map(({ id }) => id)]),
      ),
      budgets: names.map((_, one) => ({ id: wanted(one), lacks: 1, short: [`planted group ${one}`] })),
      groups: names.map((_, one) => ({
        id: `planted group ${one}`,
        isLive: false,
        waitsFor: [`planted room ${one}`, ...some(random, beside.rooms, 0.2).map(({ id }) => id)],
      })),
      rooms: names.map((_, one) => ({
        id: `planted room ${one}`,
        isLive: false,
        keptBy: [{ drain: `drain/p${(one + 1) % size}`, opensWhenPaused: true }],
      })),
    };
    const state: WaitState = {
      drains: [...planted.drains, ...beside.drains],
      budgets: [...planted.budgets, ...beside.budgets],
      groups: [...planted.groups, ...beside.groups],
      rooms: [...planted.rooms, ...beside.rooms],
    };
    const found = findDeadlocks(state);
    expect(
      found.flatMap(({ drains }) => drains),
      `draw ${at}`,
    ).toEqual(names.map((name) => `drain/${name}`));
    expect(found[0]?.ring.length, `draw ${at}`).toBe(size * 4);
  }
});
