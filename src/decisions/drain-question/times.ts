import { controllerOf } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { TIME_SOURCES, type TimeSource, type UnitTime } from '../drain-plan/index.ts';

/** What a person has said about how long pods take. */
export interface ToldTimes {
  /** How long new pods take to be ready, by the beginning of their name or `namespace/name`; the longest one counts. */
  readonly readyByName?: ReadonlyMap<string, number> | undefined;
  /** The same for all others that no pod of theirs tells. */
  readonly readySeconds?: number | undefined;
  /** How long pods take to stop, at most their grace period. */
  readonly stopSeconds?: number | undefined;
}

/** How long a unit took to serve again the last times, by the record: its id, and a pod of it. */
export type RecoveryOf = (unit: string, pod: Pod) => number | undefined;

/** Starts of the past that count, the latest ones. */
const SAMPLES = 20;
const RANGE_SAMPLES = 5;
const DEFAULT_GRACE = 30;
const DEFAULT_PLACE = 2;

interface Starts {
  readonly place: number[];
  readonly ready: number[];
}

/**
 * How long the pods of a unit take to stop, to find a node and to serve. Known, in this order: what was told for the
 * workload by name, what the record says of the whole unit, what its pods took when they last started, what was told for
 * all.
 */
export class StartTimes {
  readonly #starts = new Map<string, Starts>();
  readonly #told: ToldTimes;

  readonly #recoveryOf: RecoveryOf | undefined;

  constructor(pods: readonly Pod[], told: ToldTimes, recoveryOf?: RecoveryOf) {
    this.#told = told;
    this.#recoveryOf = recoveryOf;
    const latest = [...pods].sort((a, b) => (createdOf(b) ?? 0) - (createdOf(a) ?? 0));
    for (const pod of latest) {
      const owner = controllerOf(pod)?.uid;
      const start = startOf(pod);
      if (owner === undefined || start === undefined) continue;
      const known = this.#starts.get(owner) ?? { place: [], ready: [] };
      if (known.ready.length < SAMPLES) {
        known.place.push(start.place);
        known.ready.push(start.ready);
      }
      this.#starts.set(owner, known);
    }
  }

  of(pod: Pod, unit: string): UnitTime {
    const starts = this.#starts.get(controllerOf(pod)?.uid ?? '');
    const told = this.#toldFor(pod);
    const seen = starts === undefined ? undefined : quantile(starts.ready, 0.5);
    const recovery = told === undefined ? this.#recoveryOf?.(unit, pod) : undefined;
    const known: [TimeSource, number | undefined][] = [
      ['Told', told],
      ['Recorded', recovery],
      ['Started', seen],
      ['Assumed', this.#told.readySeconds],
    ];
    const by = known.find(([, seconds]) => seconds !== undefined)?.[0];
    const ready = told ?? seen ?? this.#told.readySeconds;
    const grace = pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE;
    const enough = by === 'Started' && starts !== undefined && starts.ready.length >= RANGE_SAMPLES;
    return {
      stop: Math.min(grace, this.#told.stopSeconds ?? grace),
      place: starts === undefined ? DEFAULT_PLACE : quantile(starts.place, 0.5),
      ...(ready !== undefined && { ready }),
      ...(recovery !== undefined && { recovery }),
      ...(by !== undefined && { by }),
      ...(enough && { range: { from: quantile(starts.ready, 0.1), to: quantile(starts.ready, 0.9) } }),
    };
  }

  #toldFor({ metadata: { name = '', namespace = '' } }: Pod): number | undefined {
    const fits = [...(this.#told.readyByName ?? [])].filter(([workload]) =>
      [name, `${namespace}/${name}`].some((full) => full === workload || full.startsWith(`${workload}-`)),
    );
    return fits.sort(([a], [b]) => b.length - a.length)[0]?.[1];
  }
}

/** A unit is as slow as its slowest member; what one member hides, nobody knows of all. What was told beats the record. */
export function slower(a: UnitTime | undefined, b: UnitTime): UnitTime {
  if (a === undefined) return b;
  const by = TIME_SOURCES.find((source) => a.by === source || b.by === source);
  const recovery = by === 'Recorded' ? Math.max(a.recovery ?? 0, b.recovery ?? 0) : undefined;
  const known = a.ready !== undefined && b.ready !== undefined;
  const range = known && recovery === undefined && (a.range ?? b.range) !== undefined;
  return {
    stop: Math.max(a.stop, b.stop),
    place: Math.max(a.place, b.place),
    ...(known && { ready: Math.max(a.ready ?? 0, b.ready ?? 0) }),
    ...(recovery !== undefined && { recovery }),
    ...(by !== undefined && (known || recovery !== undefined) && { by }),
    ...(range && {
      range: {
        from: Math.max(a.range?.from ?? a.ready ?? 0, b.range?.from ?? b.ready ?? 0),
        to: Math.max(a.range?.to ?? a.ready ?? 0, b.range?.to ?? b.ready ?? 0),
      },
    }),
  };
}

/** How long a pod took that has started and never stopped being ready; undefined where that cannot be told. */
function startOf(pod: Pod): { place: number; ready: number } | undefined {
  const created = createdOf(pod);
  if ((pod.status?.containerStatuses ?? []).some(({ restartCount }) => (restartCount ?? 0) > 0)) return undefined;
  const since = (type: string): number | undefined => {
    const condition = pod.status?.conditions?.find((one) => one.type === type);
    return condition?.status === 'True' ? parseTime(condition.lastTransitionTime ?? '') : undefined;
  };
  const scheduled = since('PodScheduled');
  const ready = since('Ready');
  if (created === undefined || scheduled === undefined || ready === undefined || ready < scheduled) return undefined;
  return { place: Math.max(0, scheduled - created) / 1000, ready: (ready - scheduled) / 1000 };
}

const createdOf = ({ metadata }: Pod): number | undefined =>
  metadata.creationTimestamp === undefined ? undefined : parseTime(metadata.creationTimestamp);

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
