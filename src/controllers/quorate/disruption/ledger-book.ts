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
import { formatKey, type KubeObject, type ObjectKey } from '../../../api/resource.ts';
import { podDisruptionBudgetType } from '../../../api/resource-types.ts';
import {
  ApiError,
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import {
  COUNTS_GROUPS,
  foreignWriter,
  ForeignWrites,
  isMarked,
  isSamePublished,
  PUBLICATION,
  withoutMarker,
} from '../../../decisions/disruption/index.ts';
import { isAsNewAs, semanticEqual } from '../../../machinery/values/index.ts';
import type { BudgetBook } from './book.ts';
import { withLedgerConditions } from './ledger-conditions.ts';

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
  /** By which formula numbers are published. Default: this version's. */
  readonly formula?: number | undefined;
  /** Names of webhook configurations that were deleted, so that nobody is asked about evictions. */
  readonly unguarded?: (() => readonly string[]) | undefined;
  /** Called for every time that somebody else put other numbers into a budget which is ours alone to count. */
  readonly foreignWrite?: (() => void) | undefined;
}

/**
 * The numbers of budgets that count groups live in ledgers, which webhooks write by compare-and-swap. Budgets that
 * count pods have no ledger: Kubernetes (or, where it is switched off, the status written here) counts them.
 */
export function ledgerBook(options: LedgerBookOptions): BudgetBook {
  return new LedgerBook(options);
}

class LedgerBook implements BudgetBook {
  readonly #options: LedgerBookOptions;
  /** The ledgers that budgets were given with: numbers computed from one are written to that one or not at all. */
  readonly #sources = new WeakMap<PodDisruptionBudget, DisruptionLedger>();
  readonly #fights = new ForeignWrites();
  #look: (object: KubeObject) => void = () => {};

  constructor(options: LedgerBookOptions) {
    this.#options = options;
  }

  get(key: ObjectKey): PodDisruptionBudget | undefined {
    const budget = this.#options.budgets.get(key);
    return budget === undefined ? undefined : this.#withLedger(budget);
  }

  async write(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus): Promise<void> {
    const { client, countsPods, pods } = this.#options;
    const ledger = this.#sources.get(budget);
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
    if (!countsGroups) await leaveGroups(this.#options, budget, status);
    const next: DisruptionLedgerStatus = {
      ...status,
      conditions: this.#conditionsOf(budget, status),
      unit: countsGroups ? 'PodGroup' : 'Pod',
      podsResourceVersion: isAsNewAs(pods.changedAt, counted) ? pods.changedAt : counted,
      budgetUID: budget.metadata.uid,
      ...this.#publication(),
    };
    await writeLedger(this.#options, { budget, ledger, status: next });
    if (countsGroups) await this.#publish(budget);
  }

  async mend(budget: PodDisruptionBudget): Promise<void> {
    const { ledgers, publisher, unmark } = this.#options;
    const ledger = this.#sources.get(budget);
    if (publisher === undefined) await unmark?.(keyOf(budget));
    if (!isTrue(budget.status ?? {}, 'PodGroupBudget') || ledger?.status === undefined) return;
    const conditions = this.#conditionsOf(budget, ledger.status);
    // Another version may have published before: from now on this one does.
    const next = { ...ledger.status, conditions, ...this.#publication() };
    if (!semanticEqual(next, ledger.status)) await ledgers.write(ledger, next);
    await this.#publish(budget);
  }

  leavesAlone({ name, namespace = '' }: ObjectKey, unit: 'Pod' | 'PodGroup'): boolean {
    const { countsPods, ledgers } = this.#options;
    return !countsPods && unit === 'Pod' && ledgers.get(namespace, name) === undefined;
  }

  follow({ gone, seen }: Parameters<BudgetBook['follow']>[0]): void {
    const { budgets, ledgers, onGuarded } = this.#options;
    const see = (budget: PodDisruptionBudget): void => seen(this.#withLedger(budget));
    this.#look = ({ metadata: { name = '', namespace } }) => {
      const budget = budgets.get({ namespace, name });
      if (budget !== undefined) see(budget);
    };
    budgets.addHandler({
      added: see,
      updated: (budget, old) => {
        this.#watchForFights(budget, old);
        see(budget);
      },
      deleted: (budget) => {
        this.#fights.forget(formatKey(keyOf(budget)));
        gone(budget);
      },
    });
    onGuarded?.((namespaces) => {
      for (const budget of budgets.list()) {
        const { namespace = '' } = budget.metadata;
        if (namespaces.includes(namespace) || namespaces.includes('*')) see(budget);
      }
    });
    ledgers.follow(this.#look);
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.#options.budgets.whenSynced(), this.#options.ledgers.whenSynced()]);
  }

  #withLedger(budget: PodDisruptionBudget): PodDisruptionBudget {
    const { countsPods, ledgers } = this.#options;
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
    this.#sources.set(given, ledger);
    return given;
  }

  #publication(): Pick<DisruptionLedgerStatus, 'publication'> {
    const { formula = PUBLICATION, publisher } = this.#options;
    return publisher === undefined ? {} : { publication: formula };
  }

  #conditionsOf(budget: PodDisruptionBudget, { conditions = [] }: PodDisruptionBudgetStatus): Condition[] {
    const { clock, publisher, unguarded } = this.#options;
    return withLedgerConditions(this.#options, budget, conditions, {
      publishes: publisher !== undefined,
      foreignWriter: this.#fights.writer(formatKey(keyOf(budget)), clock.elapsed()),
      unguarded: unguarded?.() ?? [],
    });
  }

  async #publish(budget: PodDisruptionBudget): Promise<void> {
    const { clock, publisher } = this.#options;
    const waitMs = this.#fights.turnInMs(formatKey(keyOf(budget)), clock.elapsed());
    if (waitMs === 0) await publisher?.publish(keyOf(budget));
    else clock.after(waitMs, () => this.#look(budget));
  }

  /** Where every status is ours to write, numbers of somebody else's are no proposal but the start of a fight. */
  #watchForFights(budget: PodDisruptionBudget, old: PodDisruptionBudget): void {
    const { clock, countsPods, foreignWrite } = this.#options;
    const writer = countsPods && isMarked(old) ? foreignWriter(old, budget) : undefined;
    if (writer === undefined) return;
    foreignWrite?.();
    this.#fights.add(formatKey(keyOf(budget)), writer, clock.elapsed());
  }
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
