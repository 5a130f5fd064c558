import { controllerOf } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import type { PodUnavailableBudget } from '../../api/kruise/types.ts';
import { BudgetIndex, type Target, targetsAbove } from '../../decisions/unavailability/index.ts';
import type { Entry, Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { PendingWrite } from '../stored/pending-writes.ts';

/** Owners between a pod and the workload a budget may name. */
const OWNERS = [
  ['apps', 'replicasets'],
  ['apps', 'statefulsets'],
  ['', 'replicationcontrollers'],
] as const;

type Readable = Pick<Transaction, 'range'>;

interface KnownOwner {
  readonly replicas: number;
  readonly above: OwnerReference | undefined;
}

/** The counts of every PodUnavailableBudget, including what is still on its way to disk. */
export class UnavailabilityView {
  readonly #kernel: Kernel;
  readonly #compat: boolean;
  readonly #indexes = new Map<string, BudgetIndex>();
  /** Of every namespace without budgets. */
  readonly #none = new BudgetIndex();
  readonly #owners = new Map<string, KnownOwner>();
  readonly #uidByKey = new Map<string, string>();
  readonly #prefixes: { readonly budgets: string; readonly pods: string; readonly owners: readonly string[] };

  constructor(kernel: Kernel, { compat = false }: { compat?: boolean } = {}) {
    this.#kernel = kernel;
    this.#compat = compat;
    const prefixOf = (group: string, plural: string): string => {
      const row = kernel.registry.byPlural(group, plural);
      if (row === undefined) throw new Error(`Cannot guard pods: ${plural} are not served`);
      return row.prefix;
    };
    this.#prefixes = {
      budgets: prefixOf('policy.kruise.io', 'podunavailablebudgets'),
      pods: prefixOf('', 'pods'),
      owners: OWNERS.map(([group, plural]) => prefixOf(group, plural)),
    };
    this.#load();
    kernel.writes.listen({
      wrote: (writes, state) => writes.forEach((write) => this.#apply(write, state)),
      lost: () => this.#load(),
    });
  }

  of(namespace: string): BudgetIndex {
    return this.#indexes.get(namespace) ?? this.#none;
  }

  /** The budget a new pod belongs to. */
  relatedTo(namespace: string, pod: Pod): string | undefined {
    return this.#indexes.get(namespace)?.relatedTo({ pod, targets: this.#targetsOf(pod) });
  }

  /** Replicas an owner asks for. */
  scaleOf(uid: string): number | undefined {
    return this.#owners.get(uid)?.replicas;
  }

  #load(): void {
    const { log, store } = this.#kernel;
    store
      .transact((transaction) => this.#fill(transaction))
      .catch((error: unknown) => log.error({ err: error }, 'cannot read the state that pods are guarded by'));
  }

  /** Owners first, so that pods find them; pods come with the first budget of their namespace. */
  #fill(state: Readable): void {
    this.#indexes.clear();
    this.#owners.clear();
    const { budgets, owners } = this.#prefixes;
    for (const prefix of [...owners, budgets]) {
      for (const entry of state.range(prefix)) this.#apply({ key: entry.key, entry }, state);
    }
  }

  #apply({ entry, key }: PendingWrite, state: Readable): void {
    const { budgets, owners, pods } = this.#prefixes;
    if (key.startsWith(pods)) this.#applyPod(key.slice(pods.length), entry);
    else if (key.startsWith(budgets)) this.#applyBudget(key.slice(budgets.length), entry, state);
    else if (owners.some((prefix) => key.startsWith(prefix))) this.#applyOwner(key, entry);
  }

  #applyPod(path: string, entry: Entry | undefined): void {
    const { name, namespace } = splitPath(path);
    // Most namespaces have no budget; their pods are looked at when one comes.
    const index = this.#indexes.get(namespace);
    if (index === undefined) return;
    if (entry === undefined) index.deletePod(name);
    else {
      const pod = this.#kernel.objects.readLean(entry) as unknown as Pod;
      index.setPod({ pod, targets: this.#targetsOf(pod) });
    }
  }

  #targetsOf(pod: Pod): Target[] {
    return targetsAbove(pod, ({ uid }) => this.#owners.get(uid)?.above);
  }

  #applyBudget(path: string, entry: Entry | undefined, state: Readable): void {
    const { name, namespace } = splitPath(path);
    if (entry === undefined) {
      const index = this.#indexes.get(namespace);
      index?.deleteBudget(name);
      if (index?.budgets().next().done === true) this.#indexes.delete(namespace);
      return;
    }
    const budget = this.#kernel.objects.readLean(entry) as unknown as PodUnavailableBudget;
    const known = this.#indexes.get(namespace);
    if (known !== undefined) {
      known.setBudget(budget);
      return;
    }
    const index = new BudgetIndex({ compat: this.#compat });
    index.setBudget(budget);
    this.#indexes.set(namespace, index);
    const { pods } = this.#prefixes;
    for (const pod of state.range(`${pods}${namespace}/`)) this.#applyPod(pod.key.slice(pods.length), pod);
  }

  #applyOwner(key: string, entry: Entry | undefined): void {
    if (entry === undefined) {
      this.#owners.delete(this.#uidByKey.get(key) ?? '');
      this.#uidByKey.delete(key);
      return;
    }
    const object = this.#kernel.objects.readLean(entry);
    const uid = object.metadata.uid ?? '';
    const { replicas = 1 } = (object['spec'] ?? {}) as { replicas?: number };
    this.#uidByKey.set(key, uid);
    this.#owners.set(uid, { replicas, above: controllerOf(object as unknown as Pod) });
  }
}

function splitPath(path: string): { namespace: string; name: string } {
  const slash = path.indexOf('/');
  return { namespace: path.slice(0, slash), name: path.slice(slash + 1) };
}
