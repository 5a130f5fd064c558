import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../../api/kruise/types.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import type { CapacityFinding } from '../../../decisions/capacity/index.ts';
import {
  asksForRoom,
  type BudgetIndex,
  UnavailabilityTally,
  computeStatus,
  isSameStatus,
  isThresholdUnreached,
  pruneLedger,
  raisedConditions,
  thresholdPatienceMs,
} from '../../../decisions/unavailability/index.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  type ReconcileResult,
  settled,
  wallTimeOf,
  type WorkQueue,
} from '../../../machinery/runtime/index.ts';
import type { LostRooms } from '../../shared/holds/index.ts';
import { type ExpectedSources, gatherExpected } from './expected.ts';
import { markNewPods, type MarkedPods } from './mark-pods.ts';
import type { BudgetGauges } from './metrics.ts';

/** Budgets are looked at again after this long, whatever happens: some owners tell nobody when they change. */
const RESYNC_MS = 60_000;

export interface UnavailabilityDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly index: (namespace: string) => BudgetIndex;
  readonly sources: ExpectedSources;
  readonly gauges: BudgetGauges;
  /** Since when no group of a budget reaches its threshold, by key. */
  readonly shortSince: Map<string, number>;
  readonly marked: Map<string, MarkedPods>;
  /** Whether what a budget guards would find places, by its key; `capacityLooks` finds it out. */
  readonly capacity: Map<string, CapacityFinding>;
  readonly capacityLooks: WorkQueue;
  readonly lost: LostRooms;
  readonly held: Set<string>;
  /** How new the pods in the index are; absent where nobody else decides. */
  readonly podsResourceVersion?: (() => string) | undefined;
}

/** Brings one budget's status in line with the pods it covers, and marks those pods as its own. */
export async function reconcileUnavailableBudget(deps: UnavailabilityDeps, key: ObjectKey): Promise<ReconcileResult> {
  const { clock, gauges, index, sources } = deps;
  const { namespace = '', name } = key;
  const entry = index(namespace).budget(name);
  if (entry === undefined || entry.budget.metadata.deletionTimestamp) {
    gauges.forget(key);
    deps.shortSince.delete(formatKey(key));
    deps.marked.delete(formatKey(key));
    deps.capacity.delete(formatKey(key));
    return settled;
  }
  const { budget } = entry;
  const nowMs = clock.now();
  if (deps.lost.restore(formatKey(key), budget.status?.conditions)) deps.held.add(formatKey(key));
  const capacity = deps.lost.finding(formatKey(key)) ?? deps.capacity.get(formatKey(key));
  if (capacity === undefined && asksForRoom(budget)) deps.capacityLooks.add(formatKey(key));
  const expected = await gatherExpected(budget, entry.tally, sources);
  // A target scaled to nothing has no pods to guard, whatever still runs.
  const tally = budget.spec?.targetRef && expected.count === 0 ? new UnavailabilityTally() : entry.tally;
  const ledger = pruneLedger(budget.status, tally.pods, nowMs);
  const counted = withLedger(tally, ledger, () => {
    const shortSinceMs = followThreshold(deps, formatKey(key), { budget, tally });
    const podsResourceVersion = deps.podsResourceVersion?.();
    const question = { budget, tally, ledger, expected, shortSinceMs, nowMs, podsResourceVersion, capacity };
    return { shortSinceMs, status: computeStatus(question) };
  });
  const { shortSinceMs, status } = counted;

  reportNotDeleted(deps, namespace, ledger.notDeleted);
  if (tally.pods.size === 0) deps.events.record(budget, 'Normal', 'NoPods', 'No matching pods found');
  gauges.set(key, status);
  if (!isSameStatus(budget.status, status)) {
    await deps.client.updateStatus(POD_UNAVAILABLE_BUDGETS, { ...budget, status });
    for (const { message = '', reason = '' } of raisedConditions(budget.status, status)) {
      deps.events.record(budget, 'Warning', reason, message);
    }
  }
  await markNewPods(deps, key, { tally, maxAgeMs: RESYNC_MS });
  const dues = [
    RESYNC_MS,
    ...(ledger.nextExpiryMs === undefined ? [] : [ledger.nextExpiryMs + 1 - nowMs]),
    ...(shortSinceMs === undefined
      ? []
      : [shortSinceMs + thresholdPatienceMs(budget) - nowMs].filter((due) => due > 0)),
  ];
  return { requeueAfterMs: Math.max(1, Math.min(...dues)) };
}

/** Counts with the pruned ledger, then puts back what the index holds: that follows the stored status, not ours. */
function withLedger<T>(
  tally: UnavailabilityTally,
  ledger: Parameters<UnavailabilityTally['setLedger']>[0],
  count: () => T,
): T {
  const stored = tally.ledger;
  tally.setLedger(ledger);
  try {
    return count();
  } finally {
    tally.setLedger(stored);
  }
}

function followThreshold(
  { clock, shortSince }: UnavailabilityDeps,
  key: string,
  question: { budget: PodUnavailableBudget; tally: UnavailabilityTally },
): number | undefined {
  if (question.budget.spec?.podGroupPolicy === undefined || !isThresholdUnreached(question)) {
    shortSince.delete(key);
    return undefined;
  }
  const since = shortSince.get(key) ?? clock.elapsed();
  shortSince.set(key, since);
  return wallTimeOf(clock, since);
}

function reportNotDeleted({ events, sources }: UnavailabilityDeps, namespace: string, names: readonly string[]): void {
  for (const name of names) {
    const pod = sources.pod(namespace, name);
    if (pod === undefined) continue;
    events.record(
      pod,
      'Warning',
      'NotDeleted',
      `Pod was expected to be deleted by PUB ${namespace}/${name} but it wasn't`,
    );
  }
}
