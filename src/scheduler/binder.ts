import { podType } from '../api/resource-types.ts';
import { isConflict, isNotFound, type ReconcileResult, settled } from '../machinery/runtime/index.ts';
import type { SchedulerDeps } from './deps.ts';
import type { KnownPod } from './pod-book.ts';
import { reportBound, reportError } from './report.ts';
import { requeuePod } from './watches.ts';

/**
 * Binds a pod to the place it was given. A server that cannot be reached is asked again for as long as the pod keeps
 * its place, because siblings may be bound already; only a refusal gives the place up.
 */
export async function bindPod(deps: SchedulerDeps, uid: string): Promise<ReconcileResult> {
  const { book, client, permit, volumes } = deps;
  const known = book.get(uid);
  if (known?.standing !== 'assumed' || known.node === undefined) return settled;
  // Asked again right before the write: the group may have lost a member meanwhile.
  if (!permit.allows(known)) {
    permit.pass(known);
    return settled;
  }
  const { metadata } = known.pod;
  const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
    target: { apiVersion: 'v1', kind: 'Node', name: known.node },
  };
  if (known.facts.claims.length > 0) await volumes.announce(known);
  try {
    await client.createSubresource(podType, key, 'binding', binding);
  } catch (error) {
    if (!(error instanceof Error) || !isFinal(error)) throw error;
    giveUp(deps, known, error);
    return settled;
  }
  reportBound(deps, known);
  return settled;
}

/** The server will never accept this binding. */
function giveUp(deps: SchedulerDeps, known: KnownPod, error: Error): void {
  deps.book.release(known);
  deps.queue.notify('PodGone');
  reportError(deps, known, `binding rejected: ${error.message}`);
  requeuePod(deps, known, { rested: true });
}

function isFinal(error: Error): boolean {
  if (isNotFound(error) || isConflict(error)) return true;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && code >= 400 && code < 500 && code !== 429;
}
