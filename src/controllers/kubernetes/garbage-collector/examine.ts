import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { type Client, nextTurn } from '../../../machinery/runtime/index.ts';
import { decide, type Owner, type OwnerPresence } from './decide.ts';
import {
  blocks,
  type DependencyGraph,
  FOREGROUND,
  type GraphNode,
  isMisplaced,
  ORPHAN,
  type GraphWakes,
} from './graph.ts';
import type { KnownKinds } from './kinds.ts';
import {
  deleteJudged,
  editMetadata,
  getLive,
  type LiveObject,
  withNonBlockingOwners,
  withoutFinalizer,
  withoutOwners,
} from './live-objects.ts';

export interface CollectorDeps {
  readonly client: Client;
  readonly graph: DependencyGraph;
  readonly kinds: KnownKinds;
  readonly wake: (wakes: GraphWakes) => void;
  /** Asks discovery again, because a reference names a kind that is not known. Asking often costs no more. */
  readonly rediscover: () => Promise<void>;
}

/** A reference names a kind that the server does not serve; nothing can be told until it does. */
export class UnknownKindError extends Error {
  override name = 'UnknownKindError';
}

/** Owners looked up before others have their turn: an object may have thousands, and each is a request. */
const OWNERS_AT_ONCE = 20;

/** Looks at one object: deletes it if nothing that exists owns it, or finishes its foreground deletion. */
export async function examine(deps: CollectorDeps, uid: string): Promise<void> {
  const { client, graph } = deps;
  const node = graph.get(uid);
  if (node === undefined) return;
  // On its way out; when it is gone its dependents are looked at.
  if (node.deleting && !node.deletingDependents) return;
  if (node.observed && node.owners.length === 0 && !node.deletingDependents) return;

  const target = await targetOf(deps, node);
  const live = await getLive(client, target);
  if (live === undefined) {
    deps.wake(graph.forget(uid));
    return;
  }
  if (node.deletingDependents) {
    await finishForeground(deps, node, target);
    return;
  }

  const references = live.metadata.ownerReferences ?? [];
  const owners: Owner[] = [];
  for (let from = 0; from < references.length; from += OWNERS_AT_ONCE) {
    if (from > 0) await nextTurn();
    const some = references.slice(from, from + OWNERS_AT_ONCE);
    const states = await Promise.all(some.map((reference) => stateOf(deps, node, reference)));
    owners.push(...some.map((reference, at) => ({ reference, state: states[at] as OwnerPresence })));
  }
  const verdict = decide({
    owners,
    finalizers: live.metadata.finalizers ?? [],
    hasDependents: node.dependents.size > 0,
    dependentWaits: [...node.dependents].some(({ deletingDependents }) => deletingDependents),
  });
  if (verdict.action === 'detach') await editMetadata(client, target, withoutOwners(verdict.uids));
  if (verdict.action !== 'delete') return;
  let { metadata } = live;
  if (verdict.unblock) {
    await editMetadata(client, target, withNonBlockingOwners);
    metadata = (await getLive(client, target))?.metadata ?? metadata;
  }
  const { propagationPolicy } = verdict;
  if (!(await deleteJudged(client, target, { metadata, propagationPolicy }))) deps.wake(graph.forget(uid));
}

/** Takes the references to an owner away from its dependents, then lets the owner go without them. */
export async function orphanDependents(deps: CollectorDeps, uid: string): Promise<void> {
  const node = deps.graph.get(uid);
  if (node?.orphaning !== true) return;
  await Promise.all(
    [...node.dependents].map(async (dependent) =>
      editMetadata(deps.client, await targetOf(deps, dependent), withoutOwners([uid])),
    ),
  );
  await editMetadata(deps.client, await targetOf(deps, node), withoutFinalizer(ORPHAN));
}

async function finishForeground(deps: CollectorDeps, node: GraphNode, target: LiveObject): Promise<void> {
  const blocking = [...node.dependents].filter((dependent) => blocks(dependent, node));
  if (blocking.length === 0) {
    await editMetadata(deps.client, target, withoutFinalizer(FOREGROUND));
    return;
  }
  const waiting = blocking.filter(({ deletingDependents }) => !deletingDependents).map(({ uid }) => uid);
  deps.wake({ examine: new Set(waiting), orphan: new Set() });
}

async function stateOf(deps: CollectorDeps, node: GraphNode, reference: OwnerReference): Promise<OwnerPresence> {
  const known = deps.graph.get(reference.uid);
  if (known?.observed === true && known.name === reference.name && known.kind === reference.kind) {
    if (isMisplaced(node, known)) return 'absent';
    return known.deletingDependents ? 'waiting' : 'present';
  }
  const type = await resolve(deps, reference);
  // What is in no namespace cannot have an owner in one; such a reference is never followed.
  if (type.namespaced && node.namespace === undefined) return 'present';
  const namespace = type.namespaced ? node.namespace : undefined;
  const live = await getLive(deps.client, { type, namespace, name: reference.name, uid: reference.uid });
  if (live === undefined) return 'absent';
  const { deletionTimestamp, finalizers } = live.metadata;
  return deletionTimestamp && finalizers?.includes(FOREGROUND) === true ? 'waiting' : 'present';
}

async function targetOf(deps: CollectorDeps, node: GraphNode): Promise<LiveObject> {
  const type = await resolve(deps, node);
  return { type, uid: node.uid, name: node.name, namespace: type.namespaced ? node.namespace : undefined };
}

async function resolve(deps: CollectorDeps, { apiVersion, kind }: { apiVersion: string; kind: string }) {
  const known = deps.kinds.resolve(apiVersion, kind);
  if (known !== undefined) return known;
  await deps.rediscover();
  const found = deps.kinds.resolve(apiVersion, kind);
  if (found === undefined)
    throw new UnknownKindError(`Cannot follow owner references: kind ${kind} of ${apiVersion} is not served`);
  return found;
}
