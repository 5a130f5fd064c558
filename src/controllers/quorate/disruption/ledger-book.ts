import { controllerReference } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Condition } from '../../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/generated/policy-v1.ts';
import {
  type DisruptionLedger,
  type DisruptionLedgerStatus,
  disruptionLedgerType,
  isLedgerOf,
} from '../../../api/quorate/types.ts';
import { podDisruptionBudgetType } from '../../../api/resource-types.ts';
import {
  ApiError,
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { COUNTS_GROUPS, isSamePublished, PUBLICATION, withoutMarker } from '../../../decisions/disruption/index.ts';
import { formatTime, isAsNewAs, semanticEqual } from '../../../machinery/values/index.ts';
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

/** Who writes the pod numbers of budgets over groups. */
export interface BudgetPublisher {
  publish(key: { readonly namespace: string; readonly name: string }): Promise<void>;
  /** Nothing may go by numbers that meant groups; called before the ledger says that pods are counted. */
  unpublish(key: { readonly namespace: string; readonly name: string }, reason: string): Promise<void>;
}

export interface LedgerBookOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly ledgers: Ledgers;
  readonly pods: Informer<Pod>;
  /** Kubernetes' own disruption controller is switched off: the status of budgets over pods is ours as well. */
  readonly countsPods: boolean;
  /** Puts true pod numbers into budgets over groups; absent where those are left to Kubernetes' own controller. */
  readonly publisher?: BudgetPublisher | undefined;
  /** Where numbers are not ours: says so in a budget that another mode has published. */
  readonly unmark?:
    | ((key: { readonly namespace: string; readonly name: string }) => Promise<void> | undefined)
    | undefined;
  /** Tells in which namespaces numbers may be published from now on. */
  readonly onGuarded?: ((call: (namespaces: readonly string[]) => void) => void) | undefined;
  /** Whether evictions may have been granted under this budget that nobody here knows of. */
  readonly hasUnknownHistory: (budget: PodDisruptionBudget) => boolean;
}

/**
 * The numbers of budgets that count groups live in ledgers, which webhooks write by compare-and-swap. Budgets that
 * count pods have no ledger: Kubernetes (or, where it is switched off, the status written here) counts them.
 */
export function ledgerBook(options: LedgerBookOptions): BudgetBook {
  const { budgets, client, countsPods, ledgers, pods, publisher } = options;
  /** The ledgers that budgets were given with: numbers computed from one are written to that one or not at all. */
  const sources = new WeakMap<PodDisruptionBudget, DisruptionLedger>();
  const withLedger = (budget: PodDisruptionBudget): PodDisruptionBudget => {
    const { name = '', namespace = '' } = budget.metadata;
    const ledger = ledgers.get(namespace, name);
    if (ledger === undefined) return countsPods ? budget : { ...budget, status: {} };
    if (ledger.status === undefined) return { ...budget, status: {} };
    const { grants = [] } = ledger.status;
    const isIts = isLedgerOf(ledger, budget);
    const given: PodDisruptionBudget & { status: DisruptionLedgerStatus } = {
      ...budget,
      // Of what stands under a budget of the same name before this one, only the grants count.
      status: isIts ? { ...ledger.status, grants } : { grants },
    };
    // While pods are counted the API server grants by itself, and notes what it granted in the budget.
    if (countsPods && ledger.status.unit === 'Pod') given.status.disruptedPods = budget.status?.disruptedPods;
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
        if (countsPods) await client.updateStatus(podDisruptionBudgetType, { ...budget, status });
        return;
      }
      const counted = ledger?.status?.podsResourceVersion ?? '';
      // Counted anew from older pods, those that have gone since would count again, with no grant left to tell.
      if (!isAsNewAs(pods.resourceVersion, counted)) throw behind(budget);
      // Exact before the ledger says that pods are counted: from then on the webhook does not judge. In between, and for
      // as long as the ledger cannot be written, it refuses, because ledger and pods contradict each other.
      if (!countsGroups) await leaveGroups(options, budget, status);
      const next: DisruptionLedgerStatus = {
        ...status,
        conditions: withBuiltinCount(options, budget, status),
        unit: countsGroups ? 'PodGroup' : 'Pod',
        podsResourceVersion: isAsNewAs(pods.changedAt, counted) ? pods.changedAt : counted,
        budgetUID: budget.metadata.uid,
        ...(publisher && { publication: PUBLICATION }),
      };
      await writeLedger(options, { budget, ledger, status: next });
      if (countsGroups) await publisher?.publish(keyOf(budget));
    },
    async mend(budget) {
      const ledger = sources.get(budget);
      if (publisher === undefined) await options.unmark?.(keyOf(budget));
      if (publisher === undefined || !isTrue(budget.status ?? {}, 'PodGroupBudget') || ledger === undefined) return;
      // Another version published before: from now on this one does.
      if (ledger.status?.publication !== PUBLICATION) {
        await ledgers.write(ledger, { ...ledger.status, publication: PUBLICATION });
      }
      await publisher.publish(keyOf(budget));
    },
    leavesAlone: ({ name, namespace = '' }, unit) =>
      !countsPods && unit === 'Pod' && ledgers.get(namespace, name) === undefined,
    follow({ gone, seen }) {
      const see = (budget: PodDisruptionBudget): void => seen(withLedger(budget));
      budgets.addHandler({ added: see, updated: see, deleted: gone });
      options.onGuarded?.((namespaces) => {
        for (const budget of budgets.list()) {
          const { namespace = '' } = budget.metadata;
          if (namespaces.includes(namespace) || namespaces.includes('*')) see(budget);
        }
      });
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
  { client, hasUnknownHistory, ledgers, publisher }: LedgerBookOptions,
  { budget, ledger, status }: LedgerWrite,
): Promise<void> {
  const { name = '', namespace } = budget.metadata;
  if (ledger !== undefined && isLedgerOf(ledger, budget)) {
    // Where the API server holds evictions back until we say that a change counts, no replica may grant past it.
    const release = publisher !== undefined && ledger.status?.observedGeneration !== status.observedGeneration;
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

const keyOf = ({ metadata: { name = '', namespace = '' } }: PodDisruptionBudget) => ({ namespace, name });

/** The budget counts pods from now on: its own status says so before its ledger does. */
async function leaveGroups(
  { budgets, client, clock, countsPods, publisher }: LedgerBookOptions,
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
): Promise<void> {
  const reason = conditionOf(status, 'PodGroupBudget')?.reason ?? 'NoGroupedPods';
  if (!countsPods) {
    await publisher?.unpublish(keyOf(budget), reason);
    return;
  }
  const live = budgets.get(keyOf(budget));
  // The ledger does not answer a change that came meanwhile: evictions are held back until it does.
  if (live === undefined || live.metadata.generation !== budget.metadata.generation) return;
  const marked = conditionOf(live.status ?? {}, COUNTS_GROUPS);
  const others = (status.conditions ?? []).filter(({ type }) => type !== COUNTS_GROUPS);
  const conditions = marked ? [...others, ...withoutMarker([marked], reason, clock.now())] : others;
  const isSame =
    isSamePublished(live.status, { ...status, conditions }) &&
    semanticEqual(live.status?.disruptedPods ?? {}, status.disruptedPods ?? {});
  if (isSame) return;
  try {
    await client.updateStatus(podDisruptionBudgetType, { ...live, status: { ...status, conditions } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function conditionOf({ conditions }: PodDisruptionBudgetStatus, wanted: string): Condition | undefined {
  return conditions?.find(({ type }) => type === wanted);
}

function isTrue(status: PodDisruptionBudgetStatus, wanted: string): boolean {
  return conditionOf(status, wanted)?.status === 'True';
}

const BUILTIN = 'BuiltInCountTighter';

/**
 * Beside Kubernetes' own controller, groups can only be counted on top of its count of pods. That is exact for an
 * integer minAvailable; the other spellings it resolves to pods, and then it may refuse what groups would allow.
 */
function withBuiltinCount(
  { clock, events, publisher }: LedgerBookOptions,
  budget: PodDisruptionBudget,
  { conditions = [] }: PodDisruptionBudgetStatus,
): Condition[] {
  if (publisher !== undefined) return conditions.filter(({ type }) => type !== BUILTIN);
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  const tighter = maxUnavailable !== undefined || typeof minAvailable === 'string';
  const old = conditions.find(({ type }) => type === BUILTIN);
  const status = tighter ? 'True' : 'False';
  const message = tighter
    ? 'Kubernetes resolves this budget to a number of pods and may refuse evictions that the groups would allow; use an integer minAvailable, a PodUnavailableBudget, or adopt mode'
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
