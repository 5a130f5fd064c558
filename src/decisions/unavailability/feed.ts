import { controllerOf, type Owned } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { replicaSetType, replicationControllerType, statefulSetType } from '../../api/resource-types.ts';
import { BudgetIndexes, type Target } from './budget-index.ts';
import { decideLeftover, type LeftoverReason } from './leftovers.ts';
import { targetsAbove } from './targets.ts';

/** Kinds that may stand between a pod and the workload a budget names. */
export const OWNER_TYPES: readonly ResourceType[] = [
  replicaSetType as ResourceType,
  statefulSetType as ResourceType,
  replicationControllerType as ResourceType,
];
const OWNER_KINDS: ReadonlySet<string> = new Set(OWNER_TYPES.map(({ kind }) => kind));

/** What is no longer shared beyond stays as it is. */
const MAX_SHARED = 50_000;

interface KnownOwner {
  readonly replicas: number;
  readonly above: OwnerReference | undefined;
}

/** Places pods under their workloads, in whatever order objects are seen, and tells how many replicas an owner asks for. */
export class UnavailabilityFeed {
  readonly indexes: BudgetIndexes;
  readonly #owners = new Map<string, KnownOwner>();
  /** Owners by kind and place: a deletion may tell no more than that. */
  readonly #uids = new Map<string, string>();
  /** Pods that were seen before their owner, by its uid. */
  readonly #early = new Map<string, Map<string, Pod>>();
  /** One copy of what stands above many pods. */
  readonly #targets = new Map<string, readonly Target[]>();
  /** Namespaces that are being deleted. */
  readonly #going = new Set<string>();

  constructor(indexes = new BudgetIndexes()) {
    this.indexes = indexes;
  }

  /** Replicas an owner asks for; undefined when nobody knows. */
  readonly scaleOf = (uid: string): number | undefined => this.#owners.get(uid)?.replicas;

  /** Whether what runs in a namespace is only waiting to be cleared away. */
  leftoverIn(namespace: string): () => LeftoverReason | undefined {
    return () => decideLeftover(this.#going.has(namespace), undefined);
  }

  setNamespace({ metadata: { deletionTimestamp, name = '' } }: KubeObject): void {
    if (deletionTimestamp) this.#going.add(name);
    else this.#going.delete(name);
  }

  deleteNamespace(name: string): void {
    this.#going.delete(name);
  }

  targetsOf(pod: Pod): Target[] {
    return targetsAbove(pod, ({ uid }) => this.#owners.get(uid)?.above);
  }

  setPod(pod: Pod): void {
    const { name = '', namespace = '' } = pod.metadata;
    const owner = waitedFor(pod);
    if (owner !== undefined) this.#wait(owner, `${namespace}/${name}`, this.#owners.has(owner) ? undefined : pod);
    this.indexes.of(namespace).setPod({ pod, targets: this.#shared(this.targetsOf(pod)) });
  }

  #shared(targets: readonly Target[]): readonly Target[] {
    const key = targets.join(' ');
    const known = this.#targets.get(key);
    if (known !== undefined) return known;
    if (this.#targets.size >= MAX_SHARED) this.#targets.clear();
    this.#targets.set(key, targets);
    return targets;
  }

  deletePod(namespace: string, name: string): void {
    const index = this.indexes.of(namespace);
    const pod = index.pod(name);
    const owner = pod && waitedFor(pod);
    if (owner !== undefined) this.#wait(owner, `${namespace}/${name}`, undefined);
    index.deletePod(name);
  }

  /** Takes in what may stand between a pod and the workload a budget names. Returns the pods that were placed anew. */
  setOwner(kind: string, object: KubeObject): readonly Pod[] {
    const { name = '', namespace = '', uid = '' } = object.metadata;
    const { spec } = object as { spec?: { replicas?: number } };
    this.#uids.set(`${kind}/${namespace}/${name}`, uid);
    this.#owners.set(uid, { replicas: spec?.replicas ?? 1, above: controllerOf(object as Owned) });
    const early = [...(this.#early.get(uid)?.values() ?? [])];
    for (const pod of early) this.setPod(pod);
    return early;
  }

  deleteOwner(kind: string, namespace: string, name: string): void {
    const key = `${kind}/${namespace}/${name}`;
    this.#owners.delete(this.#uids.get(key) ?? '');
    this.#uids.delete(key);
  }

  clear(): void {
    this.indexes.clear();
    this.#owners.clear();
    this.#uids.clear();
    this.#early.clear();
    this.#going.clear();
  }

  #wait(owner: string, key: string, pod: Pod | undefined): void {
    const early = this.#early.get(owner) ?? new Map<string, Pod>();
    if (pod === undefined) early.delete(key);
    else early.set(key, pod);
    if (early.size === 0) this.#early.delete(owner);
    else this.#early.set(owner, early);
  }
}

/** The uid of the owner without which a pod's place is not known. */
function waitedFor(pod: Pod): string | undefined {
  const owner = controllerOf(pod);
  return owner !== undefined && OWNER_KINDS.has(owner.kind) ? owner.uid : undefined;
}
