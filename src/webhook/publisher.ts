import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../api/generated/policy-v1.ts';
import { type DisruptionLedger, isLedgerOf } from '../api/quorate/types.ts';
import { podDisruptionBudgetType } from '../api/resource-types.ts';
import {
  type BudgetFacts,
  DISRUPTION_TIMEOUT_MS,
  type DisruptionIndex,
  isMarked,
  isSamePublished,
  type CountedPod,
  publishedStatus,
  readBudget,
  unpublishedStatus,
  withoutMarker,
} from '../decisions/disruption/index.ts';
import {
  type Client,
  type Clock,
  existing,
  isConflict,
  isNotFound,
  type Metrics,
  sleep,
} from '../machinery/runtime/index.ts';
import { isAsNewAs, parseTime } from '../machinery/values/index.ts';

export interface PublisherOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly index: DisruptionIndex;
  /** The newest version known here, with what was granted here since. */
  readonly ledger: (namespace: string, name: string) => DisruptionLedger | undefined;
  readonly budget: (namespace: string, name: string) => PodDisruptionBudget | undefined;
  /** Whether numbers of a namespace may be ours: evictions there are judged. Default: everywhere. */
  readonly mayPublish?: ((namespace: string) => boolean) | undefined;
  /** No other controller takes the notes of the API server out again: those of pods that are gone go here. */
  readonly tidies?: boolean | undefined;
  readonly metrics?: Metrics | undefined;
}

export interface BudgetName {
  readonly namespace: string;
  readonly name: string;
}

/** Why numbers are written: in the leader's round, because a grant needs room, or to let a changed budget go on. */
export type PublishedBy = 'leader' | 'room' | 'barrier';

const ATTEMPTS = 20;
const RETRY_MS = 10;
/** After so many conflicts our copy is read anew: the watch may be slow. */
const TRUSTED = 2;

/** Writes the pod numbers of budgets over groups into the budgets, by compare-and-swap. */
export class Publisher {
  readonly #options: PublisherOptions;
  /** Versions that were written or read here and that the watch may not have shown yet. */
  readonly #newest = new Map<string, PodDisruptionBudget>();
  readonly #count: (by: PublishedBy, result: 'written' | 'conflict' | 'same') => void;

  constructor(options: PublisherOptions) {
    this.#options = options;
    const counter = options.metrics?.counter('quorate_published_total');
    this.#count = (by, result) => counter?.inc({ by, result });
  }

  /** Puts numbers in that follow from what is known here; throws a conflict where the budget has changed meanwhile. */
  async publish(key: BudgetName): Promise<void> {
    const budget = this.#get(key);
    // The first time only: numbers that were put in stay true.
    const { mayPublish } = this.#options;
    if (budget === undefined || (mayPublish?.(key.namespace) === false && !isMarked(budget))) return;
    const over = this.#options.tidies === true ? this.#notesOver(budget) : [];
    const status = this.#statusFor(over.reduce(withoutNote, budget));
    if (status === undefined) return;
    await this.#write(budget, status, isHeldBack(budget) ? 'barrier' : 'leader', over);
  }

  /** Before pods are counted: from then on nothing may go by numbers that meant groups. */
  async unpublish(key: BudgetName, reason: string): Promise<void> {
    const budget = this.#get(key);
    if (budget === undefined || !isMarked(budget)) return;
    await this.#write(budget, unpublishedStatus(budget, reason, this.#options.clock.now()), 'leader');
  }

  /** Beside a controller that counts pods: its numbers come once it is woken by this. */
  async unmark(key: BudgetName): Promise<void> {
    const budget = this.#get(key);
    if (budget === undefined || !isMarked(budget)) return;
    const { conditions = [] } = budget.status ?? {};
    const unmarked = [...withoutMarker(conditions, 'Alongside', this.#options.clock.now())];
    await this.#write(budget, { ...budget.status, conditions: unmarked }, 'leader');
  }

  /**
   * Whether the API server lets a pod pass whose grant is known to the index. Where the stored number leaves no room for
   * it, numbers that do are written first. False when that could not be done in time. The API server takes one off for
   * every eviction, also for a pod it has noted already, whose first eviction came to nothing: then that note goes.
   */
  async makeRoom(key: BudgetName, pod: CountedPod, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt += 1) {
      const found = attempt <= TRUSTED ? this.#get(key) : await this.#read(key);
      // Deleted: it refuses nothing.
      if (found === undefined) return true;
      const budget = withoutNote(found, pod.name);
      if (this.#hasRoom(budget, pod)) return true;
      const status = this.#statusFor(budget);
      if (status === undefined || isHeldBack(budget)) return false;
      try {
        await this.#write(budget, status, 'room', budget === found ? [] : [pod.name]);
        const written = this.#get(key);
        return written === undefined || this.#hasRoom(withoutNote(written, pod.name), pod);
      } catch (error) {
        if (!isConflict(error)) throw error;
        await sleep(clock, RETRY_MS * (1 + attempt), signal);
      }
    }
    return false;
  }

  #hasRoom(budget: PodDisruptionBudget, pod: CountedPod): boolean {
    const { clock, index } = this.#options;
    const { metadata, spec, status = {} } = budget;
    if (isHeldBack(budget)) return false;
    const { currentHealthy = 0, desiredHealthy = 0, disruptedPods, disruptionsAllowed = 0 } = status;
    const passesUnready =
      spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (currentHealthy >= desiredHealthy && desiredHealthy > 0);
    if (!pod.ready && passesUnready) return true;
    const facts = this.#facts(budget);
    if (facts === undefined) return false;
    const outstanding = index.suppose([facts], () =>
      index.outstanding(pod.namespace, metadata.name ?? '', clock.now(), disruptedPods),
    );
    return disruptionsAllowed >= outstanding + (pod.ready ? 0 : 1);
  }

  /** Undefined where it counts pods, and while its ledger does not answer its newest change: that holds evictions back. */
  #statusFor(budget: PodDisruptionBudget): PodDisruptionBudgetStatus | undefined {
    const { clock, index } = this.#options;
    const { name = '', namespace = '' } = budget.metadata;
    const facts = this.#facts(budget);
    if (facts === undefined) return undefined;
    const now = clock.now();
    const { disruptedPods } = budget.status ?? {};
    const numbers = index.suppose([facts], () => index.publication(namespace, name, now, disruptedPods));
    return numbers && publishedStatus(budget, numbers, now);
  }

  /** Pods that were noted long ago and are gone or going. Too many notes, and the API server refuses every eviction. */
  #notesOver({ metadata, status }: PodDisruptionBudget): string[] {
    const { clock, index } = this.#options;
    const over = clock.now() - DISRUPTION_TIMEOUT_MS;
    return Object.entries(status?.disruptedPods ?? {}).flatMap(([name, at]) => {
      const pod = index.pod(metadata.namespace ?? '', name);
      const isGoing = pod === undefined || pod.deletionTimestamp !== undefined;
      return isGoing && (parseTime(at) ?? 0) < over ? [name] : [];
    });
  }

  /** The budget as its ledger has it. */
  #facts(budget: PodDisruptionBudget): BudgetFacts | undefined {
    const { generation = 0, name = '', namespace = '' } = budget.metadata;
    const ledger = this.#options.ledger(namespace, name);
    if (ledger?.status === undefined || !isLedgerOf(ledger, budget)) return undefined;
    if (ledger.status.observedGeneration !== generation) return undefined;
    const status = { ...ledger.status, grants: ledger.status.grants ?? [] };
    return readBudget({ ...budget, status }, this.#options.index.budget(namespace, name));
  }

  async #write(
    budget: PodDisruptionBudget,
    status: PodDisruptionBudgetStatus,
    by: PublishedBy,
    forgotten: readonly string[] = [],
  ): Promise<void> {
    if (forgotten.length === 0 && isSamePublished(budget.status, status)) {
      this.#count(by, 'same');
      return;
    }
    const { name = '', namespace = '', resourceVersion, uid } = budget.metadata;
    const { disruptedPods: _, ...numbers } = status;
    const notes =
      forgotten.length === 0 ? {} : { disruptedPods: Object.fromEntries(forgotten.map((pod) => [pod, null])) };
    const body = { metadata: { resourceVersion, uid }, status: { ...numbers, ...notes } };
    try {
      const patch = { type: 'merge', body } as const;
      const options = { subresource: 'status' };
      this.#learn(await this.#options.client.patch(podDisruptionBudgetType, { namespace, name }, patch, options));
      this.#count(by, 'written');
    } catch (error) {
      if (isNotFound(error)) return;
      if (isConflict(error)) this.#count(by, 'conflict');
      throw error;
    }
  }

  #get({ name, namespace }: BudgetName): PodDisruptionBudget | undefined {
    const shown = this.#options.budget(namespace, name);
    const key = `${namespace}/${name}`;
    const known = this.#newest.get(key);
    if (known === undefined) return shown;
    const isBehind =
      shown !== undefined &&
      shown.metadata.uid === known.metadata.uid &&
      !isAsNewAs(shown.metadata.resourceVersion ?? '', known.metadata.resourceVersion ?? '');
    if (isBehind) return known;
    this.#newest.delete(key);
    return shown;
  }

  async #read({ name, namespace }: BudgetName): Promise<PodDisruptionBudget | undefined> {
    const budget = await existing(this.#options.client.get(podDisruptionBudgetType, { namespace, name }));
    if (budget !== undefined) this.#learn(budget);
    return budget;
  }

  #learn(budget: PodDisruptionBudget): void {
    const { name = '', namespace = '' } = budget.metadata;
    this.#newest.set(`${namespace}/${name}`, budget);
  }
}

/** The API server refuses evictions until somebody says that the budget's newest change counts. */
export function isHeldBack({ metadata, status }: PodDisruptionBudget): boolean {
  return (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
}

/** The budget as if the API server had not noted a pod yet. */
function withoutNote(budget: PodDisruptionBudget, pod: string): PodDisruptionBudget {
  if (budget.status?.disruptedPods?.[pod] === undefined) return budget;
  const { [pod]: _, ...disruptedPods } = budget.status.disruptedPods;
  return { ...budget, status: { ...budget.status, disruptedPods } };
}
