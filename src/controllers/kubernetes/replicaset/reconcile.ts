import { controllerOf } from '../../../api/core/owner.ts';
import { isPodActive, isPodTerminating } from '../../../api/core/pod-state.ts';
import type { ReplicaSetStatus } from '../../../api/generated/apps-v1.ts';
import { formatKey, keyOf, type ObjectKey } from '../../../api/resource.ts';
import { type ReconcileResult, settled } from '../../../machinery/runtime/index.ts';
import { matches } from '../../../machinery/values/index.ts';
import { claim, ownedOrOrphaned } from '../../shared/pod-control/index.ts';
import type { ReplicaDeps } from './deps.ts';
import type { ReplicaOwner } from './kind.ts';
import { manageReplicas } from './manage.ts';
import { availabilityRecheckMs, computeStatus, isSameStatus } from './status.ts';

/** How long to wait for a cache that lags behind our own writes, if no event wakes the key earlier. */
const STALE_CACHE_WAIT_MS = 100;

/** Brings the number of pods of one ReplicaSet (or ReplicationController) to what its spec says. */
export async function reconcileReplicas<T extends ReplicaOwner>(
  deps: ReplicaDeps<T>,
  objectKey: ObjectKey,
): Promise<ReconcileResult> {
  const { context, expectations, kind, owners, pods, writes } = deps;
  const key = formatKey(objectKey);
  const owner = owners.get(objectKey);
  if (owner === undefined) {
    expectations.forget(key);
    writes.forget(key);
    return settled;
  }
  if (!writes.seen(key)) return { requeueAfterMs: STALE_CACHE_WAIT_MS };

  // Asked before pods are listed: what arrives in between then only makes the answer more cautious.
  const upToDate = expectations.satisfied(key);
  const selector = kind.selectorOf(owner);
  const candidates = ownedOrOrphaned(pods, owner);
  const active = await claim({
    client: context.client,
    owner,
    ownerType: kind.type,
    cache: pods,
    writes,
    selector,
    children: candidates.filter(isPodActive),
  });

  let failure: Error | undefined;
  if (upToDate && !owner.metadata.deletionTimestamp) {
    try {
      await manageReplicas(deps, owner, active);
    } catch (error) {
      if (context.signal.aborted) throw error;
      failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  const now = context.clock.now();
  const terminating = candidates.filter(
    (pod) =>
      isPodTerminating(pod) && controllerOf(pod)?.uid === owner.metadata.uid && matches(selector, pod.metadata.labels),
  );
  const status = computeStatus({
    owner,
    templateLabels: kind.templateOf(owner)?.metadata?.labels,
    pods: active,
    terminating: kind.reportsTerminating ? terminating.length : undefined,
    failure,
    now,
  });
  if (!isSameStatus(owner.status, status)) await writeStatus(deps, owner, status);
  if (failure !== undefined) throw failure;
  const recheck = availabilityRecheckMs({ pods: active, owner, now }, status);
  return recheck === undefined ? settled : { requeueAfterMs: recheck };
}

/** One more try on a fresh copy: the usual reason to fail is a spec that changed meanwhile. */
async function writeStatus<T extends ReplicaOwner>(
  { context, kind, owners, writes }: ReplicaDeps<T>,
  owner: T,
  status: ReplicaSetStatus,
): Promise<void> {
  const { client } = context;
  const key = keyOf(owner);
  try {
    writes.record(key, owners, await client.updateStatus(kind.type, { ...owner, status }));
  } catch {
    const { name = '', namespace } = owner.metadata;
    const fresh = await client.get(kind.type, { name, namespace });
    writes.record(key, owners, await client.updateStatus(kind.type, { ...fresh, status }));
  }
}
