import type { Pod } from '../../../api/generated/core-v1.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  type Client,
  type Clock,
  type Informer,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { formatTime, parseTime } from '../../../machinery/values/index.ts';

const STALE_AFTER_MS = 120_000;

/**
 * How long until a pod's DisruptionTarget is stale: it was to be disrupted and is still not going. Undefined when it
 * never will be; what the kubelet set and what finished pods carry stays.
 */
export function staleTargetDelayMs({ metadata, status }: Pod, now: number): number | undefined {
  if (metadata.deletionTimestamp || status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  if (target?.status !== 'True' || target.reason === 'TerminationByKubelet') return undefined;
  return Math.max(0, (parseTime(target.lastTransitionTime) ?? 0) + STALE_AFTER_MS - now);
}

export interface StaleTargetDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly pods: Informer<Pod>;
}

/** Takes back the announcement of a disruption that did not happen. */
export async function clearStaleTarget(
  { client, clock, pods }: StaleTargetDeps,
  key: ObjectKey,
): Promise<ReconcileResult> {
  const pod = pods.get(key);
  if (pod === undefined) return settled;
  const now = clock.now();
  const delayMs = staleTargetDelayMs(pod, now);
  if (delayMs === undefined) return settled;
  if (delayMs > 0) return { requeueAfterMs: delayMs };
  const conditions = (pod.status?.conditions ?? []).map((condition) =>
    condition.type === 'DisruptionTarget'
      ? {
          type: condition.type,
          status: 'False',
          lastTransitionTime: formatTime(now),
          ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
        }
      : condition,
  );
  await client.updateStatus(podType, { ...pod, status: { ...pod.status, conditions } });
  return settled;
}
