/**
 * The numbers in pods that a budget over groups shows to those who only read them: the API server's own check, the
 * preemption of schedulers, autoscalers, alerts. See ADR 0018.
 */

/** Which formula this is. Raised with every change of it: only replicas with the same number publish for one budget. */
export const PUBLICATION = 1;

/** A group with pods that the budget selects and that could go. */
export interface UnitState {
  /** Members that are Ready and stay. */
  readonly healthy: number;
  readonly minCount: number;
  /** Selected pods that are Ready, stay, and are no other budget's. */
  readonly takeable: number;
  /** `disruptionMode: all`: no member goes without the others. */
  readonly whole: boolean;
}

/** What a budget over groups is made of at one moment. */
export interface PublicationState {
  /** Groups expected, available, and wanted available. */
  readonly expected: number;
  readonly available: number;
  readonly desired: number;
  /** Groups that may still go down. */
  readonly mayGoDown: number;
  readonly alwaysAllow: boolean;
  /** Groups with a takeable pod. */
  readonly units: readonly UnitState[];
  /** Selected pods without a group that are Ready, stay, and are no other budget's. */
  readonly individual: number;
  /** Selected pods that are Ready and not going, as Kubernetes counts them. */
  readonly ready: number;
  /** Of these, pods whose eviction was let pass and is still to be counted by the API server. */
  readonly outstanding: number;
  /** Selected pods that run without being Ready, and are no other budget's. */
  readonly unready: number;
  /** Selected pods that have not finished. */
  readonly pods: number;
  /** What groups that are down or absent lack. Only asked for while the budget is not met. */
  readonly shortages: () => readonly Shortage[];
}

/** So many groups that each lack so many pods. */
export interface Shortage {
  readonly groups: number;
  readonly pods: number;
}

export interface Publication {
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  /** Pods that were let pass and that the API server has still to count. */
  readonly outstanding: number;
  /** Pods that could go now if chosen best, without those that have been let pass already. */
  readonly spare: number;
  /** What the numbers say, in words. */
  readonly message: string;
}

/**
 * The loosest numbers that are true. Whatever the webhook grants passes the API server's check on them:
 *  1. `disruptionsAllowed` counts the pods that could go if chosen best, and those let pass but not yet counted
 *  2. unready pods pass by current >= desired, which holds where the budget does; with nothing desired the API server
 *     counts them as well, so they are in the number
 *  3. below the budget current is less than desired, by as many pods as must become Ready
 */
export function computePublication(state: PublicationState): Publication {
  const { available, desired, expected, outstanding, pods, ready } = state;
  const isMet = available >= desired;
  const spare = isMet ? spareWhileMet(state) : spareWhileShort(state);
  const desiredHealthy = isMet ? ready - spare - outstanding : ready + needed(state);
  const unready = isMet && desiredHealthy === 0 ? state.unready : 0;
  return {
    disruptionsAllowed: spare + outstanding + unready,
    currentHealthy: ready,
    desiredHealthy,
    expectedPods: Math.max(pods, desiredHealthy),
    outstanding,
    spare,
    message: `${available} of ${expected} groups are available, ${desired} must stay; up to ${spare} pods can go now if chosen best`,
  };
}

/** Pods that cost nothing, and all pods of the largest groups that may go down. */
function spareWhileMet({ individual, mayGoDown, units }: PublicationState): number {
  const gains: number[] = [];
  let spare = individual;
  for (const unit of units) {
    const free = freeOf(unit);
    spare += free;
    if (unit.takeable > free) gains.push(unit.takeable - free);
  }
  gains.sort((a, b) => b - a);
  for (const gain of gains.slice(0, mayGoDown)) spare += gain;
  return spare;
}

/** Only what is broken anyway may follow, where the budget says so. */
function spareWhileShort({ alwaysAllow, units }: PublicationState): number {
  if (!alwaysAllow) return 0;
  let spare = 0;
  for (const unit of units) if (unit.healthy < unit.minCount) spare += unit.takeable;
  return spare;
}

function freeOf({ healthy, minCount, takeable, whole }: UnitState): number {
  if (healthy < minCount) return takeable;
  return whole ? 0 : Math.min(takeable, healthy - minCount);
}

/** Status fields are 32 bits wide. */
const LARGEST = 2 ** 31 - 1;

/** The fewest pods that must become Ready until the budget is met. */
function needed({ available, desired, ready, shortages }: PublicationState): number {
  const cheapestFirst = [...shortages()].sort((a, b) => a.pods - b.pods);
  const largest = cheapestFirst.at(-1)?.pods ?? 1;
  let groups = desired - available;
  let pods = 0;
  for (const shortage of cheapestFirst) {
    const taken = Math.min(groups, shortage.groups);
    pods += taken * shortage.pods;
    groups -= taken;
  }
  return Math.min(Math.max(1, pods + groups * largest), LARGEST - ready);
}
