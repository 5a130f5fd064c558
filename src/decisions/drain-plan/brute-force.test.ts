/**
 * The planner against plans found by trying everything. `npm run test:plan` runs the whole campaign; the few seconds of
 * `npm test` take a part of it.
 */
import { expect, test } from 'vitest';
import { drawFleet, type FleetUnit, freeOn, question, recountAllows, sizeOf } from './fixtures.ts';
import type { PlanPod, PlanQuestion, PlanUnit } from './model.ts';
import { planDrain } from './plan.ts';

const ROUNDS = Number(process.env['QUORATE_PLAN_ROUNDS'] ?? 1);
const TIMEOUT_MS = 60_000 * Math.max(ROUNDS, 1);

interface Best {
  /** Pods left on nodes to drain. */
  readonly left: number;
  readonly disruptions: number;
}

/** Tries every order of every part of every unit on every placement; with `together` also several units at once. */
function bruteForce(asked: PlanQuestion, { together = false } = {}): Best {
  const draining = new Set(asked.nodes.filter(({ drain }) => drain).map(({ name }) => name));
  const all = asked.pods.filter(({ node }) => draining.has(node));
  const refused = new Set(all.filter((pod) => !recountAllows(asked, [pod])).map(({ unit }) => unit));
  const pods = all.filter(({ unit }) => !refused.has(unit));
  const unitOf = (pod: PlanPod): PlanUnit => asked.units.find(({ id }) => id === pod.unit) as PlanUnit;
  const fragile = (unit: PlanUnit): boolean =>
    unit.healthy >= unit.needed && (unit.wholesale || unit.healthy === unit.needed);
  const masks = new Map<string, number>();
  for (const [at, pod] of pods.entries()) masks.set(pod.unit, (masks.get(pod.unit) ?? 0) | (1 << at));
  const size = sizeOf;
  const alike = pods.every((pod) => size(pod) === 1);
  const emptied = remember((moved) =>
    asked.nodes
      .filter(({ drain, name }) => drain && all.every((pod) => pod.node !== name || isMoved(pods, moved, pod)))
      .map(({ name }) => name),
  );
  /** Undefined when a budget refuses it. */
  const stepOf = remember((going) => {
    const chosen = pods.filter((_, at) => going & (1 << at));
    if (!recountAllows(asked, chosen)) return undefined;
    const down = [...new Set(chosen.map(unitOf))].filter(({ healthy, id, needed, wholesale }) => {
      const lost = chosen.filter(({ unit }) => unit === id).length;
      return healthy >= needed && (wholesale || healthy - lost < needed);
    });
    return { sizes: chosen.map(size), down: down.length };
  });
  const roomOf = (name: string): number => {
    const free = freeOn(asked, name);
    return all.filter(({ node }) => node === name).reduce((sum, pod) => sum + size(pod), free);
  };
  const isWhole = (moved: number): boolean =>
    asked.units.every((unit) => {
      const mask = masks.get(unit.id) ?? 0;
      return !fragile(unit) || (moved & mask) === 0 || (moved & mask) === mask;
    });

  const returned = asked.nodesReturn ? emptied(0) : [];
  const kept = asked.nodes.filter(({ drain }) => !drain).map(({ name }) => freeOn(asked, name));
  const start = [...kept, ...returned.map(roomOf)];
  const queue: { moved: number; free: number[]; cost: number }[][] = [[{ moved: 0, free: start, cost: 0 }]];
  const seen = new Set<string>();
  let best: Best = { left: all.length, disruptions: 0 };
  const full = (1 << pods.length) - 1;
  for (let cost = 0; cost < queue.length; cost += 1) {
    for (let state = queue[cost]?.pop(); state !== undefined; state = queue[cost]?.pop()) {
      const key = `${state.moved}|${[...state.free].sort((a, b) => a - b).join()}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const left = all.length - count(state.moved);
      if (isWhole(state.moved) && (left < best.left || (left === best.left && cost < best.disruptions))) {
        best = { left, disruptions: cost };
      }
      const pools = together ? [full & ~state.moved] : [...masks.values()].map((mask) => mask & ~state.moved);
      for (const pool of pools) {
        for (let going = pool; going > 0; going = (going - 1) & pool) {
          const step = stepOf(going);
          if (step === undefined) continue;
          const moved = state.moved | going;
          const back = asked.nodesReturn ? emptied(moved).filter((name) => !emptied(state.moved).includes(name)) : [];
          for (const free of placements(step.sizes, state.free, alike)) {
            const next = [...free, ...back.map(roomOf)];
            const pooled = alike ? [next.reduce((sum, slots) => sum + slots, 0)] : next;
            (queue[cost + step.down] ??= []).push({ moved, free: pooled, cost: cost + step.down });
          }
        }
      }
    }
    queue[cost + 1] ??= [];
    if (queue.slice(cost + 1).every((states) => states === undefined || states.length === 0)) break;
  }
  return best;
}

function remember<T>(compute: (mask: number) => T): (mask: number) => T {
  const known = new Map<number, T>();
  return (mask) => {
    if (!known.has(mask)) known.set(mask, compute(mask));
    return known.get(mask) as T;
  };
}

const isMoved = (pods: readonly PlanPod[], moved: number, pod: PlanPod): boolean => {
  const at = pods.indexOf(pod);
  return at >= 0 && (moved & (1 << at)) !== 0;
};

const count = (mask: number): number => mask.toString(2).replaceAll('0', '').length;

/** What is left of the room after each way to place pods of these sizes. Where all pods are alike only the sum counts. */
function placements(sizes: readonly number[], free: readonly number[], alike: boolean): number[][] {
  if (alike) {
    const sum = free.reduce((total, slots) => total + slots, 0) - sizes.length;
    return sum < 0 ? [] : [[sum]];
  }
  let ways = new Map<string, number[]>([[free.join(), [...free]]]);
  for (const size of sizes) {
    const next = new Map<string, number[]>();
    for (const way of ways.values()) {
      for (const [at, room] of way.entries()) {
        if (room < size) continue;
        const taken = way.map((slots, other) => (other === at ? slots - size : slots)).sort((a, b) => a - b);
        next.set(taken.join(), taken);
      }
    }
    ways = next;
  }
  return [...ways.values()];
}

function planned(asked: PlanQuestion): Best {
  const plan = planDrain(asked);
  const gone = new Set(plan.steps.flatMap(({ evictions }) => evictions.flatMap(({ pods }) => pods)));
  const draining = new Set(asked.nodes.filter(({ drain }) => drain).map(({ name }) => name));
  const left = asked.pods.filter(({ id, node }) => draining.has(node) && !gone.has(id)).length;
  return { left, disruptions: plan.disruptions };
}

const toMove = (asked: PlanQuestion): number => {
  const draining = new Set(asked.nodes.filter(({ drain }) => drain).map(({ name }) => name));
  return asked.pods.filter(({ node }) => draining.has(node)).length;
};

const restartsElsewhere = ({ nodes, pods, units }: PlanQuestion): boolean => {
  const staying = new Set(nodes.filter(({ drain }) => !drain).map(({ name }) => name));
  return units.some(
    ({ id, wholesale }) => wholesale && pods.some(({ node, unit }) => unit === id && staying.has(node)),
  );
};

test(
  'planDrain() equals brute force over any steps at all, on fleets small enough to try them',
  () => {
    let compared = 0;
    for (let seed = 1; compared < 120 * ROUNDS; seed += 1) {
      const asked = drawFleet(seed, { maxNodes: 4, maxUnits: 4, maxMembers: 3, sizes: seed % 2 === 0 });
      if (toMove(asked) > 7) continue;
      compared += 1;
      const best = bruteForce(asked, { together: true });
      expect(best, `seed ${seed}`).toEqual(bruteForce(asked));
      expect(planned(asked), `seed ${seed}`).toEqual(best);
    }
  },
  TIMEOUT_MS,
);

test(
  'planDrain() equals brute force on fleets of up to 6 nodes and 6 groups with pods alike',
  () => {
    let compared = 0;
    for (let seed = 1; compared < 200 * ROUNDS; seed += 1) {
      const asked = drawFleet(seed);
      if (toMove(asked) > (ROUNDS > 1 ? 13 : 9)) continue;
      compared += 1;
      expect(planned(asked), `seed ${seed}`).toEqual(bruteForce(asked));
    }
  },
  TIMEOUT_MS,
);

test(
  'planDrain() equals brute force on fleets of up to 6 nodes and 6 groups with pods of several sizes',
  () => {
    let compared = 0;
    for (let seed = 1; compared < 120 * ROUNDS; seed += 1) {
      const asked = drawFleet(seed, { sizes: true, maxMembers: 3 });
      if (toMove(asked) > (ROUNDS > 1 ? 9 : 8)) continue;
      compared += 1;
      const best = bruteForce(asked);
      const plan = planned(asked);
      // Members that restart only because others go free a place for a larger pod, which brute force knows nothing of.
      if (restartsElsewhere(asked) && plan.left < best.left) continue;
      expect(plan, `seed ${seed}`).toEqual(best);
    }
  },
  TIMEOUT_MS,
);

/** Every way to lay pairs over nodes, each once, whatever the nodes are called. */
function* pairings(pairs: number, nodes: number): Generator<(readonly [number, number])[]> {
  const spots = Array.from({ length: nodes }, (_, a) =>
    Array.from({ length: nodes - a }, (_unused, b) => [a, a + b] as const),
  ).flat();
  const orders = permutations(nodes);
  const seen = new Set<string>();
  function* extend(chosen: (readonly [number, number])[], from: number): Generator<(readonly [number, number])[]> {
    if (chosen.length === pairs) {
      const names = orders.map((order) =>
        chosen
          .map(([a, b]) => [order[a] ?? 0, order[b] ?? 0].sort((x, y) => x - y).join('-'))
          .sort()
          .join(),
      );
      const name = names.reduce((least, one) => (one < least ? one : least));
      if (seen.has(name)) return;
      seen.add(name);
      yield chosen;
      return;
    }
    for (let at = from; at < spots.length; at += 1) yield* extend([...chosen, spots[at] as [number, number]], at);
  }
  yield* extend([], 0);
}

function permutations(size: number): number[][] {
  if (size === 0) return [[]];
  return permutations(size - 1).flatMap((rest) =>
    Array.from({ length: size }, (_, at) => [...rest.slice(0, at), size - 1, ...rest.slice(at)]),
  );
}

function pairFleet(layout: readonly (readonly [number, number])[], nodes: number, room: number): PlanQuestion {
  const names = Array.from({ length: nodes }, (_, at) => `n${at}`);
  const units: Record<string, FleetUnit> = {};
  for (const [at, pair] of layout.entries()) units[`g${at}`] = { on: pair.map((node) => `n${node}`) };
  const drained = names.map((name) => [name, { free: 0, drain: true }] as const);
  return question({
    nodes: { ...Object.fromEntries(drained), spare: { free: room } },
    units,
    nodesReturn: true,
  });
}

test(
  'planDrain() equals brute force on every layout of gangs of two over drained nodes that come back, for every room',
  () => {
    let compared = 0;
    const [pairs, nodes] = ROUNDS >= 20 ? [6, 5] : [4, 3];
    for (let groups = 1; groups <= pairs; groups += 1) {
      for (const layout of pairings(groups, nodes)) {
        for (let room = 0; room <= groups * 2; room += 1) {
          const asked = pairFleet(layout, nodes, room);
          compared += 1;
          expect(planned(asked), JSON.stringify({ layout, room })).toEqual(bruteForce(asked));
        }
      }
    }
    expect(compared).toBeGreaterThan(300);
  },
  TIMEOUT_MS,
);
