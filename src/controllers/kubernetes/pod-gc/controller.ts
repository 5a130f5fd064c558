import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import {
  type Client,
  type ControllerContext,
  defineController,
  type Informer,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import { decideGarbage, terminatedBeyond } from './decide.ts';

/** Ended pods kept in the whole cluster. */
const TERMINATED_POD_LIMIT = 12_500;
const PERIOD_MS = 20_000;

/** Removes pods that no kubelet will ever finish off, and ended pods beyond a limit. */
export const podGcController = defineController({
  name: 'pod-gc',
  deps: (context) => ({
    context,
    pods: context.informers.of(podType),
    nodes: context.informers.of(nodeType),
    missingSince: new Map<string, number>(),
  }),
  passes: [{ everyMs: PERIOD_MS, atStart: true, pass: removeGarbage }],
});

interface Deps {
  readonly context: ControllerContext;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  /** Since when pods have named nodes that are not there. */
  readonly missingSince: Map<string, number>;
}

async function removeGarbage({ context, missingSince, nodes, pods }: Deps): Promise<void> {
  const now = context.clock.now();
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
      if (!gone.has(nodeName)) gone.set(nodeName, isGone(context.client, nodeName));
      if (!(await gone.get(nodeName))) continue;
    }
    await remove(context, pod, reason === 'NodeGone');
  }
  for (const name of missingSince.keys()) if (!missing.has(name)) missingSince.delete(name);
  for (const pod of terminatedBeyond(all, TERMINATED_POD_LIMIT)) await remove(context, pod, false);
}

async function remove({ client, clock, log }: ControllerContext, pod: Pod, orphaned: boolean): Promise<void> {
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
    if (!isNotFound(error)) log.warn({ pod: `${namespace}/${name}`, error: String(error) }, 'cannot remove a pod');
  }
}

/** The cache may lag behind a node that was just created. */
async function isGone(client: Client, name: string): Promise<boolean> {
  try {
    await client.get(nodeType, { name });
    return false;
  } catch (error) {
    return isNotFound(error);
  }
}
