import type { PodUnavailableBudgetStatus } from '../../api/kruise/types.ts';
import { parseTime } from '../../machinery/values/index.ts';

/** How long an allowed delete or eviction may stay unconfirmed before its pod counts again. */
export const DELETION_TIMEOUT_MS = 20_000;
/** How long an allowed update holds its pod as unavailable; afterwards the pod's own readiness decides. */
export const UPDATE_DELAY_MS = 10_000;
/** Unconfirmed entries, of both kinds together, beyond which nothing more is granted. */
export const MAX_ENTRIES = 2000;

export interface LedgerPod {
  readonly name: string;
  readonly active: boolean;
  readonly createdAtMs: number;
}

export interface PrunedLedger {
  readonly disruptedPods: Record<string, string>;
  readonly unavailablePods: Record<string, string>;
  /** Pods that an allowed delete did not take away in time. */
  readonly notDeleted: readonly string[];
  /** When the next entry runs out; undefined when none is left. */
  readonly nextExpiryMs: number | undefined;
}

/**
 * An entry belongs to a pod only if the pod is not younger than it: a recreated pod of the same name starts clean.
 * Times are stored in whole seconds, so the pod's creation is compared at that grain.
 */
export function entryCovers(entry: string | undefined, { createdAtMs }: Pick<LedgerPod, 'createdAtMs'>): boolean {
  const at = parseTime(entry);
  return at !== undefined && Math.floor(createdAtMs / 1000) * 1000 <= at;
}

export function isRecorded(status: PodUnavailableBudgetStatus | undefined, pod: LedgerPod): boolean {
  return entryCovers(status?.disruptedPods?.[pod.name], pod) || entryCovers(status?.unavailablePods?.[pod.name], pod);
}

/** Drops entries of pods that are gone, inactive or recreated, and those whose time has run out (strictly). */
export function pruneLedger(
  status: PodUnavailableBudgetStatus | undefined,
  pods: ReadonlyMap<string, LedgerPod>,
  nowMs: number,
): PrunedLedger {
  const disruptedPods: Record<string, string> = {};
  const unavailablePods: Record<string, string> = {};
  const notDeleted: string[] = [];
  let nextExpiryMs: number | undefined;
  const keep = (target: Record<string, string>, name: string, entry: string, lifetimeMs: number): boolean => {
    const expiry = (parseTime(entry) as number) + lifetimeMs;
    if (expiry < nowMs) return false;
    target[name] = entry;
    nextExpiryMs = Math.min(nextExpiryMs ?? expiry, expiry);
    return true;
  };
  for (const [name, entry] of Object.entries(status?.disruptedPods ?? {})) {
    const pod = pods.get(name);
    if (pod === undefined || !pod.active || !entryCovers(entry, pod)) continue;
    if (!keep(disruptedPods, name, entry, DELETION_TIMEOUT_MS)) notDeleted.push(name);
  }
  for (const [name, entry] of Object.entries(status?.unavailablePods ?? {})) {
    const pod = pods.get(name);
    if (pod === undefined || !pod.active || !entryCovers(entry, pod)) continue;
    keep(unavailablePods, name, entry, UPDATE_DELAY_MS);
  }
  return { disruptedPods, unavailablePods, notDeleted: notDeleted.sort(), nextExpiryMs };
}

export function ledgerSize(status: PodUnavailableBudgetStatus | undefined): number {
  return Object.keys(status?.disruptedPods ?? {}).length + Object.keys(status?.unavailablePods ?? {}).length;
}
