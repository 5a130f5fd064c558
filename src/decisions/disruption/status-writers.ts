/** Who wrote the status of a budget, as the API server recorded it. */
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { parseTime } from '../../machinery/values/index.ts';

/** Ourselves, and the API server, which counts the evictions that it carries out. */
const KNOWN = new Set(['quorate-operator', 'quorate', 'kube-apiserver']);

const NUMBERS = ['currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods'] as const;

type ManagedFields = NonNullable<PodDisruptionBudget['metadata']['managedFields']>[number];

function byOthers({ metadata }: PodDisruptionBudget): ManagedFields[] {
  const entries = metadata.managedFields ?? [];
  return entries.filter(({ manager = '', subresource }) => subresource === 'status' && !KNOWN.has(manager));
}

/** When somebody else last wrote the status of one of these budgets; undefined where nobody ever did. */
export function lastForeignWriteMs(budgets: Iterable<PodDisruptionBudget>): number | undefined {
  let last: number | undefined;
  for (const budget of budgets) {
    for (const { time } of byOthers(budget)) last = Math.max(last ?? 0, parseTime(time) ?? 0);
  }
  return last;
}

/**
 * Who put other numbers in between two versions of a budget; undefined where it was one of us, the API server, or
 * nobody. The API server records as owner of a field whoever changed it last.
 */
export function foreignWriter(old: PodDisruptionBudget, budget: PodDisruptionBudget): string | undefined {
  const changed = NUMBERS.filter((name) => (old.status?.[name] ?? 0) !== (budget.status?.[name] ?? 0));
  return byOthers(budget).find((entry) => changed.some((name) => owns(entry, name)))?.manager;
}

function owns({ fieldsV1 }: ManagedFields, name: (typeof NUMBERS)[number]): boolean {
  const fields = (fieldsV1 as { 'f:status'?: Record<string, unknown> } | undefined)?.['f:status'] ?? {};
  return `f:${name}` in fields;
}

/** Who wrote which number, in an order that depends on nothing else. */
export function ownersOfNumbers({ metadata }: PodDisruptionBudget): string[] {
  const entries = metadata.managedFields ?? [];
  return entries
    .flatMap((entry) => NUMBERS.filter((name) => owns(entry, name)).map((name) => `${entry.manager ?? ''}/${name}`))
    .toSorted();
}

const WINDOW_MS = 60_000;
const FIGHT = 3;
/** How often numbers are put right that somebody else keeps changing. */
const TURN_MS = 30_000;
/** Our turns were left alone: the other has gone. */
const OVER_MS = 3 * TURN_MS;

interface Fight {
  /** When other numbers were put in lately. */
  readonly times: readonly number[];
  readonly writer: string;
  readonly isOn: boolean;
  readonly turnMs: number;
}

/**
 * Tells, by budget, whether somebody else keeps putting other numbers in: three times within a minute. From then on we
 * put them right at intervals, until nobody changes them any more. Times are those of a clock that only goes forward.
 */
export class ForeignWrites {
  readonly #fights = new Map<string, Fight>();

  add(budget: string, writer: string, nowMs: number): void {
    const old = this.#fights.get(budget);
    const times = [...(old?.times ?? []), nowMs].filter((atMs) => nowMs - atMs < WINDOW_MS).slice(-FIGHT);
    const isOn = times.length === FIGHT || (old !== undefined && this.writer(budget, nowMs) !== undefined);
    this.#fights.set(budget, { times, writer, isOn, turnMs: old?.turnMs ?? Number.NEGATIVE_INFINITY });
  }

  /** Who it is; undefined where there is no fight. */
  writer(budget: string, nowMs: number): string | undefined {
    const { isOn = false, times = [], writer } = this.#fights.get(budget) ?? {};
    return isOn && nowMs - (times.at(-1) ?? 0) < OVER_MS ? writer : undefined;
  }

  /** How long to wait before numbers may be put right; 0: now, and then that turn is taken. */
  turnInMs(budget: string, nowMs: number): number {
    const fight = this.#fights.get(budget);
    if (fight === undefined || this.writer(budget, nowMs) === undefined) return 0;
    const waitMs = fight.turnMs + TURN_MS - nowMs;
    if (waitMs > 0) return waitMs;
    this.#fights.set(budget, { ...fight, turnMs: nowMs });
    return 0;
  }

  forget(budget: string): void {
    this.#fights.delete(budget);
  }
}
