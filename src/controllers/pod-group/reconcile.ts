import { isPodFinished } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { formatKey, type KubeObject, type ObjectKey } from '../../api/resource.ts';
import {
  PROTECTION_FINALIZER,
  podGroupType,
  type SchedulingVersion,
  servedPodGroup,
  type StoredPodGroup,
  storedPodGroup,
} from '../../api/scheduling/index.ts';
import {
  type Client,
  type Clock,
  type Informer,
  type ReconcileResult,
  settled,
} from '../../machinery/runtime/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import { computeStatus } from './status.ts';

export const BY_GROUP = 'pod-group';

export interface PodGroupDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly version: SchedulingVersion;
  readonly groups: Informer<KubeObject>;
  /** Indexed by group, see `BY_GROUP`. */
  readonly pods: Informer<Pod>;
  /** Members a group needs; answers undefined where the scheduler writes the condition itself. */
  readonly neededBy: (group: StoredPodGroup) => number | undefined;
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
    await deps.client.patch(podGroupType(deps.version), key, { type: 'merge', body });
    return settled;
  }
  const group = storedPodGroup(served as never, deps.version);
  const status = computeStatus({ group, pods, now: deps.clock.now(), needed: deps.neededBy(group) });
  const shown = servedPodGroup({ ...group, status }, deps.version).status;
  const before = (served as StoredPodGroup).status;
  if (deepEqual(shown, before) || (before === undefined && isNothing(shown))) return settled;
  const patch = { type: 'merge', body: { metadata: { uid: served.metadata.uid }, status: shown } } as const;
  await deps.client.patch(podGroupType(deps.version), key, patch, { subresource: 'status' });
  return settled;
}

/** A group that has no pods yet needs no status. */
const isNothing = (status: object | undefined): boolean =>
  Object.values(status ?? {}).every((value) => value === 0 || value === undefined);
