/** A run, drawn from its seed as data: what there is, and what happens to it when. */
import { Dice } from '../placement/dice.ts';
import type { NoticeHappening } from './notices.ts';

const PROCESSES = ['controllers', 'scheduler', 'nodes'] as const;
const REPLICAS = ['operator-0', 'operator-1'] as const;
export type ReplicaName = (typeof REPLICAS)[number];
export type ProcessName = (typeof PROCESSES)[number] | ReplicaName;

/** `embedded`: the API server judges evictions itself; `cluster`: replicas of the operator do, asked by a webhook. */
export type HostKind = 'embedded' | 'cluster';

export const processesOf = ({ host }: Pick<Plan, 'host'>): readonly ProcessName[] =>
  host === 'embedded' ? PROCESSES : [...PROCESSES, ...REPLICAS];

export const isReplica = (name: ProcessName): name is ReplicaName => REPLICAS.some((replica) => replica === name);

export interface Gang {
  readonly name: string;
  readonly size: number;
  readonly minimum: number;
}

export type Happening =
  | { readonly kind: 'weather'; readonly forMs: number; readonly strength: number; readonly longestMs: number }
  | { readonly kind: 'disk'; readonly forMs: number; readonly lateMs: number; readonly fails: number }
  | {
      readonly kind: 'kill';
      readonly process: ProcessName;
      /** Of its requests that change something, counted from here. */
      readonly afterWrites: number;
      readonly when: 'before' | 'after';
      readonly downMs: number;
      /** It only stands still for that time, and goes on with what it knew. */
      readonly pauses?: boolean;
    }
  | { readonly kind: 'kill server'; readonly afterFlushes: number; readonly keep: boolean; readonly downMs: number }
  | { readonly kind: 'pause'; readonly process: ProcessName | 'server'; readonly forMs: number }
  | { readonly kind: 'set clock'; readonly process: ProcessName | 'server'; readonly byMs: number }
  | NoticeHappening
  | { readonly kind: 'forget history' }
  | { readonly kind: 'drain'; readonly node: number }
  | { readonly kind: 'evict'; readonly choice: number; readonly twice: boolean }
  | { readonly kind: 'delete pod'; readonly choice: number }
  | { readonly kind: 'unready'; readonly choice: number; readonly forMs: number }
  | { readonly kind: 'scale'; readonly choice: number; readonly by: number }
  | { readonly kind: 'power off'; readonly node: number; readonly forMs: number };

export interface Step {
  readonly atMs: number;
  readonly what: Happening;
}

export interface Plan {
  readonly seed: number;
  readonly host: HostKind;
  readonly nodes: number;
  readonly gangs: readonly Gang[];
  /** Pods of no group. */
  readonly plain: number;
  /** For how long gangs are told before they go; absent: they are not. */
  readonly toldSeconds?: number;
  /** From before there are any objects. */
  readonly first?: readonly Happening[];
  readonly steps: readonly Step[];
}

/** How long things go wrong. */
export const TROUBLE_MS = 90_000;

type Draw = readonly [number, (dice: Dice) => Happening];

const drawsFor = (names: readonly ProcessName[]): readonly Draw[] => [
  [
    5,
    (dice) => ({
      kind: 'weather',
      forMs: dice.whole(1000, 40_000),
      strength: dice.whole(1, 12),
      longestMs: dice.pick([5, 200, 3000]),
    }),
  ],
  [
    2,
    (dice) => ({
      kind: 'disk',
      forMs: dice.whole(500, 8000),
      lateMs: dice.pick([1, 40, 800]),
      fails: dice.pick([0, 5, 50]),
    }),
  ],
  [
    6,
    (dice) => ({
      kind: 'kill',
      process: dice.pick(names),
      afterWrites: dice.whole(0, 12),
      when: dice.pick(['before', 'after'] as const),
      downMs: dice.pick([0, 500, 20_000, 60_000]),
    }),
  ],
  [
    4,
    (dice) => ({
      kind: 'kill server',
      afterFlushes: dice.whole(0, 8),
      keep: dice.chance(50),
      downMs: dice.pick([0, 1000, 15_000]),
    }),
  ],
  [
    3,
    (dice) => ({
      kind: 'pause',
      process: dice.pick([...names, 'server'] as const),
      forMs: dice.pick([800, 12_000, 50_000]),
    }),
  ],
  [
    2,
    (dice) => ({
      kind: 'set clock',
      process: dice.pick([...names, 'server'] as const),
      byMs: dice.pick([-3_600_000, -30_000, 30_000, 3_600_000]),
    }),
  ],
  [2, () => ({ kind: 'forget history' })],
  [5, (dice) => ({ kind: 'drain', node: dice.whole(0, 1) })],
  [6, (dice) => ({ kind: 'evict', choice: dice.whole(0, 999), twice: dice.chance(40) })],
  [2, (dice) => ({ kind: 'delete pod', choice: dice.whole(0, 999) })],
  [2, (dice) => ({ kind: 'unready', choice: dice.whole(0, 999), forMs: dice.whole(1000, 30_000) })],
  [2, (dice) => ({ kind: 'scale', choice: dice.whole(0, 999), by: dice.pick([-1, 1]) })],
  [1, (dice) => ({ kind: 'power off', node: dice.whole(0, 3), forMs: dice.pick([5000, 60_000]) })],
];

export function drawPlan(seed: number, host: HostKind = 'embedded'): Plan {
  const dice = new Dice(seed);
  const gangs = Array.from({ length: dice.whole(2, 3) }, (_, at) => {
    const size = dice.whole(2, 3);
    return { name: `gang-${at}`, size, minimum: dice.whole(2, size) };
  });
  const draws = drawsFor(processesOf({ host }));
  const steps = Array.from({ length: dice.whole(6, 14) }, () => ({
    atMs: dice.whole(0, TROUBLE_MS),
    what: draw(dice, draws),
  })).filter(({ what }) => host === 'embedded' || !TAKES_PODS.has(what.kind));
  steps.sort((one, other) => one.atMs - other.atMs);
  return { seed, host, nodes: 4, gangs, plain: dice.whole(2, 4), steps };
}

/** On a cluster pods are counted as gone by evictions: nothing else may take them. */
const TAKES_PODS: ReadonlySet<Happening['kind']> = new Set(['delete pod', 'power off']);

function draw(dice: Dice, draws: readonly Draw[]): Happening {
  const total = draws.reduce((sum, [weight]) => sum + weight, 0);
  let left = dice.whole(1, total);
  for (const [weight, of] of draws) {
    left -= weight;
    if (left <= 0) return of(dice);
  }
  throw new Error('the weights do not add up');
}
