import { controllerOf, isControlledBy } from '../api/core/owner.ts';
import { isPodActive, isPodReady } from '../api/core/pod-state.ts';
import type { DownscalePodPicker, ReplicaSet } from '../api/generated/apps-v1.ts';
import type { Pod } from '../api/generated/core-v1.ts';
import { choosePicker, type DownscalePodPickerObject, pickerOf } from '../api/quorate/downscale-pod-picker.ts';
import { podType, replicaSetType } from '../api/resource-types.ts';
import {
  type PickChange,
  type PickerQuestion,
  type PickerReading,
  planPickerCall,
  planPicks,
} from '../decisions/downscale/index.ts';
import { type Client, isNotFound, type Logger, sleep } from '../machinery/runtime/index.ts';
import { formatSelector, fromLabelSelector, isAsNewAs } from '../machinery/values/index.ts';
import { type PodsFollower, sees } from './pods-seen.ts';
import { allow, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface DownscaleWebhook extends PodsFollower {
  readonly client: Client;
  readonly log: Logger;
  readonly pickersIn: (namespace: string) => readonly DownscalePodPickerObject[];
  /** Undefined when there was no usable answer; what went wrong is reported already. */
  readonly ask: (
    concern: { owner: ReplicaSet; picker: DownscalePodPicker; question: PickerQuestion },
    signal: AbortSignal,
  ) => Promise<PickerReading | undefined>;
  /** The choice is known but could not be written on all of its pods. */
  readonly unwritten: (owner: ReplicaSet, pods: number) => void;
}

/** A review is answered within eight seconds; what is left of them is for writing the choice down. */
export const LONGEST_PICKER_SECONDS = 6;
const WRITE_LIMIT_MS = 7500;
const WRITERS = 16;
const STEP_MS = 10;
const LEAST_WAIT_MS = 30;
const KNOWN_LIMIT_MS = 1000;

/**
 * Asks a workload's picker before its ReplicaSet shrinks, and marks the chosen pods so that the ReplicaSet controller
 * takes them. The downscale itself is none of our business: whatever happens here, it is admitted.
 */
export async function reviewDownscale(
  webhook: DownscaleWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  if (request.dryRun === true || webhook.pickersIn(request.namespace ?? '').length === 0) return allow;
  const wanted = replicasOf(request.object);
  if (wanted === 0 || wanted >= replicasOf(request.oldObject)) return allow;
  try {
    await pick(webhook, request, { wanted, signal });
  } catch (error) {
    const { name, namespace } = request;
    webhook.log.warn({ namespace, name, error: String(error) }, 'a downscale goes on without its picker');
  }
  return allow;
}

/** A Scale leaves out a zero. */
function replicasOf(object: ReviewRequest['object']): number {
  return (object?.['spec'] as { replicas?: number } | undefined)?.replicas ?? 0;
}

async function pick(
  webhook: DownscaleWebhook,
  request: ReviewRequest,
  { signal, wanted }: { wanted: number; signal: AbortSignal },
): Promise<void> {
  const { client, clock } = webhook;
  const deadline = clock.elapsed() + WRITE_LIMIT_MS;
  const namespace = request.namespace ?? '';
  // What is stored counts, not what the review says is: costs go on pods that a ReplicaSet really has and may lose.
  const replicaSet = await client.get(replicaSetType, { namespace, name: request.name ?? '' });
  if (wanted >= (replicaSet.spec?.replicas ?? 1)) return;
  const above = controllerOf(replicaSet);
  const object = choosePicker(webhook.pickersIn(namespace), {
    replicaSet: replicaSet.metadata.name ?? '',
    deployment: above?.kind === 'Deployment' ? above.name : undefined,
  });
  if (object === undefined) return;
  // Read afresh: a cache may not know yet who became Ready, and this decides who goes.
  const { items } = await client.list(podType, {
    namespace,
    labelSelector: formatSelector(fromLabelSelector(replicaSet.spec?.selector)),
  });
  const pods = items.filter((pod) => isControlledBy(pod, replicaSet) && isPodActive(pod));
  const count = pods.length - wanted;
  const plan = planPickerCall(pods, count);
  if (!plan.ask) return;
  const picker = pickerOf(object);
  const reading = await webhook.ask(
    {
      owner: { ...replicaSet, apiVersion: 'apps/v1', kind: 'ReplicaSet' },
      picker: { ...picker, timeoutSeconds: Math.min(picker.timeoutSeconds ?? 1, LONGEST_PICKER_SECONDS) },
      question: plan.question,
    },
    signal,
  );
  // Without an opinion Kubernetes' own order stands.
  if (reading === undefined || reading.reason !== 'Ranked') return;
  const generation = replicaSet.metadata.generation ?? 0;
  const changes = planPicks({ pods, count, ranks: reading.ranks, now: clock.now(), generation });
  const { left, newest } = await write(webhook, changes, deadline);
  if (left > 0) webhook.unwritten(replicaSet, left);
  await whenKnown(webhook, { newest, pods, replicaSet }, signal);
}

/** Writes until the deadline; says how many pods are left and the newest resourceVersion written. */
async function write(
  { client, clock, log }: DownscaleWebhook,
  changes: readonly PickChange[],
  deadline: number,
): Promise<{ left: number; newest: string }> {
  const waiting = [...changes];
  let left = 0;
  let newest = '';
  const writer = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (clock.elapsed() >= deadline) {
        left += 1;
        continue;
      }
      try {
        const version = await mark(client, next);
        if (isAsNewAs(version, newest)) newest = version;
      } catch (error) {
        // A pod that is gone needs no mark.
        if (isNotFound(error)) continue;
        left += 1;
        log.warn({ pod: next.pod.metadata.name, error: String(error) }, "cannot write a picker's choice on a pod");
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return { left, newest };
}

async function mark(client: Client, { annotations, pod }: PickChange): Promise<string> {
  const { name = '', namespace, uid } = pod.metadata;
  // The uid keeps us from marking a pod that took the name since.
  const body = { metadata: { uid, annotations } };
  const written: Pod = await client.patch(podType, { namespace, name }, { type: 'merge', body });
  return written.metadata.resourceVersion ?? '';
}

/**
 * Waits, for a second at most, until the ReplicaSet controller can be expected to know what we know. It learns of pods by
 * a watch of the same kind as ours, while the downscale reaches it by another: the marks must get there first. So its
 * watch gets three times as long as ours took, and the pods it counts as Ready in the status must be those we have seen.
 */
async function whenKnown(
  webhook: DownscaleWebhook,
  { newest, pods, replicaSet }: { newest: string; pods: readonly Pod[]; replicaSet: ReplicaSet },
  signal: AbortSignal,
): Promise<void> {
  const { client, clock } = webhook;
  const written = clock.elapsed();
  const deadline = written + KNOWN_LIMIT_MS;
  while (!sees(webhook, newest) && clock.elapsed() < deadline) await sleep(clock, STEP_MS, signal);
  const lag = clock.elapsed() - written;
  await sleep(clock, Math.min(LEAST_WAIT_MS + 2 * lag, Math.max(0, deadline - clock.elapsed())), signal);
  const { name = '', namespace } = replicaSet.metadata;
  const ready = pods.filter(isPodReady).length;
  for (let known = replicaSet; known.status?.readyReplicas !== ready && clock.elapsed() < deadline; ) {
    await sleep(clock, STEP_MS * 5, signal);
    known = await client.get(replicaSetType, { namespace, name });
  }
}
