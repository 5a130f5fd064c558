/** How many replicas the measured use of a resource asks for. Pure. */
import { podCondition } from '../../../api/core/pod-state.ts';
import type { Container, Pod } from '../../../api/generated/core-v1.ts';
import { parseMillis, parseTime } from '../../../machinery/values/index.ts';

export interface Measured {
  /** In thousandths of the resource's unit. */
  readonly value: number;
  readonly at: number;
  readonly windowMs: number;
}

export interface UsageQuestion {
  readonly pods: readonly Pod[];
  /** By pod name; pods that were not measured are absent. */
  readonly measured: ReadonlyMap<string, Measured>;
  readonly resource: string;
  /** Only this container counts; absent: all of them. */
  readonly container?: string | undefined;
  readonly target: { readonly utilization: number } | { readonly averageMillis: number };
  readonly currentReplicas: number;
  /** Deviations of the ratio from 1 that change nothing. */
  readonly tolerance: { readonly up: number; readonly down: number };
  readonly now: number;
}

export type UsageVerdict =
  | {
      readonly ok: true;
      readonly replicas: number;
      readonly averageMillis: number;
      readonly utilization: number | undefined;
    }
  | {
      readonly ok: false;
      readonly reason: 'NoPods' | 'NothingMeasured' | 'MissingRequest';
      readonly message: string;
    };

const CPU_INITIALIZATION_MS = 5 * 60_000;
const INITIAL_READINESS_DELAY_MS = 30_000;

/**
 * Ratio of use to target, times the pods it was measured on, rounded up. Pods that are starting count as idle and pods
 * that were not measured count against the change, so neither can cause one; a change that they turn around is dropped.
 */
export function recommendByUsage(question: UsageQuestion): UsageVerdict {
  const { currentReplicas, measured, pods, target, tolerance } = question;
  if (pods.length === 0) {
    return { ok: false, reason: 'NoPods', message: 'no pods returned by selector while calculating replica count' };
  }
  const { missing, ready, unready } = groupPods(question);
  const values = new Map(ready.map((name) => [name, measured.get(name)?.value ?? 0]));
  if (values.size === 0) {
    return {
      ok: false,
      reason: 'NothingMeasured',
      message: 'did not receive metrics for targeted pods (pods might be unready)',
    };
  }
  const requests = 'utilization' in target ? readRequests(question) : new Map<string, number>();
  if (typeof requests === 'string') return { ok: false, reason: 'MissingRequest', message: requests };
  const first = ratioOf(values, requests, target);
  if (first === undefined) {
    return { ok: false, reason: 'NothingMeasured', message: 'no metrics returned matched known pods' };
  }
  const answer = (replicas: number): UsageVerdict => ({
    ok: true,
    replicas,
    averageMillis: first.averageMillis,
    utilization: first.utilization,
  });
  const within = (ratio: number): boolean => ratio <= 1 + tolerance.up && ratio >= 1 - tolerance.down;
  const growsWithUnready = unready.length > 0 && first.ratio > 1;
  if (!growsWithUnready && missing.length === 0) {
    return answer(within(first.ratio) ? currentReplicas : Math.ceil(first.ratio * ready.length));
  }

  if (first.ratio !== 1) {
    for (const name of missing) values.set(name, first.ratio > 1 ? 0 : fullUse(target, requests.get(name) ?? 0));
  }
  if (growsWithUnready) for (const name of unready) values.set(name, 0);
  const second = ratioOf(values, requests, target)?.ratio ?? 1;
  const turnedAround = (first.ratio < 1 && second > 1) || (first.ratio > 1 && second < 1);
  if (within(second) || turnedAround) return answer(currentReplicas);
  const replicas = Math.ceil(second * values.size);
  const contradicts = (second < 1 && replicas > currentReplicas) || (second > 1 && replicas < currentReplicas);
  return answer(contradicts ? currentReplicas : replicas);
}

/** What an unmeasured pod is taken to use when the others ask for fewer replicas. */
function fullUse(target: UsageQuestion['target'], request: number): number {
  return 'utilization' in target
    ? Math.floor((request * Math.max(100, target.utilization)) / 100)
    : target.averageMillis;
}

interface Ratio {
  readonly ratio: number;
  readonly averageMillis: number;
  readonly utilization: number | undefined;
}

function ratioOf(
  values: ReadonlyMap<string, number>,
  requests: ReadonlyMap<string, number>,
  target: UsageQuestion['target'],
): Ratio | undefined {
  let total = 0;
  let requested = 0;
  for (const [name, value] of values) {
    total += value;
    requested += requests.get(name) ?? 0;
  }
  const averageMillis = Math.floor(total / values.size);
  if (!('utilization' in target)) {
    return { ratio: averageMillis / target.averageMillis, averageMillis, utilization: undefined };
  }
  if (requested === 0) return undefined;
  const utilization = Math.floor((total * 100) / requested);
  return { ratio: utilization / target.utilization, averageMillis, utilization };
}

interface PodGroups {
  readonly ready: string[];
  readonly unready: string[];
  readonly missing: string[];
}

function groupPods({ measured, now, pods, resource }: UsageQuestion): PodGroups {
  const groups: PodGroups = { ready: [], unready: [], missing: [] };
  for (const pod of pods) {
    const { name = '' } = pod.metadata;
    const phase = pod.status?.phase;
    if (pod.metadata.deletionTimestamp || phase === 'Failed' || phase === 'Succeeded') continue;
    const sample = measured.get(name);
    if (phase === 'Pending') groups.unready.push(name);
    else if (sample === undefined) groups.missing.push(name);
    else if (resource === 'cpu' && isStarting(pod, sample, now)) groups.unready.push(name);
    else groups.ready.push(name);
  }
  return groups;
}

/** CPU use of a pod that is coming up says nothing about its load. */
function isStarting(pod: Pod, sample: Measured, now: number): boolean {
  const ready = podCondition(pod, 'Ready');
  const startedAt = parseTime(pod.status?.startTime);
  if (ready === undefined || startedAt === undefined) return true;
  const changedAt = parseTime(ready.lastTransitionTime) ?? 0;
  if (startedAt + CPU_INITIALIZATION_MS > now) {
    return ready.status === 'False' || sample.at < changedAt + sample.windowMs;
  }
  return ready.status === 'False' && startedAt + INITIAL_READINESS_DELAY_MS > changedAt;
}

/** Requests by pod name, or what is missing. */
function readRequests({ container, pods, resource }: UsageQuestion): Map<string, number> | string {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    const name = metadata.name ?? '';
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    const counted = [...(spec?.containers ?? []), ...sidecars].filter(isCounted(container));
    let total = 0;
    for (const { name: containerName, resources } of counted) {
      const request = resources?.requests?.[resource];
      if (request === undefined) return `missing request for ${resource} in container ${containerName} of Pod ${name}`;
      total += parseMillis(request);
    }
    if (counted.length === 0) return `container ${container ?? ''} not found in Pod ${name}`;
    requests.set(name, total);
  }
  return requests;
}

const isCounted =
  (only: string | undefined) =>
  ({ name }: Container): boolean =>
    only === undefined || name === only;
