import type { Pod } from '../../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import type { KubeObject } from '../../api/resource.ts';
import {
  BudgetIndex,
  BudgetIndexes,
  type FedUnavailabilityKind,
  UNAVAILABILITY_KINDS,
  UnavailabilityFeed,
} from '../../decisions/unavailability/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { PendingWrite } from '../stored/pending-writes.ts';

type Readable = Pick<Transaction, 'range'>;

interface Feed {
  readonly prefix: string;
  readonly resource: FedUnavailabilityKind;
}

/** The counts of every PodUnavailableBudget, including what is still on its way to disk. */
export class UnavailabilityView {
  readonly #context: ServerContext;
  readonly #feed: UnavailabilityFeed;
  /** Of every namespace without budgets. */
  readonly #none = new BudgetIndex();
  readonly #feeds: readonly Feed[];
  /** The budgets are ours to keep, and not those of other software that has brought the kind itself. */
  #isOurs: boolean;
  readonly #podPrefix: string;

  constructor(context: ServerContext, { compat = false }: { compat?: boolean } = {}) {
    this.#context = context;
    this.#feed = new UnavailabilityFeed(new BudgetIndexes({ compat }));
    this.#feeds = UNAVAILABILITY_KINDS.flatMap((resource) =>
      resource.types.slice(0, 1).flatMap(({ group, plural }) => {
        const prefix = context.registry.byPlural(group, plural)?.prefix;
        return prefix === undefined ? [] : [{ prefix, resource }];
      }),
    );
    this.#isOurs = this.#servesOwn();
    this.#podPrefix = this.#feeds.find(({ resource }) => resource.role === 'Pod')?.prefix ?? '';
    this.#load();
    context.writes.listen({
      wrote: (writes, state) => writes.forEach((write) => this.#apply(write, state)),
      lost: () => this.#load(),
    });
    context.registry.onChange(() => {
      if (this.#servesOwn() === this.#isOurs) return;
      this.#isOurs = !this.#isOurs;
      this.#load();
    });
  }

  of(namespace: string): BudgetIndex {
    const { indexes } = this.#feed;
    return indexes.has(namespace) ? indexes.of(namespace) : this.#none;
  }

  /** The budget a new pod belongs to. */
  relatedTo(namespace: string, pod: Pod): string | undefined {
    return this.of(namespace).relatedTo({ pod, targets: this.#feed.targetsOf(pod) });
  }

  /** Replicas an owner asks for. */
  scaleOf(uid: string): number | undefined {
    return this.#feed.scaleOf(uid);
  }

  #servesOwn(): boolean {
    return this.#context.registry.servesOwn(POD_UNAVAILABLE_BUDGETS.group, POD_UNAVAILABLE_BUDGETS.plural);
  }

  #load(): void {
    const { log, store } = this.#context;
    store
      .transact((transaction) => this.#fill(transaction))
      .catch((error: unknown) => log.error({ err: error }, 'cannot read the state that pods are guarded by'));
  }

  /** Owners first, so that pods find them; pods come with the first budget of their namespace. */
  #fill(state: Readable): void {
    this.#feed.clear();
    for (const { prefix, resource } of this.#feeds) {
      if (resource.role === 'Pod') continue;
      for (const entry of state.range(prefix)) this.#apply({ key: entry.key, entry }, state);
    }
  }

  #apply({ entry, key }: PendingWrite, state: Readable): void {
    const feed = this.#feeds.find(({ prefix }) => key.startsWith(prefix));
    if (feed === undefined) return;
    const { resource } = feed;
    if (resource.role === 'Budget' && !this.#isOurs) return;
    const { name, namespace } = splitPath(key.slice(feed.prefix.length));
    const isWatched = this.#feed.indexes.has(namespace);
    // Most namespaces have no budget; their pods are looked at when one comes.
    if (resource.role === 'Pod' && !isWatched) return;
    if (entry !== undefined)
      resource.set(this.#feed, this.#context.objects.readWithoutManagedFields(entry) as KubeObject);
    else resource.delete(this.#feed, namespace, name);
    if (resource.role === 'Budget') this.#follow(namespace, isWatched, state);
  }

  /** Looks at the pods of a namespace as long as it has budgets. */
  #follow(namespace: string, isWatched: boolean, state: Readable): void {
    const { indexes } = this.#feed;
    if (indexes.of(namespace).budgets().next().done === true) indexes.delete(namespace);
    else if (!isWatched) {
      for (const entry of state.range(`${this.#podPrefix}${namespace}/`)) this.#apply({ key: entry.key, entry }, state);
    }
  }
}

function splitPath(path: string): { namespace: string; name: string } {
  const slash = path.indexOf('/');
  return { namespace: path.slice(0, slash), name: path.slice(slash + 1) };
}
