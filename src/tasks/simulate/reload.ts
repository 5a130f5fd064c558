import type { Pod } from '../../api/generated/core-v1.ts';
import { formatKey, keyOf } from '../../api/resource.ts';
import { podType } from '../../api/resource-types.ts';
import {
  type Controller,
  defineController,
  isAlreadyExists,
  isConflict,
  isNotFound,
  settled,
  watch,
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
export function createReloads(times: ReloadTimes, begun: () => boolean): Controller {
  return defineController({
    name: 'reloads',
    workers: 8,
    backOff: { maxDelayMs: 30_000 },
    deps: ({ client, informers }) => ({ client, pods: informers.of(podType), lost: new Map<string, Pod>() }),
    watches: ({ lost, pods }) => [
      watch(pods, {
        added: (pod) => (begun() ? keyOf(pod) : undefined),
        deleted(pod) {
          if (!begun() || pod.metadata.annotations?.[STAND_IN] !== 'true') return;
          lost.set(keyOf(pod), pod);
          return keyOf(pod);
        },
      }),
    ],
    async reconcile({ client, lost, pods }, key) {
      const gone = lost.get(formatKey(key));
      lost.delete(formatKey(key));
      try {
        if (gone !== undefined && pods.get(key) === undefined) await client.create(podType, twinOf(gone));
        const pod = pods.get(key);
        const ms = pod === undefined ? 0 : reloadMsOf(pod, times);
        if (ms > 0 && pod?.metadata.annotations?.[READY_DELAY] === undefined) {
          const body = { metadata: { annotations: { [READY_DELAY]: `${ms / 1000}s` } } };
          await client.patch(podType, key, { type: 'merge', body });
        }
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) throw error;
      }
      return settled;
    },
  });
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
