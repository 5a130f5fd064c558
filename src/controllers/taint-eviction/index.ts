import type { Pod } from '../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../api/resource-types.ts';
import { formatKey, keyOf } from '../../api/resource.ts';
import {
  isNotFound,
  type ReconcileResult,
  type RunningController,
  runController,
  settled,
  type StartController,
} from '../../machinery/runtime/index.ts';
import { deepEqual, formatTime } from '../../machinery/values/index.ts';
import { decideTaintEviction } from './decide.ts';

const BY_NODE = 'taint-eviction/by-node';

/** Deletes pods from nodes with NoExecute taints they do not, or no longer, tolerate. */
export const startTaintEvictionController: StartController = (context): RunningController => {
  const { client, clock, informers } = context;
  const nodes = informers.of(nodeType);
  const pods = informers.of(podType);
  const events = context.eventsFor('taint-eviction-controller');
  pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  /** Since when a pod is on borrowed time. */
  const condemnedAt = new Map<string, number>();

  const spare = (pod: Pod): ReconcileResult => {
    if (condemnedAt.delete(keyOf(pod))) {
      events.record(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${keyOf(pod)}`);
    }
    return settled;
  };

  const evict = async (pod: Pod): Promise<ReconcileResult> => {
    const { name = '', namespace, uid } = pod.metadata;
    condemnedAt.delete(keyOf(pod));
    events.record(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${keyOf(pod)}`);
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      observedGeneration: pod.metadata.generation,
      lastTransitionTime: formatTime(clock.now()),
    };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      await client.patch(podType, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' });
      await client.delete(podType, { namespace, name }, { preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return settled;
  };

  const { queue } = runController({
    name: 'taint-eviction',
    context,
    workers: 8,
    ready: async () => {
      await Promise.all([nodes.whenSynced(), pods.whenSynced()]);
    },
    reconcile: async (key) => {
      const pod = pods.get(key);
      if (pod === undefined || pod.metadata.deletionTimestamp) {
        condemnedAt.delete(formatKey(key));
        return settled;
      }
      const node = pod.spec?.nodeName ? nodes.get({ name: pod.spec.nodeName }) : undefined;
      const taints = (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
      const verdict = decideTaintEviction(pod, taints);
      switch (verdict.reason) {
        case 'NoTaints':
        case 'ToleratedForever':
          return spare(pod);
        case 'NotTolerated':
          return evict(pod);
        case 'ToleratedForAWhile': {
          const now = clock.now();
          const since = condemnedAt.get(formatKey(key)) ?? now;
          condemnedAt.set(formatKey(key), since);
          const leftMs = since + verdict.seconds * 1000 - now;
          return leftMs <= 0 ? evict(pod) : { requeueAfterMs: leftMs };
        }
      }
    },
  });

  nodes.addHandler({
    added: ({ metadata, spec }) => {
      if (spec?.taints?.length) for (const pod of pods.byIndex(BY_NODE, metadata.name ?? '')) queue.add(keyOf(pod));
    },
    updated: ({ metadata, spec }, old) => {
      if (deepEqual(spec?.taints, old.spec?.taints)) return;
      for (const pod of pods.byIndex(BY_NODE, metadata.name ?? '')) queue.add(keyOf(pod));
    },
  });
  const look = (pod: Pod): void => {
    if (pod.spec?.nodeName && nodes.get({ name: pod.spec.nodeName })?.spec?.taints?.length) queue.add(keyOf(pod));
  };
  pods.addHandler({
    added: look,
    updated: (pod, old) => {
      const same = pod.spec?.nodeName === old.spec?.nodeName && deepEqual(pod.spec?.tolerations, old.spec?.tolerations);
      if (!same) look(pod);
    },
    deleted: (pod) => condemnedAt.delete(keyOf(pod)),
  });
  return { name: 'taint-eviction', queues: [queue] };
};
