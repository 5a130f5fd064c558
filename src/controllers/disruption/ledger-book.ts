import { controllerReference } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import {
  type DisruptionLedger,
  type DisruptionLedgerStatus,
  disruptionLedgerType,
  isLedgerOf,
} from '../../api/quorate/types.ts';
import { podDisruptionBudgetType } from '../../api/resource-types.ts';
import {
  ApiError,
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isNotFound,
} from '../../machinery/runtime/index.ts';
import { formatTime, isAsNewAs, semanticEqual } from '../../machinery/values/index.ts';
import type { BudgetBook } from './book.ts';

/** The ledgers of a cluster, as new as this process knows them. */
export interface Ledgers {
  get(namespace: string, name: string): DisruptionLedger | undefined;
  /** Writes what follows from a ledger that was got here; throws a conflict where there is a newer one by now. */
  write(
    ledger: DisruptionLedger,
    status: DisruptionLedgerStatus,
    options?: { readonly release?: boolean },
  ): Promise<DisruptionLedger>;
  /** Makes a ledger, or fills one that has no status yet, with what is remembered of one that was deleted. */
  begin(
    ledger: DisruptionLedger,
    status: DisruptionLedgerStatus,
    options: { readonly unknown: boolean; readonly before?: DisruptionLedger | undefined },
  ): Promise<DisruptionLedger>;
  follow(changed: (ledger: DisruptionLedger) => void): void;
  whenSynced(): Promise<void>;
}

export interface LedgerBookOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly ledgers: Ledgers;
  readonly pods: Informer<Pod>;
  /**
   * Kubernetes' own disruption controller is switched off: then the status of budgets is ours to write as well, loose
   * enough for every eviction that the webhook judges.
   */
  readonly ownsStatus: boolean;
  /** Whether evictions may have been granted under this budget that nobody here knows of. */
  readonly hasUnknownHistory: (budget: PodDisruptionBudget) => boolean;
}

/**
 * The numbers of budgets that count groups live in ledgers, which webhooks write by compare-and-swap. Budgets that
 * count pods have no ledger: Kubernetes (or, where it is switched off, the status written here) counts them.
 */
export function ledgerBook(options: LedgerBookOptions): BudgetBook {
  const { budgets, client, ledgers, ownsStatus, pods } = options;
  /** The ledgers that budgets were given with: numbers computed from one are written to that one or not at all. */
  const sources = new WeakMap<PodDisruptionBudget, DisruptionLedger>();
  const withLedger = (budget: PodDisruptionBudget): PodDisruptionBudget => {
    const { name = '', namespace = '' } = budget.metadata;
    const ledger = ledgers.get(namespace, name);
    if (ledger === undefined) return ownsStatus ? budget : { ...budget, status: {} };
    if (ledger.status === undefined) return { ...budget, status: {} };
    const { grants = [] } = ledger.status;
    const isIts = isLedgerOf(ledger, budget);
    const given: PodDisruptionBudget & { status: DisruptionLedgerStatus } = {
      ...budget,
      // Of what stands under a budget of the same name before this one, only the grants count.
      status: isIts ? { ...ledger.status, grants } : { grants },
    };
    // While pods are counted the API server grants by itself, and notes what it granted in the budget.
    if (ownsStatus && ledger.status.unit === 'Pod') given.status.disruptedPods = budget.status?.disruptedPods;
    sources.set(given, ledger);
    return given;
  };
  return {
    get(key) {
      const budget = budgets.get(key);
      return budget === undefined ? undefined : withLedger(budget);
    },
    async write(budget, status) {
      const ledger = sources.get(budget);
      const countsGroups = isTrue(status, 'PodGroupBudget');
      if (!countsGroups && ledger === undefined) {
        if (ownsStatus) await client.updateStatus(podDisruptionBudgetType, { ...budget, status });
        return;
      }
      const counted = ledger?.status?.podsResourceVersion ?? '';
      // Counted anew from older pods, those that have gone since would count again, with no grant left to tell.
      if (!isAsNewAs(pods.resourceVersion, counted)) throw behind(budget);
      // Exact before the ledger says that pods are counted: from then on the webhook does not judge. In between, and for
      // as long as the ledger cannot be written, it refuses, because ledger and pods contradict each other.
      if (ownsStatus && !countsGroups) await writeOwn(options, budget, status);
      const next: DisruptionLedgerStatus = {
        ...status,
        conditions: withBuiltinCount(options, budget, status),
        unit: countsGroups ? 'PodGroup' : 'Pod',
        podsResourceVersion: isAsNewAs(pods.changedAt, counted) ? pods.changedAt : counted,
        budgetUID: budget.metadata.uid,
      };
      await writeLedger(options, { budget, ledger, status: next });
      if (ownsStatus && countsGroups) await writeOwn(options, budget, undefined);
    },
    async mend(budget) {
      const countsGroups = isTrue(budget.status ?? {}, 'PodGroupBudget');
      if (ownsStatus && countsGroups && sources.has(budget)) await writeOwn(options, budget, undefined);
    },
    leavesAlone: ({ name, namespace = '' }, unit) =>
      !ownsStatus && unit === 'Pod' && ledgers.get(namespace, name) === undefined,
    follow({ gone, seen }) {
      const see = (budget: PodDisruptionBudget): void => seen(withLedger(budget));
      budgets.addHandler({ added: see, updated: see, deleted: gone });
      ledgers.follow(({ metadata }) => {
        const budget = budgets.get({ namespace: metadata.namespace, name: metadata.name ?? '' });
        if (budget !== undefined) see(budget);
      });
    },
    async whenSynced() {
      await Promise.all([budgets.whenSynced(), ledgers.whenSynced()]);
    },
  };
}

function behind({ metadata }: PodDisruptionBudget): ApiError {
  const message = `Cannot count ${metadata.namespace}/${metadata.name}: its ledger was counted from newer pods`;
  return new ApiError(409, { kind: 'Status', code: 409, reason: 'Conflict', message });
}

interface LedgerWrite {
  readonly budget: PodDisruptionBudget;
  /** The one that the status was computed from. */
  readonly ledger: DisruptionLedger | undefined;
  readonly status: DisruptionLedgerStatus;
}

async function writeLedger(
  { client, hasUnknownHistory, ledgers, ownsStatus }: LedgerBookOptions,
  { budget, ledger, status }: LedgerWrite,
): Promise<void> {
  const { name = '', namespace } = budget.metadata;
  if (ledger !== undefined && isLedgerOf(ledger, budget)) {
    // Where the API server holds evictions back until we say that a change counts, no replica may grant past it.
    const release = ownsStatus && ledger.status?.observedGeneration !== status.observedGeneration;
    await ledgers.write(ledger, status, { release });
    return;
  }
  // That of a budget of the same name before this one goes with it; its grants are of the same pods.
  if (ledger !== undefined) await deleteLedger(client, ledger);
  const unfilled = ledger === undefined ? ledgers.get(namespace ?? '', name) : undefined;
  const reference = { ...controllerReference(podDisruptionBudgetType, budget), blockOwnerDeletion: false };
  const made = unfilled ?? { metadata: { name, namespace, ownerReferences: [reference] } };
  const unknown = hasUnknownHistory(budget);
  await ledgers.begin(made, { ...status, grants: status.grants ?? [] }, { unknown, before: ledger });
}

async function deleteLedger(client: Client, { metadata }: DisruptionLedger): Promise<void> {
  const { name = '', namespace, resourceVersion, uid } = metadata;
  try {
    // In the very state that its grants are taken over from.
    await client.delete(disruptionLedgerType, { namespace, name }, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Writes what the API server goes by: the count of pods or, without one, a count that never stands in the way. Then
 * every pod the budget selects may go as far as the API server is concerned, because the webhook has judged the eviction
 * before it looks.
 */
async function writeOwn(
  { client, budgets }: LedgerBookOptions,
  { metadata }: PodDisruptionBudget,
  exact: PodDisruptionBudgetStatus | undefined,
): Promise<void> {
  const live = budgets.get({ namespace: metadata.namespace, name: metadata.name ?? '' });
  // The ledger does not answer a change that came meanwhile: evictions are held back until it does.
  if (live === undefined || live.metadata.generation !== metadata.generation) return;
  const loose: PodDisruptionBudgetStatus = {
    observedGeneration: live.metadata.generation,
    disruptionsAllowed: LOOSE,
    currentHealthy: LOOSE,
    desiredHealthy: 0,
    expectedPods: LOOSE,
    conditions: live.status?.conditions,
  };
  const status = exact ?? loose;
  const same =
    live.status?.observedGeneration === status.observedGeneration &&
    live.status?.disruptionsAllowed === status.disruptionsAllowed &&
    live.status?.desiredHealthy === status.desiredHealthy &&
    (exact === undefined || semanticEqual(live.status?.disruptedPods ?? {}, exact.disruptedPods ?? {}));
  if (same || (exact === undefined && isStillLoose(live))) return;
  try {
    await client.updateStatus(podDisruptionBudgetType, { ...live, status });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The API server takes one off with every eviction and notes the pod; far from its limits that need not be mended. */
function isStillLoose({ metadata, status }: PodDisruptionBudget): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.disruptionsAllowed ?? 0) > LOOSE / 2 &&
    Object.keys(status?.disruptedPods ?? {}).length < MANY_NOTED
  );
}

/** The API server refuses evictions once a budget notes 2,000 pods. */
const MANY_NOTED = 500;

/** More pods than any namespace holds, and few enough to be decremented for as long as a cluster lives. */
const LOOSE = 1_000_000;

function isTrue({ conditions }: PodDisruptionBudgetStatus, wanted: string): boolean {
  return (conditions ?? []).some(({ status, type }) => type === wanted && status === 'True');
}

const BUILTIN = 'BuiltInCountTighter';

/**
 * Beside Kubernetes' own controller, groups can only be counted on top of its count of pods. That is exact for an
 * integer minAvailable; the other spellings it resolves to pods, and then it may refuse what groups would allow.
 */
function withBuiltinCount(
  { clock, events, ownsStatus }: LedgerBookOptions,
  budget: PodDisruptionBudget,
  { conditions = [] }: PodDisruptionBudgetStatus,
): Condition[] {
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  const tighter = !ownsStatus && (maxUnavailable !== undefined || typeof minAvailable === 'string');
  const old = conditions.find(({ type }) => type === BUILTIN);
  const status = tighter ? 'True' : 'False';
  const message = tighter
    ? 'Kubernetes resolves this budget to a number of pods and may refuse evictions that the groups would allow; use an integer minAvailable, a PodUnavailableBudget, or replace mode'
    : '';
  if (tighter && old?.status !== 'True') events.record(budget, 'Warning', BUILTIN, message);
  const condition: Condition = {
    type: BUILTIN,
    status,
    reason: tighter ? 'CountsPods' : 'Exact',
    message,
    lastTransitionTime:
      old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(clock.now()),
  };
  return [...conditions.filter(({ type }) => type !== BUILTIN), condition];
}
