import type { Counter } from 'prom-client';
import { controllerOf } from '../../../api/core/owner.ts';
import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf, type ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import { judgePick, PICK_ANNOTATION, PICK_GRACE_MS, unpick } from '../../../decisions/downscale/index.ts';
import {
  type Client,
  type Clock,
  type Informer,
  isConflict,
  type Logger,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';

export interface PickDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pods: Informer<Pod>;
  readonly replicaSets: Informer<ReplicaSet>;
  /** When we first saw each pick: other replicas' clocks may be wrong, ours only has to run. */
  readonly since: Map<string, number>;
  readonly cleared: Pick<Counter<'reason'>, 'inc'>;
}

export const isPicked = ({ metadata }: Pod): boolean => metadata.annotations?.[PICK_ANNOTATION] !== undefined;

export async function reconcilePick(deps: PickDeps, key: ObjectKey): Promise<ReconcileResult> {
  const { client, clock, pods, replicaSets, since } = deps;
  const pod = pods.get(key);
  if (pod === undefined || !isPicked(pod)) return settled;
  const id = keyOf(pod);
  const seen = since.get(id) ?? clock.elapsed();
  since.set(id, seen);
  const owner = controllerOf(pod);
  const found = replicaSets.get({ namespace: key.namespace, name: owner?.name ?? '' });
  const replicaSet = found?.metadata.uid === owner?.uid ? found : undefined;
  const waitedMs = clock.elapsed() - seen;
  const verdict = judgePick(pod, { replicaSet, waitedMs });
  if (!verdict.over) {
    return verdict.reason === 'DownscaleUnderWay' && waitedMs < PICK_GRACE_MS
      ? { requeueAfterMs: PICK_GRACE_MS - waitedMs }
      : settled;
  }
  const { resourceVersion, uid } = pod.metadata;
  try {
    // The version keeps a newer pick, which our cache does not show yet, from being taken back with this one.
    const body = { metadata: { uid, resourceVersion, annotations: unpick(pod) } };
    await client.patch(podType, key, { type: 'merge', body });
  } catch (error) {
    if (isConflict(error)) return { requeueAfterMs: 100 };
    throw error;
  }
  deps.cleared.inc({ reason: verdict.reason });
  deps.log.debug({ pod: id, reason: verdict.reason }, 'removed the mark of a pod that was picked for a downscale');
  return settled;
}
