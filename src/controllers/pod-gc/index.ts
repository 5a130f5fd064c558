import { isPodFinished } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../api/resource-types.ts';
import { type ControllerContext, isNotFound, type RunningController } from '../../machinery/runtime/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { decideGarbage, terminatedBeyond } from './decide.ts';

export interface PodGcOptions {
  /** Ended pods kept in the whole cluster. Default 12500. */
  readonly terminatedPodLimit?: number | undefined;
}

const PERIOD_MS = 20_000;

/** Removes pods that no kubelet will ever finish off, and ended pods beyond a limit. */
export function startPodGcController(context: ControllerContext, options: PodGcOptions = {}): RunningController {
  const { client, clock, informers, log, signal } = context;
  const pods = informers.of(podType);
  const nodes = informers.of(nodeType);
  const missingSince = new Map<string, number>();

  const remove = async (pod: Pod, orphaned: boolean): Promise<void> => {
    const { generation, name = '', namespace, uid } = pod.metadata;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      observedGeneration: generation,
      lastTransitionTime: formatTime(clock.now()),
    };
    try {
      if (!isPodFinished(pod)) {
        const status = { phase: 'Failed', ...(orphaned && { conditions: [condition] }) };
        const body = { metadata: { uid }, status };
        await client.patch(podType, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' });
      }
      await client.delete(podType, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error))
        log.warn({ pod: `${namespace}/${name}`, error: String(error) }, 'a pod could not be removed');
    }
  };

  /** The cache may lag behind a node that was just created. */
  const isGone = async (name: string): Promise<boolean> => {
    try {
      await client.get(nodeType, { name });
      return false;
    } catch (error) {
      return isNotFound(error);
    }
  };

  const pass = async (): Promise<void> => {
    const now = clock.now();
    const all = pods.list();
    const gone = new Map<string, Promise<boolean>>();
    const missing = new Set<string>();
    for (const pod of all) {
      const nodeName = pod.spec?.nodeName ?? '';
      const node = nodes.get({ name: nodeName });
      if (nodeName !== '' && node === undefined) missing.add(nodeName);
      if (missing.has(nodeName) && !missingSince.has(nodeName)) missingSince.set(nodeName, now);
      const reason = decideGarbage(pod, node, now - (missingSince.get(nodeName) ?? now));
      if (reason === undefined) continue;
      if (reason === 'NodeGone') {
        if (!gone.has(nodeName)) gone.set(nodeName, isGone(nodeName));
        if (!(await gone.get(nodeName))) continue;
      }
      await remove(pod, reason === 'NodeGone');
    }
    for (const name of missingSince.keys()) if (!missing.has(name)) missingSince.delete(name);
    for (const pod of terminatedBeyond(all, options.terminatedPodLimit ?? 12_500)) await remove(pod, false);
  };

  const loop = async (): Promise<void> => {
    await pass().catch((error: unknown) => log.warn({ error: String(error) }, 'a pass over the pods failed'));

    if (!signal.aborted) clock.after(PERIOD_MS, () => void loop());
  };
  void Promise.all([pods.whenSynced(), nodes.whenSynced()]).then(loop);
  return { name: 'pod-gc', queues: [] };
}
