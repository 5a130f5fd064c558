import type { KubeObject, ResourceType } from '../api/resource.ts';
import { eventType, nodeType } from '../api/resource-types.ts';
import { MARKER_TAINTS } from '../decisions/observed-drains/index.ts';
import { UNSCHEDULABLE } from '../decisions/placement/index.ts';
import { type ReadDrain, readWaits, type WaitState } from '../decisions/waits/index.ts';
import { type Client, isForbidden, listAll } from '../machinery/runtime/index.ts';
import { parseTime } from '../machinery/values/index.ts';
import { ClusterReader } from './cluster-reader.ts';
import { gatherBudgets } from './gather.ts';
import { gatherPlacement } from './gather-placement.ts';
import { gatherWholesaleSets } from './wholesale-sets.ts';

const nodeClaimType: ResourceType<KubeObject> = {
  group: 'karpenter.sh',
  version: 'v1',
  kind: 'NodeClaim',
  plural: 'nodeclaims',
  namespaced: false,
};

/** What an autoscaler has begun is waited for so long. */
const SCALE_UP_MS = 10 * 60_000;

/**
 * Reads who waits for whom.
 * @throws {CannotTellError} when something that matters may not be read
 */
export async function gatherWaits(client: Client, drains: readonly ReadDrain[], now: number): Promise<WaitState> {
  const nodes = await listAll(client, nodeType, undefined);
  const state = await gatherBudgets(client, { now });
  const wholesaleSets = await gatherWholesaleSets(client);
  const { cluster } = await gatherPlacement(client, nodes);
  return readWaits({
    now,
    drains,
    nodes,
    pods: state.pods,
    groups: { ...state, everyGroup: state.everyGroup(), wholesaleSets },
    cluster,
    markers: new Set([UNSCHEDULABLE.key, ...MARKER_TAINTS]),
    grows: await isGrowing(client, now),
  });
}

/** Whether an autoscaler is adding nodes; where that may not be read, it may be. */
async function isGrowing(client: Client, now: number): Promise<boolean> {
  const reader = new ClusterReader(client);
  const claims = await reader.list([nodeClaimType]);
  if (reader.unread.length > 0 || claims.some((claim) => isComing(claim, now))) return true;
  try {
    const events = await listAll(client, eventType, undefined, 'reason=TriggeredScaleUp');
    return events.some(({ eventTime, lastTimestamp, metadata }) => {
      const at = parseTime(lastTimestamp ?? eventTime ?? metadata.creationTimestamp) ?? 0;
      return now - at < SCALE_UP_MS;
    });
  } catch (error) {
    if (isForbidden(error)) return true;
    throw error;
  }
}

function isComing(claim: KubeObject, now: number): boolean {
  const { metadata, status } = claim as KubeObject & { status?: { conditions?: { type: string; status: string }[] } };
  const ready = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
  const age = now - (parseTime(metadata.creationTimestamp) ?? 0);
  return !ready && metadata.deletionTimestamp === undefined && age < SCALE_UP_MS;
}
