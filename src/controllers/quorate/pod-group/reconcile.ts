import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import {
  PROTECTION_FINALIZER,
  servedPodGroup,
  type StoredPodGroup,
  storedPodGroup,
} from '../../../api/scheduling/index.ts';
import {
  type Client,
  type Clock,
  type Informer,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { deepEqual } from '../../../machinery/values/index.ts';
import type { GroupInformers } from './group-objects.ts';
import { computeStatus } from './status.ts';

export const BY_GROUP = 'pod-group';

export interface PodGroupDeps extends GroupInformers {
  readonly client: Client;
  readonly clock: Clock;
  /** Indexed by group, see `BY_GROUP`. */
  readonly pods: Informer<Pod>;
  /** No scheduler here knows groups: this controller says when one is scheduled. */
  readonly writesCondition: boolean;
}

/** Keeps the member count of a PodGroup, and lets a deleted group go when no pod of it is left to run. */
export async function reconcilePodGroup(deps: PodGroupDeps, key: ObjectKey): Promise<ReconcileResult> {
  const served = deps.groups.get(key);
  if (served === undefined) return settled;
  const pods = deps.pods.byIndex(BY_GROUP, formatKey(key));
  const { finalizers = [], deletionTimestamp } = served.metadata;
  if (deletionTimestamp && finalizers.includes(PROTECTION_FINALIZER)) {
    if (pods.some((pod) => !isPodFinished(pod))) return settled;
    const left = finalizers.filter((name) => name !== PROTECTION_FINALIZER);
    const { resourceVersion, uid } = served.metadata;
    // The version read guards against a pod that joins meanwhile: its event changes nothing here, but a conflict does.
    const body = { metadata: { finalizers: left.length > 0 ? left : null, resourceVersion, uid } };
    await deps.client.patch(deps.groups.type, key, { type: 'merge', body });
    return settled;
  }
  const group = storedPodGroup(served as never, deps.version);
  const answer = deps.termsOf(group);
  const needed = deps.writesCondition && answer?.reason === 'Found' ? answer.terms.needed : undefined;
  // Only the first version has a condition that follows the group.
  const follows = !deps.writesCondition && deps.version === 'v1alpha1' ? answer : undefined;
  const status = computeStatus({ group, pods, now: deps.clock.now(), needed, follows });
  const changed = changes(servedPodGroup({ ...group, status }, deps.version).status, (served as StoredPodGroup).status);
  if (Object.keys(changed).length === 0) return settled;
  const { resourceVersion, uid } = served.metadata;
  // The list of conditions is written whole: never over what the scheduler has written meanwhile.
  const metadata = 'conditions' in changed ? { uid, resourceVersion } : { uid };
  const patch = { type: 'merge', body: { metadata, status: changed } } as const;
  await deps.client.patch(deps.groups.type, key, patch, { subresource: 'status' });
  return settled;
}

/** Only what differs is written, so that what the scheduler writes meanwhile stays. No members is the same as none counted. */
function changes(status: object | undefined, before: object | undefined): Record<string, unknown> {
  const old = (before ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(status ?? {}).filter(
      ([name, value]) => !deepEqual(value, old[name] ?? (value === 0 ? 0 : undefined)),
    ),
  );
}
