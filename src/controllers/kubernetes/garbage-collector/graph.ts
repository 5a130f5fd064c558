import type { ObjectMeta, OwnerReference } from '../../../api/generated/meta-v1.ts';
import { apiVersionOf, type ResourceType } from '../../../api/resource.ts';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

/** One object, seen or only heard of as somebody's owner. */
export interface GraphNode {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly apiVersion: string;
  readonly kind: string;
  /** False while the object is only known from references to it. */
  readonly observed: boolean;
  readonly owners: readonly OwnerReference[];
  readonly dependents: ReadonlySet<GraphNode>;
  /** Has a deletion timestamp. */
  readonly deleting: boolean;
  /** Being deleted in the foreground: waits for its dependents. */
  readonly deletingDependents: boolean;
  /** Being deleted with its dependents to be left behind. */
  readonly orphaning: boolean;
}

const NO_OWNERS: readonly OwnerReference[] = [];
/** Most objects own nothing, and there are many. */
const NO_DEPENDENTS: ReadonlySet<KnownNode> = new Set();
const NOBODY: ReadonlySet<string> = new Set();
const NO_WAKES: GraphWakes = { examine: NOBODY, orphan: NOBODY };

/** A class, because there is one for every object of a cluster: they then all have one layout. */
class KnownNode implements GraphNode {
  readonly uid: string;
  name: string;
  namespace: string | undefined;
  apiVersion: string;
  kind: string;
  observed: boolean;
  owners: readonly OwnerReference[] = NO_OWNERS;
  dependents: ReadonlySet<KnownNode> = NO_DEPENDENTS;
  deleting = false;
  deletingDependents = false;
  orphaning = false;

  constructor(uid: string, { name, namespace, apiVersion, kind, observed }: Identity) {
    this.uid = uid;
    this.name = name;
    this.namespace = namespace;
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.observed = observed;
  }
}

type Identity = Pick<GraphNode, 'name' | 'namespace' | 'apiVersion' | 'kind' | 'observed'>;

/** Who deserves a look after a change, by uid. */
export interface GraphWakes {
  /** May have to be deleted, or may be done waiting. */
  readonly examine: ReadonlySet<string>;
  /** Must let go of its dependents. */
  readonly orphan: ReadonlySet<string>;
}

export interface SeenObject {
  readonly metadata: ObjectMeta;
}

/**
 * Who owns whom, by uid, as far as the watches have told. It holds no opinion on what should be deleted; it says only
 * which objects a change touches.
 */
export class DependencyGraph {
  readonly #nodes = new Map<string, KnownNode>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** Takes in the current state of an object. */
  observe(type: ResourceType, { metadata }: SeenObject): GraphWakes {
    const node = this.#admit(type, metadata);
    const before = node.owners;
    node.owners = metadata.ownerReferences ?? NO_OWNERS;
    // By far the most: objects that nobody owns and nobody deletes.
    if (before.length + node.owners.length === 0 && !node.deleting && !metadata.deletionTimestamp) return NO_WAKES;
    const examine = new Set<string>();
    const orphan = new Set<string>();
    this.#releaseOwners(node, before, examine);
    this.#joinOwners(node, before, examine);

    const finalizers = metadata.finalizers ?? [];
    node.deleting = Boolean(metadata.deletionTimestamp);
    const deletingDependents = node.deleting && finalizers.includes(FOREGROUND);
    if (deletingDependents && !node.deletingDependents) {
      node.deletingDependents = true;
      for (const { uid } of node.dependents) examine.add(uid);
      examine.add(node.uid);
    }
    node.deletingDependents = deletingDependents;
    const orphaning = node.deleting && finalizers.includes(ORPHAN);
    if (orphaning && !node.orphaning) orphan.add(node.uid);
    node.orphaning = orphaning;
    return examine.size === 0 && orphan.size === 0 ? NO_WAKES : { examine, orphan };
  }

  /** The object is gone: its dependents may have lost their last owner, its owners may have waited for it. */
  forget(uid: string): GraphWakes {
    const examine = new Set<string>();
    const node = this.#nodes.get(uid);
    if (node !== undefined) {
      this.#nodes.delete(uid);
      for (const { uid: dependent } of node.dependents) examine.add(dependent);
      const before = node.owners;
      node.owners = NO_OWNERS;
      this.#releaseOwners(node, before, examine);
    }
    return { examine, orphan: NOBODY };
  }

  #admit(type: ResourceType, { uid = '', name = '', namespace }: ObjectMeta): KnownNode {
    let node = this.#nodes.get(uid);
    const identity = { name, namespace, apiVersion: apiVersionOf(type), kind: type.kind, observed: true };
    if (node === undefined) {
      node = new KnownNode(uid, identity);
      this.#nodes.set(uid, node);
    } else if (!node.observed) {
      // References may have had the name or kind wrong.
      Object.assign(node, identity);
    }
    return node;
  }

  #releaseOwners(node: KnownNode, before: readonly OwnerReference[], examine: Set<string>): void {
    const current = byUid(node.owners);
    for (const { uid, blockOwnerDeletion } of before) {
      const now = current.get(uid);
      if (now !== undefined && (blockOwnerDeletion !== true || now.blockOwnerDeletion === true)) continue;
      const owner = this.#nodes.get(uid);
      if (owner === undefined) continue;
      if (owner.deletingDependents) examine.add(uid);
      if (now !== undefined) continue;
      removeDependent(owner, node);
      if (!owner.observed && owner.dependents.size === 0) this.#nodes.delete(uid);
    }
  }

  #joinOwners(node: KnownNode, before: readonly OwnerReference[], examine: Set<string>): void {
    const known = byUid(before);
    for (const { uid, name, apiVersion, kind } of node.owners) {
      let owner = this.#nodes.get(uid);
      if (owner === undefined) {
        owner = new KnownNode(uid, { name, namespace: node.namespace, apiVersion, kind, observed: false });
        this.#nodes.set(uid, owner);
        examine.add(uid);
      }
      addDependent(owner, node);
      if (!known.has(uid) && (owner.deletingDependents || isMisplaced(node, owner))) examine.add(node.uid);
    }
  }
}

/** The first reference to each owner. */
function byUid(references: readonly OwnerReference[]): ReadonlyMap<string, OwnerReference> {
  const found = new Map<string, OwnerReference>();
  for (const reference of references) if (!found.has(reference.uid)) found.set(reference.uid, reference);
  return found;
}

/** An owner in another namespace does not count as one. */
export function isMisplaced(node: GraphNode, owner: GraphNode): boolean {
  return owner.observed && owner.namespace !== undefined && owner.namespace !== node.namespace;
}

/** Does `dependent` keep `owner` from going while it is deleted in the foreground? */
export function blocks(dependent: GraphNode, owner: GraphNode): boolean {
  return dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === owner.uid && blockOwnerDeletion === true);
}

function addDependent(owner: KnownNode, node: KnownNode): void {
  if (owner.dependents === NO_DEPENDENTS) owner.dependents = new Set();
  (owner.dependents as Set<KnownNode>).add(node);
}

function removeDependent(owner: KnownNode, node: KnownNode): void {
  if (owner.dependents !== NO_DEPENDENTS) (owner.dependents as Set<KnownNode>).delete(node);
}
