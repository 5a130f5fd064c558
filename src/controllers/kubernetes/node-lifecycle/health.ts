import type { Lease } from '../../../api/generated/coordination-v1.ts';
import type { Node, NodeCondition } from '../../../api/generated/core-v1.ts';
import type { Clock } from '../../../machinery/runtime/index.ts';
import { formatTime, parseTime } from '../../../machinery/values/index.ts';

/** What was last seen of a node, and when, as elapsed time: neither clocks of nodes nor a clock that is set are trusted. */
export interface SeenHealth {
  readonly probedAt: number;
  readonly heartbeat: string | undefined;
  readonly renewTime: string | undefined;
}

export interface HealthPolicy {
  /** A node that was heard of before may be silent this long. */
  readonly gracePeriodMs: number;
  /** A node that never posted a status, this long after its creation. */
  readonly startupGracePeriodMs: number;
}

export const defaultHealthPolicy: HealthPolicy = { gracePeriodMs: 50_000, startupGracePeriodMs: 60_000 };

export function readyCondition({ status }: Node): NodeCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** Any news from the node, by status or by Lease, counts as a sign of life at the moment it is noticed. */
export function seeHealth(
  before: SeenHealth | undefined,
  node: Node,
  lease: Lease | undefined,
  clock: Pick<Clock, 'elapsed' | 'now'>,
): SeenHealth {
  const ready = readyCondition(node);
  const heartbeat = ready?.lastHeartbeatTime;
  const renewTime = lease?.spec?.renewTime;
  if (before === undefined) {
    const ageMs = clock.now() - (parseTime(node.metadata.creationTimestamp) ?? clock.now());
    return { probedAt: clock.elapsed() - (ready === undefined ? ageMs : 0), heartbeat, renewTime };
  }
  // Also with an earlier time: a clock that is set back silences nobody.
  const renewed = renewTime !== undefined && renewTime !== before.renewTime;
  const posted = heartbeat !== before.heartbeat;
  return renewed || posted ? { probedAt: clock.elapsed(), heartbeat, renewTime } : before;
}

/** When the node will have been silent for too long, as elapsed time. */
export function silentAt(node: Node, { probedAt }: SeenHealth, policy: HealthPolicy): number {
  return probedAt + (readyCondition(node) === undefined ? policy.startupGracePeriodMs : policy.gracePeriodMs);
}

const KUBELET_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The conditions of a silent node turned Unknown; empty when they already are. */
export function unknownConditions(node: Node, now: number): NodeCondition[] {
  const at = formatTime(now);
  return KUBELET_CONDITIONS.flatMap((type) => {
    const current = node.status?.conditions?.find((condition) => condition.type === type);
    if (current?.status === 'Unknown') return [];
    if (current !== undefined) {
      return [
        {
          ...current,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime: at,
        },
      ];
    }
    return [
      {
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: node.metadata.creationTimestamp ?? at,
        lastTransitionTime: at,
      },
    ];
  });
}
