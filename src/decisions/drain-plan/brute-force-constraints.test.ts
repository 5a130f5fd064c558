/**
 * The planner against plans found by trying everything, where GPUs, zones, taints and groups that must share a zone
 * decide what fits. The rules are told here a second time, in the plainest way.
 */
import { expect, test } from 'vitest';
import { seededRandom } from '../../machinery/values/index.ts';
import { node, pod } from '../placement/fixtures.ts';
import { Cluster, podFacts } from '../placement/index.ts';
import { recountAllows } from './fixtures.ts';
import type { PlanPod, PlanQuestion, PlanUnit } from './model.ts';
import { planDrain } from './plan.ts';

const ROUNDS = Number(process.env['QUORATE_PLAN_ROUNDS'] ?? 1);
const GPU = 'nvidia.com/gpu';
const ZONE = 'topology.kubernetes.io/zone';

interface DrawnNode {
  readonly name: string;
  readonly zone: string;
  readonly gpus: number;
  readonly tainted: boolean;
  readonly drain: boolean;
}

interface DrawnUnit {
  readonly id: string;
  readonly on: readonly number[];
  readonly needed: number;
  readonly gpus: number;
  /** The only zone its pods may be in. */
  readonly zone?: string;
  readonly tolerates: boolean;
  /** All members in one zone. */
  readonly together: boolean;
  readonly budget: boolean;
}

interface Drawn {
  readonly nodes: readonly DrawnNode[];
  readonly units: readonly DrawnUnit[];
  readonly allowance: number;
  readonly nodesReturn: boolean;
}

/** Up to 5 nodes in two zones and 12 pods in up to 4 units, with little room. */
function draw(seed: number): Drawn {
  const random = seededRandom(seed);
  const whole = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  const maybe = (chance: number): boolean => random() < chance;
  const count = whole(3, 5);
  const drained = whole(1, count - 1);
  const places = Array.from({ length: count }, (_, at) => ({
    name: `n${at}`,
    zone: maybe(0.5) ? 'a' : 'b',
    tainted: maybe(0.2),
    drain: at < drained,
  }));
  const units = Array.from({ length: whole(1, 4) }, (_, at): DrawnUnit => {
    const together = maybe(0.4);
    const tolerates = maybe(0.5);
    const zone = maybe(0.25) ? 'ab'[whole(0, 1)] : undefined;
    const home = zone ?? (together ? (places[whole(0, count - 1)]?.zone ?? 'a') : undefined);
    // It stands where it may: a group in two zones at once has nowhere to be from the beginning.
    const fit = places.flatMap((place, index) =>
      (home === undefined || place.zone === home) && (tolerates || !place.tainted) ? [index] : [],
    );
    const on = fit.length === 0 ? [] : Array.from({ length: whole(1, 3) }, () => fit[whole(0, fit.length - 1)] ?? 0);
    return {
      id: `g${at}`,
      on,
      needed: Math.max(1, on.length - (maybe(0.3) ? 1 : 0)),
      gpus: whole(0, 2),
      tolerates,
      together,
      budget: maybe(0.4),
      ...(zone !== undefined && { zone }),
    };
  }).filter(({ on }) => on.length > 0);
  const nodes = places.map((place, index) => {
    const used = units.reduce((sum, unit) => sum + unit.gpus * unit.on.filter((at) => at === index).length, 0);
    return { ...place, gpus: used + (place.drain ? 0 : whole(0, 3)) };
  });
  return { nodes, units, allowance: whole(0, 2), nodesReturn: maybe(0.5) };
}

function questionOf({ allowance, nodes, nodesReturn, units }: Drawn): PlanQuestion {
  const cluster = new Cluster();
  for (const { gpus, name, tainted, zone } of nodes) {
    const taints = tainted ? [{ key: 'dedicated', effect: 'NoSchedule' }] : [];
    cluster.setNode(node(name, { cpu: 64, labels: { [ZONE]: zone }, extended: { [GPU]: String(gpus) }, taints }));
  }
  const pods: PlanPod[] = [];
  const planUnits = units.map(({ budget, gpus, id, needed, on, together, tolerates, zone }): PlanUnit => {
    for (const [index, at] of on.entries()) {
      const name = nodes[at]?.name ?? '';
      const one = pod(`${id}-${index}`, {
        requests: { [GPU]: String(gpus) },
        ...(zone !== undefined && { nodeSelector: { [ZONE]: zone } }),
        ...(tolerates && { tolerations: [{ key: 'dedicated', operator: 'Exists' }] }),
      });
      const facts = podFacts(one, cluster.resources);
      cluster.place(facts, name);
      pods.push({ id: `${id}-${index}`, node: name, unit: id, facts, replacement: facts });
    }
    return {
      id,
      budgets: budget ? ['p'] : [],
      healthy: on.length,
      needed,
      wholesale: false,
      ...(together && { topology: [{ key: ZONE, mode: 'Required' as const }] }),
    };
  });
  return {
    cluster,
    searches: () => true,
    nodes: nodes.map(({ drain, name }) => ({ name, drain })),
    pods,
    units: planUnits,
    budgets: [{ id: 'p', allowance }],
    nodesReturn,
  };
}

interface Outcome {
  readonly left: number;
  readonly disruptions: number;
}

/** Added to the node of a pod that has moved: it may be back on the node it came from. */
const MOVED = 100;

/** Where each pod stands, and how often units went down until then. */
interface Reached {
  readonly at: readonly number[];
  readonly cost: number;
}

/** Tries every part of every unit, after any others, on every node: the fewest pods left behind, then the fewest units down. */
function bruteForce(drawn: Drawn, asked: PlanQuestion): Outcome {
  const { nodes, nodesReturn, units } = drawn;
  const owners = units.flatMap((unit) => unit.on.map(() => unit));
  const first = units.flatMap(({ on }) => on);
  const isGoing = (pod: number): boolean => nodes[first[pod] ?? 0]?.drain === true;
  const refused = new Set(
    asked.pods.filter((one, pod) => isGoing(pod) && !recountAllows(asked, [one])).map(({ unit }) => unit),
  );
  const hasMoved = (at: readonly number[], pod: number): boolean => (at[pod] ?? 0) >= MOVED;
  const stays = (at: readonly number[], name: number): boolean =>
    at.some((where, pod) => where === name && isGoing(pod) && !hasMoved(at, pod));
  const isOpen = (at: readonly number[], index: number): boolean =>
    nodes[index]?.drain === false || (nodesReturn && !stays(at, index));
  const total = first.filter((_, pod) => isGoing(pod)).length;
  const seen = new Set<string>();
  const queue: Reached[][] = [[{ at: first, cost: 0 }]];
  let best: Outcome = { left: total, disruptions: 0 };
  for (let cost = 0; cost < queue.length; cost += 1) {
    for (let state = queue[cost]?.pop(); state !== undefined; state = queue[cost]?.pop()) {
      const { at } = state;
      const key = at.join();
      if (seen.has(key)) continue;
      seen.add(key);
      const isWhole = units.every((unit) => {
        const moved = owners.flatMap((owner, pod) => (owner === unit && isGoing(pod) ? [hasMoved(at, pod)] : []));
        return unit.on.length > unit.needed || new Set(moved).size <= 1;
      });
      const left = total - at.filter((_, pod) => hasMoved(at, pod)).length;
      if (isWhole && left < best.left) best = { left, disruptions: cost };
      for (const unit of units) {
        if (refused.has(unit.id)) continue;
        const pods = owners.flatMap((owner, pod) =>
          owner === unit && isGoing(pod) && !hasMoved(at, pod) ? [pod] : [],
        );
        for (let part = 1; part < 1 << pods.length; part += 1) {
          const going = pods.filter((_, bit) => part & (1 << bit));
          if (
            !recountAllows(
              asked,
              asked.pods.filter((_, pod) => going.includes(pod)),
            )
          )
            continue;
          const down = unit.on.length - going.length < unit.needed ? 1 : 0;
          for (const next of placements(drawn, owners, { at, going, isOpen: (index) => isOpen(at, index) })) {
            (queue[cost + down] ??= []).push({ at: next, cost: cost + down });
          }
        }
      }
    }
    if (queue.slice(cost + 1).some((states) => states !== undefined && states.length > 0)) queue[cost + 1] ??= [];
  }
  return best;
}

interface Going {
  readonly at: readonly number[];
  readonly going: readonly number[];
  readonly isOpen: (index: number) => boolean;
}

/** Every way to place some pods of one unit at once. */
function placements({ nodes }: Drawn, owners: readonly DrawnUnit[], { at, going, isOpen }: Going): number[][] {
  let ways: number[][] = [at.map((where, pod) => (going.includes(pod) ? -1 : where))];
  for (const pod of going) {
    ways = ways.flatMap((way) =>
      nodes.flatMap(({ gpus, tainted, zone }, index) => {
        const unit = owners[pod] as DrawnUnit;
        if (!isOpen(index) || (unit.zone ?? zone) !== zone || (tainted && !unit.tolerates)) return [];
        const stands = (other: number): boolean => other >= 0 && other % MOVED === index;
        const used = way.reduce((sum, other, one) => sum + (stands(other) ? (owners[one]?.gpus ?? 0) : 0), 0);
        const mates = way.filter((other, one) => other >= 0 && owners[one] === unit);
        if (unit.gpus > 0 && used + unit.gpus > gpus) return [];
        if (unit.together && mates.some((other) => nodes[other % MOVED]?.zone !== zone)) return [];
        return [way.map((other, one) => (one === pod ? index + MOVED : other))];
      }),
    );
  }
  return ways;
}

test('PL-15: with GPUs, zones, taints and groups in one zone, a plan leaves as little behind as brute force', () => {
  const seen = { compared: 0, stayed: 0, disrupted: 0 };
  for (let seed = 1; seen.compared < 300 * ROUNDS; seed += 1) {
    const drawn = draw(seed);
    const asked = questionOf(drawn);
    const draining = new Set(asked.nodes.filter(({ drain }) => drain).map(({ name }) => name));
    const going = asked.pods.filter(({ node: name }) => draining.has(name));
    if (going.length === 0 || going.length > 5) continue;
    seen.compared += 1;
    const best = bruteForce(drawn, asked);
    const { disruptions, steps } = planDrain(asked);
    const gone = new Set(steps.flatMap(({ evictions }) => evictions.flatMap(({ pods }) => pods)));
    const left = going.filter(({ id }) => !gone.has(id)).length;
    expect({ left, disruptions }, `seed ${seed}`).toEqual(best);
    if (left > 0) seen.stayed += 1;
    if (disruptions > 0) seen.disrupted += 1;
  }
  expect(seen.stayed).toBeGreaterThan(30);
  expect(seen.disrupted).toBeGreaterThan(30);
});

test('PL-15: a pod that no step takes is named with its unit as blocked', () => {
  let stayed = 0;
  for (let seed = 1; seed <= 600 * ROUNDS; seed += 1) {
    const asked = questionOf(draw(seed));
    const draining = new Set(asked.nodes.filter(({ drain }) => drain).map(({ name }) => name));
    const { blocked, steps } = planDrain(asked);
    const gone = new Set(steps.flatMap(({ evictions }) => evictions.flatMap(({ pods }) => pods)));
    const named = new Set(blocked.map(({ unit }) => unit));
    const left = asked.pods.filter(({ id, node: name }) => draining.has(name) && !gone.has(id));
    expect(
      left.filter(({ unit }) => !named.has(unit)).map(({ id }) => id),
      `seed ${seed}`,
    ).toEqual([]);
    stayed += left.length;
  }
  expect(stayed).toBeGreaterThan(100);
});
