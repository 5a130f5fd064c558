import type { Pod } from '../../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget } from '../../../api/generated/policy-v1.ts';
import type { DisruptionLedgerStatus, LedgerGrant } from '../../../api/quorate/types.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import type { CapacityFinding } from '../../../decisions/capacity/index.ts';
import {
  type BudgetCount,
  type BudgetFacts,
  computeDesired,
  type DisruptionIndex,
  isStillThere,
  keepGrants,
  type KeptGrants,
  needsExpectedScale,
  readBudget,
} from '../../../decisions/disruption/index.ts';
import {
  ApiError,
  type Clock,
  type EventRecorder,
  type Debounce,
  type Informer,
  isConflict,
  type ReconcileResult,
  settled,
  TerminalError,
  type WorkQueue,
} from '../../../machinery/runtime/index.ts';
import { formatTime, parseTime } from '../../../machinery/values/index.ts';
import type { LostRooms } from '../../shared/holds/index.ts';
import type { BudgetBook } from './book.ts';
import { rebuildDisruptedPods } from './disrupted-pods.ts';
import {
  expectedCountFailed,
  modeEvents,
  noPods,
  notDeleted,
  podsUnreadable,
  publish,
  unmanagedPods,
} from './events.ts';
import type { FoundScale } from '../../shared/scale-lookup/index.ts';
import type { SettlingTimes } from './settling.ts';
import { computeFailedStatus, computeStatus } from './status.ts';

export interface DisruptionDeps {
  readonly clock: Clock;
  readonly index: DisruptionIndex;
  readonly events: EventRecorder;
  readonly book: BudgetBook;
  readonly pods: Informer<Pod>;
  /** Reads a pod from the API server. */
  readonly podNow: (key: ObjectKey) => Promise<Pod | undefined>;
  /** Whether Workloads and PodGroups are known. */
  readonly groups: { readonly known: boolean };
  readonly recheck: WorkQueue;
  readonly debounce: Debounce;
  readonly settling: SettlingTimes;
  /** Whether what a budget guards would find places, by its key; `capacityLooks` finds it out. */
  readonly capacity: Map<string, CapacityFinding>;
  readonly capacityLooks: WorkQueue;
  readonly lost: LostRooms;
  readonly held: Set<string>;
  /** What was last said about the way each budget counts. */
  readonly said: Map<string, string>;
  readonly scaleOf: (owner: OwnerReference, namespace: string) => Promise<FoundScale | undefined>;
}

/**
 * Brings one budget's status in line with its pods. On any failure but a conflict nothing may be disrupted and the
 * status says why; the key comes again where trying again may help. A conflict means that an eviction was faster:
 * nothing is written, and the key comes again. Where the effects of evictions are gathered it comes again with them, as
 * trying before would lose once more.
 */
export async function reconcileDisruptionBudget(deps: DisruptionDeps, key: ObjectKey): Promise<ReconcileResult> {
  const budget = deps.book.get(key);
  if (budget === undefined) {
    deps.said.delete(formatKey(key));
    deps.capacity.delete(formatKey(key));
    deps.settling.forget(formatKey(key));
    return settled;
  }
  try {
    await syncBudget(deps, key, budget);
  } catch (error) {
    if (isConflict(error)) {
      const delayMs = deps.debounce.delayMs(formatKey(key));
      if (delayMs > 0) return { requeueAfterMs: delayMs };
      throw error;
    }
    if (isUnwritable(error)) return { requeueAfterMs: UNSERVED_MS };
    const why = error instanceof Error ? error.message : String(error);
    await deps.book.write(budget, computeFailedStatus(budget, why, deps.clock.now()));
    // The status may say so already: then no event of it brings the key back.
    if (!(error instanceof TerminalError)) throw error;
  }
  return settled;
}

/** Where numbers are kept in objects of a kind that the API server does not serve at the moment. */
const UNSERVED_MS = 1000;

/** Gone meanwhile, or its definition is, or is going. */
function isUnwritable(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 404 || error.code === 405);
}

async function syncBudget(deps: DisruptionDeps, key: ObjectKey, budget: PodDisruptionBudget): Promise<void> {
  const { clock, events, index, pods } = deps;
  const namespace = key.namespace ?? '';
  const seen = countNow(deps, key, clock.now());
  if (seen === undefined || deps.book.leavesAlone?.(key, seen.mode.unit)) return;
  if (seen.budget.selectorError !== undefined) {
    publish(events, budget, podsUnreadable(seen.budget.selectorError));
    throw new TerminalError(seen.budget.selectorError);
  }
  if (seen.pods === 0) publish(events, budget, noPods);
  if (seen.linked > 0 && !deps.groups.known) throw new Error('Workloads and PodGroups cannot be read');

  const { desired, expected } = await countExpected(deps, budget, seen);
  const now = clock.now();
  const { grants } = (budget.status ?? {}) as DisruptionLedgerStatus;
  const podOf = (name: string): Pod | undefined => pods.get({ namespace, name });
  const listed = grants && (await listGrants(deps, keepGrants(grants, podOf, now), namespace));
  const {
    kept,
    notDeleted: overdue,
    recheckInMs,
  } = rebuildDisruptedPods(
    grants === undefined ? budget.status?.disruptedPods : unlisted(budget.status?.disruptedPods, grants),
    (name) => {
      return index.isSelected(namespace, key.name, name) && !index.pod(namespace, name)?.deletionTimestamp;
    },
    now,
  );
  for (const { at, name } of listed?.kept ?? []) kept[name] = formatTime(parseTime(at) ?? now);
  for (const name of [...overdue, ...(listed?.notDeleted ?? [])]) {
    const pod = pods.get({ namespace, name });
    if (pod !== undefined) publish(events, pod, notDeleted(budget));
  }
  if (listed !== undefined) index.setBudget(withGrants(budget, listed.kept, seen.budget));
  // Counted again: looking up the expected scale may have taken a while.
  const count = countNow(deps, key, now) ?? seen;
  sayMode(deps, key, budget, count);
  const { healthy, mode, settlesAt } = count;
  const { needsRoom } = count.budget;
  const capacity = capacityOf(deps, formatKey(key), budget);
  const counted = { healthy, desired, expected, disruptedPods: kept, grants: listed?.kept, mode, settlesAt };
  const numbers = { ...counted, needsRoom, capacity };
  if (needsRoom && capacity === undefined) deps.capacityLooks.add(formatKey(key));
  const status = computeStatus(budget, numbers, now);
  if (status === undefined) await deps.book.mend?.(budget);
  else await deps.book.write(budget, status);
  const waits = [recheckInMs, listed?.recheckInMs, settlesAt === undefined ? undefined : settlesAt - now].filter(
    (ms) => ms !== undefined,
  );
  if (waits.length > 0) deps.recheck.addAfter(formatKey(key), Math.min(...waits));
}

/** What is known of room; while a unit's held room is lost, that. */
function capacityOf(
  { capacity, held, lost }: DisruptionDeps,
  key: string,
  { status }: PodDisruptionBudget,
): CapacityFinding | undefined {
  if (lost.restore(key, status?.conditions)) held.add(key);
  return lost.finding(key) ?? capacity.get(key);
}

/** Counts a budget; in pods once groups that cannot be resolved have had their time. */
function countNow(
  { clock, index, settling }: DisruptionDeps,
  key: ObjectKey,
  now: number,
): (BudgetCount & { readonly settlesAt: number | undefined }) | undefined {
  const namespace = key.namespace ?? '';
  const count = index.count(namespace, key.name, now);
  if (count === undefined) return undefined;
  const settlesAt = settling.until(formatKey(key), count, clock);
  if (settlesAt === undefined || now < settlesAt) return { ...count, settlesAt };
  return { ...(index.count(namespace, key.name, now, { settled: true }) ?? count), settlesAt: undefined };
}

/** How soon to look again when our pods turn out to be behind. */
const BEHIND_MS = 1000;

/**
 * Only pods of now tell that a grant was not carried out: with old ones it would end although its pod has gone, and the
 * pod would count again.
 */
async function listGrants(
  { podNow }: DisruptionDeps,
  { kept, overdue, recheckInMs }: KeptGrants,
  namespace: string,
): Promise<{ kept: LedgerGrant[]; notDeleted: string[]; recheckInMs: number | undefined }> {
  const still = await Promise.all(
    overdue.map(async (grant) => isStillThere(grant, await podNow({ namespace, name: grant.name }))),
  );
  const behind = overdue.filter((_, at) => !still[at]);
  return {
    kept: [...kept, ...behind],
    notDeleted: overdue.filter((_, at) => still[at]).map(({ name }) => name),
    recheckInMs: behind.length === 0 ? recheckInMs : BEHIND_MS,
  };
}

function withGrants(budget: PodDisruptionBudget, grants: LedgerGrant[], known: BudgetFacts): BudgetFacts {
  const status: DisruptionLedgerStatus = { ...budget.status, grants };
  return readBudget({ ...budget, status }, known);
}

/** What replicas of an earlier version granted, who note only names. */
function unlisted(
  disruptedPods: Readonly<Record<string, string>> | undefined,
  grants: readonly LedgerGrant[],
): Record<string, string> {
  const listed = new Set(grants.map(({ name }) => name));
  return Object.fromEntries(Object.entries(disruptedPods ?? {}).filter(([name]) => !listed.has(name)));
}

/** Once per change: a budget is looked at with every pod that moves, and an event is a write. */
function sayMode(
  { events, said }: DisruptionDeps,
  key: ObjectKey,
  budget: PodDisruptionBudget,
  count: BudgetCount,
): void {
  const news = modeEvents(count);
  const text = JSON.stringify(news);
  if (said.get(formatKey(key)) === text) return;
  said.set(formatKey(key), text);
  for (const one of news) publish(events, budget, one);
}

async function countExpected(
  deps: DisruptionDeps,
  budget: PodDisruptionBudget,
  count: BudgetCount,
): Promise<{ expected: number; desired: number }> {
  try {
    const expected = await expectedOf(deps, budget, count);
    return { expected, desired: computeDesired(count.budget, expected) };
  } catch (error) {
    publish(deps.events, budget, expectedCountFailed(error instanceof Error ? error.message : String(error)));
    throw error;
  }
}

async function expectedOf(deps: DisruptionDeps, budget: PodDisruptionBudget, count: BudgetCount): Promise<number> {
  if (count.mode.unit === 'PodGroup') return count.expectedUnits;
  if (!needsExpectedScale(count.budget)) return count.budget.minAvailable === undefined ? 0 : count.pods;
  const scales = new Map<string, number>();
  for (const owner of count.owners) {
    const found = await deps.scaleOf(owner, count.budget.namespace);
    if (found === undefined) throw new TerminalError(`found no controllers for pod "${podOf(deps, count, owner)}"`);
    scales.set(found.uid, found.scale);
  }
  if (count.unmanaged > 0) publish(deps.events, budget, unmanagedPods(budget));
  let expected = 0;
  for (const scale of scales.values()) expected += scale;
  return expected;
}

function podOf({ index }: DisruptionDeps, { budget }: BudgetCount, owner: OwnerReference): string {
  return index.podsOf(budget.namespace, budget.name).find((pod) => pod.owner?.uid === owner.uid)?.name ?? '';
}
