/** Fleets for tests of the planner: told by hand, or drawn from a seed. */
import type { Pod } from '../../api/generated/core-v1.ts';
import { seededRandom } from '../../machinery/values/index.ts';
import { Cluster, podFacts } from '../placement/index.ts';
import type { PlanCell, PlanNode, PlanPod, PlanQuestion, PlanUnit } from './model.ts';

export interface Fleet {
  /** Free slots per node; a pod takes one. */
  readonly nodes: Readonly<Record<string, { free: number; drain?: boolean }>>;
  /** Units by name: the node of each member, and what the unit needs (all members when absent). */
  readonly units: Readonly<Record<string, FleetUnit>>;
  readonly budgets?: Readonly<Record<string, number>>;
  readonly nodesReturn?: boolean;
}

export interface FleetUnit {
  readonly on: readonly string[];
  readonly needed?: number;
  readonly budget?: string;
  readonly wholesale?: boolean;
  /** A budget that counts the unit's pods one by one. */
  readonly podBudget?: string;
  /** A second budget over groups, with a threshold of its own, as a PodUnavailableBudget beside a PodDisruptionBudget. */
  readonly other?: { readonly budget: string; readonly needed: number };
  /** Slots a pod takes. Default 1. */
  readonly size?: number;
}

const SLOTS = 'example.com/slots';

function slotPod(id: string, size: number): Pod {
  return {
    metadata: { name: id, namespace: 'fleet', uid: id },
    spec: { containers: [{ name: 'main', resources: { requests: { [SLOTS]: String(size) } } }] },
  };
}

export function question({ nodes, units, budgets = {}, nodesReturn = false }: Fleet): PlanQuestion {
  const cluster = new Cluster();
  const used = new Map<string, number>();
  for (const { on, size = 1 } of Object.values(units)) {
    for (const node of on) used.set(node, (used.get(node) ?? 0) + size);
  }
  for (const [name, { free }] of Object.entries(nodes)) {
    cluster.setNode({
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status: {
        allocatable: { [SLOTS]: String(free + (used.get(name) ?? 0)), pods: '1000' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  }
  const pods: PlanPod[] = [];
  const planUnits: PlanUnit[] = [];
  for (const [id, unit] of Object.entries(units)) {
    const { on, needed = on.length, budget, other, podBudget, size = 1, wholesale = false } = unit;
    planUnits.push({ id, budgets: budget === undefined ? [] : [budget], healthy: on.length, needed, wholesale });
    for (const [index, node] of on.entries()) {
      const name = `${id}-${index}`;
      const cells: PlanCell[] = [];
      if (podBudget !== undefined) cells.push({ id: name, budget: podBudget, healthy: 1, needed: 1 });
      if (other !== undefined) cells.push({ id, budget: other.budget, healthy: on.length, needed: other.needed });
      const facts = podFacts(slotPod(name, size), cluster.resources);
      cluster.place(facts, node);
      pods.push({ id: name, node, unit: id, facts, replacement: facts, ...(cells.length > 0 && { cells }) });
    }
  }
  return {
    cluster,
    searches: () => true,
    nodes: Object.entries(nodes).map(([name, { drain = false }]): PlanNode => ({ name, drain })),
    pods,
    units: planUnits,
    budgets: Object.entries(budgets).map(([id, allowance]) => ({ id, allowance })),
    nodesReturn,
  };
}

/** Slots a pod takes. */
export const sizeOf = ({ facts }: PlanPod): number => facts.requests[0]?.amount ?? 0;

/** Slots that are free on a node before anything moves. */
export function freeOn({ cluster }: PlanQuestion, name: string): number {
  const slot = cluster.resources.slot(SLOTS);
  const node = cluster.node(name);
  return (node?.allocatable[slot] ?? 0) - (node?.requested[slot] ?? 0);
}

export interface DrawOptions {
  readonly maxNodes?: number;
  readonly maxUnits?: number;
  readonly maxMembers?: number;
  /** Pods of several sizes. */
  readonly sizes?: boolean;
}

/**
 * A fleet of up to six nodes and six groups, drawn from a seed: budgets over groups and over pods, both over the same
 * pods, thresholds below the size, groups that restart as one, little room.
 */
export function drawFleet(seed: number, options: DrawOptions = {}): PlanQuestion {
  const { maxNodes = 6, maxUnits = 6, maxMembers = 4, sizes = false } = options;
  const random = seededRandom(seed);
  const whole = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  const maybe = (chance: number): boolean => random() < chance;
  const count = whole(2, maxNodes);
  const drained = whole(1, maybe(0.2) ? count : count - 1);
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  const tight = maybe(0.7);
  const nodes = Object.fromEntries(
    names.map((name, index) => {
      const drain = index < drained;
      return [name, { free: drain ? whole(0, maybe(0.3) ? 2 : 0) : whole(0, tight ? 3 : 8), drain }];
    }),
  );
  const units: Record<string, FleetUnit> = {};
  for (let index = 0, total = whole(1, maxUnits); index < total; index += 1) {
    const on = Array.from({ length: whole(1, maxMembers) }, () => names[whole(0, count - 1)] as string);
    units[`g${index}`] = {
      on,
      needed: Math.max(1, on.length - (maybe(0.3) ? whole(1, 2) : 0)),
      wholesale: maybe(0.2),
      ...(maybe(0.6) && { budget: maybe(0.5) ? 'p' : 'q' }),
      ...(maybe(0.25) && { podBudget: 'pods' }),
      ...(maybe(0.2) && { other: { budget: 'pub', needed: whole(1, on.length) } }),
      ...(sizes && { size: whole(1, 3) }),
    };
  }
  const budgets = {
    p: whole(maybe(0.1) ? -1 : 0, 2),
    q: whole(1, 2),
    pods: whole(maybe(0.1) ? 0 : 1, 3),
    pub: whole(1, 2),
  };
  return question({ nodes, units, budgets, nodesReturn: maybe(0.6) });
}

/** Whether every budget lets these pods go at once, counted from scratch. */
export function recountAllows(asked: PlanQuestion, going: readonly PlanPod[]): boolean {
  const charged = new Map<string, number>();
  const touched = new Set<string>();
  const cells = new Map<
    string,
    { budget: string; healthy: number; needed: number; wholesale: boolean; lost: number }
  >();
  for (const pod of going) {
    const unit = asked.units.find(({ id }) => id === pod.unit) as PlanUnit;
    const own = unit.budgets.map((budget) => ({ ...unit, budget }));
    for (const cell of [...own, ...(pod.cells ?? []).map((one) => ({ ...one, wholesale: false }))]) {
      const key = `${cell.budget}:${cell.id}`;
      const known = cells.get(key) ?? { ...cell, lost: 0 };
      cells.set(key, { ...known, lost: known.lost + 1 });
      touched.add(cell.budget);
    }
  }
  for (const { budget, healthy, lost, needed, wholesale } of cells.values()) {
    const left = wholesale ? 0 : healthy - lost;
    if (healthy >= needed && left < needed) charged.set(budget, (charged.get(budget) ?? 0) + 1);
  }
  return asked.budgets.every(
    ({ allowance, id }) => !touched.has(id) || (allowance >= 0 && (charged.get(id) ?? 0) <= allowance),
  );
}
