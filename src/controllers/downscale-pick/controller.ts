/** Takes picks back when their downscale is over, failed, or never came; also those a former leader left behind. */
import { controllerOf } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { keyOf, type ObjectKey } from '../../api/resource.ts';
import { podType, replicaSetType } from '../../api/resource-types.ts';
import { judgePick, PICK_ANNOTATION, PICK_GRACE_MS, unpick } from '../../decisions/downscale/index.ts';
import {
  type ControllerContext,
  isConflict,
  type ReconcileResult,
  type RunningController,
  runController,
  settled,
  WorkQueue,
} from '../../machinery/runtime/index.ts';

const NAME = 'downscale-pick';
const BY_OWNER = 'pickedByOwner';

const isPicked = ({ metadata }: Pod): boolean => metadata.annotations?.[PICK_ANNOTATION] !== undefined;

export function startDownscalePickController(context: ControllerContext): RunningController {
  const { client, clock, informers, metrics } = context;
  const pods = informers.of(podType);
  const replicaSets = informers.of(replicaSetType);
  pods.addIndex(BY_OWNER, (pod) => (isPicked(pod) ? [controllerOf(pod)?.uid ?? ''] : []));
  const queue = new WorkQueue({ name: NAME, clock, metrics });
  // When we first saw each pick: other replicas' clocks may be wrong, ours only has to run.
  const since = new Map<string, number>();
  const cleared = metrics.counter(
    'quorate_downscale_picks_cleared_total',
    'Pods that were chosen by a picker and are still there, by why the choice was taken back',
    ['reason'],
  );

  const note = (pod: Pod): void => {
    if (isPicked(pod)) queue.add(keyOf(pod));
    else since.delete(keyOf(pod));
  };
  pods.addHandler({
    added: note,
    updated: note,
    deleted: (pod) => since.delete(keyOf(pod)),
  });
  const notePicked = (uid: string | undefined): void => {
    for (const pod of pods.byIndex(BY_OWNER, uid ?? '')) queue.add(keyOf(pod));
  };
  replicaSets.addHandler({
    updated: ({ metadata }) => notePicked(metadata.uid),
    deleted: ({ metadata }) => notePicked(metadata.uid),
  });

  const reconcile = async (key: ObjectKey): Promise<ReconcileResult> => {
    const pod = pods.get(key);
    if (pod === undefined || !isPicked(pod)) return settled;
    const id = keyOf(pod);
    const seen = since.get(id) ?? clock.now();
    since.set(id, seen);
    const owner = controllerOf(pod);
    const found = replicaSets.get({ namespace: key.namespace, name: owner?.name ?? '' });
    const replicaSet = found?.metadata.uid === owner?.uid ? found : undefined;
    const waitedMs = clock.now() - seen;
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
    cleared.inc({ reason: verdict.reason });
    context.log.debug({ pod: id, reason: verdict.reason }, 'took a pick back');
    return settled;
  };
  runController({
    name: NAME,
    context,
    queue,
    reconcile,
    ready: async () => {
      await Promise.all([pods.whenSynced(), replicaSets.whenSynced()]);
    },
  });
  return { name: NAME, queues: [queue] };
}
