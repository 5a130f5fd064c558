import type { Pod } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/resource.ts';
import { podType } from '../../api/resource-types.ts';
import {
  type ControllerContext,
  isAlreadyExists,
  isConflict,
  isNotFound,
  runController,
  type RunningController,
  settled,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { READY_DELAY } from '../../nodes/index.ts';
import { STAND_IN } from './load.ts';

export interface ReloadTimes {
  /** How long a new pod takes to be ready after it has started, unless its workload says otherwise. */
  readonly defaultMs: number;
  /** By the name of a workload: the longest name that the pod's name begins with counts. */
  readonly byWorkload: ReadonlyMap<string, number>;
}

export function reloadMsOf(pod: Pod, { byWorkload, defaultMs }: ReloadTimes): number {
  const { name = '', namespace = '' } = pod.metadata;
  const fits = [...byWorkload].filter(([workload]) =>
    [name, `${namespace}/${name}`].some((full) => full === workload || full.startsWith(`${workload}-`)),
  );
  return fits.sort(([a], [b]) => b.length - a.length)[0]?.[1] ?? defaultMs;
}

/**
 * Gives pods that come up from now on their time to reload, and makes pods again whose controller is not played here.
 * `begun` says whether the story has begun: what is there before is up already.
 */
export function startReloads(context: ControllerContext, times: ReloadTimes, begun: () => boolean): RunningController {
  const { client, clock, informers, metrics } = context;
  const pods = informers.of(podType);
  const queue = new WorkQueue({ name: 'reloads', clock, metrics, maxDelayMs: 30_000 });
  const lost = new Map<string, Pod>();
  pods.addHandler({
    added: (pod) => {
      if (begun()) queue.add(keyOf(pod));
    },
    deleted: (pod) => {
      if (!begun() || pod.metadata.annotations?.[STAND_IN] !== 'true') return;
      lost.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod);
      queue.add(keyOf(pod));
    },
  });
  runController({
    name: 'reloads',
    context,
    queue,
    workers: 8,
    ready: () => pods.whenSynced(),
    reconcile: async ({ name, namespace }) => {
      const id = `${namespace}/${name}`;
      const gone = lost.get(id);
      lost.delete(id);
      try {
        if (gone !== undefined && pods.get({ name, namespace }) === undefined)
          await client.create(podType, twinOf(gone));
        const pod = pods.get({ name, namespace });
        const ms = pod === undefined ? 0 : reloadMsOf(pod, times);
        if (ms > 0 && pod?.metadata.annotations?.[READY_DELAY] === undefined) {
          const body = { metadata: { annotations: { [READY_DELAY]: `${ms / 1000}s` } } };
          await client.patch(podType, { name, namespace }, { type: 'merge', body });
        }
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) throw error;
      }
      return settled;
    },
  });
  return { name: 'reloads', queues: [queue] };
}

/** The same pod without a node. */
function twinOf({ metadata, spec }: Pod): Pod {
  const { annotations, labels, name, namespace } = metadata;
  const { nodeName: _node, ...rest } = spec ?? { containers: [] };
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== READY_DELAY);
  return {
    metadata: {
      name: name ?? '',
      namespace: namespace ?? '',
      ...(labels && { labels }),
      annotations: Object.fromEntries(kept),
    },
    spec: rest,
  };
}
