import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import { formatKey, keyOf, type ObjectKey } from '../../../api/resource.ts';
import {
  type Client,
  type Clock,
  defineController,
  type EventRecorder,
  type Informer,
  isNotFound,
  type ReconcileResult,
  settled,
  watch,
} from '../../../machinery/runtime/index.ts';
import { deepEqual, formatTime } from '../../../machinery/values/index.ts';
import { decideTaintEviction } from './decide.ts';

const BY_NODE = 'taint-eviction/by-node';

interface Deps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  /** Since when a pod is on borrowed time. */
  readonly condemnedAt: Map<string, number>;
}

/** Deletes pods from nodes with NoExecute taints they do not, or no longer, tolerate. */
export const taintEvictionController = defineController({
  name: 'taint-eviction',
  workers: 8,
  deps(context): Deps {
    const { client, clock, informers } = context;
    const pods = informers.of(podType);
    pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
    const events = context.eventsFor('taint-eviction-controller');
    return { client, clock, events, nodes: informers.of(nodeType), pods, condemnedAt: new Map() };
  },
  watches({ condemnedAt, nodes, pods }) {
    const podsOn = ({ metadata }: Node): string[] => pods.byIndex(BY_NODE, metadata.name ?? '').map(keyOf);
    const onTainted = (pod: Pod): string | undefined =>
      pod.spec?.nodeName && nodes.get({ name: pod.spec.nodeName })?.spec?.taints?.length ? keyOf(pod) : undefined;
    return [
      watch(nodes, {
        added: (node) => (node.spec?.taints?.length ? podsOn(node) : []),
        updated: (node, old) => (deepEqual(node.spec?.taints, old.spec?.taints) ? [] : podsOn(node)),
      }),
      watch(pods, {
        added: onTainted,
        updated(pod, { spec: old }) {
          const same = pod.spec?.nodeName === old?.nodeName && deepEqual(pod.spec?.tolerations, old?.tolerations);
          return same ? undefined : onTainted(pod);
        },
        deleted: (pod) => void condemnedAt.delete(keyOf(pod)),
      }),
    ];
  },
  reconcile: reconcilePod,
});

async function reconcilePod(deps: Deps, key: ObjectKey): Promise<ReconcileResult> {
  const { clock, condemnedAt, nodes, pods } = deps;
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
      return spare(deps, pod);
    case 'NotTolerated':
      return evict(deps, pod);
    case 'ToleratedForAWhile': {
      const now = clock.elapsed();
      const since = condemnedAt.get(formatKey(key)) ?? now;
      condemnedAt.set(formatKey(key), since);
      const leftMs = since + verdict.seconds * 1000 - now;
      return leftMs <= 0 ? evict(deps, pod) : { requeueAfterMs: leftMs };
    }
  }
}

function spare({ condemnedAt, events }: Deps, pod: Pod): ReconcileResult {
  if (condemnedAt.delete(keyOf(pod))) {
    events.record(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${keyOf(pod)}`);
  }
  return settled;
}

async function evict({ client, clock, condemnedAt, events }: Deps, pod: Pod): Promise<ReconcileResult> {
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
}
