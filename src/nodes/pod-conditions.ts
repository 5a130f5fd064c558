import type { ContainerStatus, Pod, PodCondition } from '../api/generated/core-v1.ts';
import { formatTime } from '../machinery/values/index.ts';

interface Wanted {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/** Conditions of a pod whose containers are up. Unknown conditions, and readiness gates, belong to others. */
export function runningConditions(pod: Pod, containers: readonly ContainerStatus[], now: number): PodCondition[] {
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name);
  const containersReady: Wanted =
    unready.length === 0
      ? { type: 'ContainersReady', status: 'True' }
      : {
          type: 'ContainersReady',
          status: 'False',
          reason: 'ContainersNotReady',
          message: `containers with unready status: [${unready.join(' ')}]`,
        };
  const gates = gateProblems(pod);
  const ready: Wanted =
    unready.length > 0 || gates.length === 0
      ? { ...containersReady, type: 'Ready' }
      : { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: gates.join(', ') };
  const wanted: Wanted[] = [
    { type: 'PodReadyToStartContainers', status: 'True' },
    { type: 'Initialized', status: 'True' },
    ready,
    containersReady,
  ];
  wanted.push({ type: 'PodScheduled', status: 'True' });
  return changed(pod, wanted, now);
}

function gateProblems({ spec, status }: Pod): string[] {
  return (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = status?.conditions?.find(({ type }) => type === conditionType);
    if (found === undefined)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return found.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`];
  });
}

/** Conditions of a pod that reached its end. */
export function endedConditions(pod: Pod, phase: 'Succeeded' | 'Failed', now: number): PodCondition[] {
  const reason = phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
  return changed(
    pod,
    [
      { type: 'PodReadyToStartContainers', status: 'False' },
      { type: 'Initialized', status: 'True', ...(phase === 'Succeeded' && { reason }) },
      { type: 'Ready', status: 'False', reason },
      { type: 'ContainersReady', status: 'False', reason },
    ],
    now,
  );
}

/**
 * Only those that differ from what the pod shows, each with the generation it was seen at; a transition is a change of
 * status alone.
 */
function changed(pod: Pod, wanted: readonly Wanted[], now: number): PodCondition[] {
  const { generation } = pod.metadata;
  return wanted.flatMap(({ type, status, reason, message }) => {
    const current = pod.status?.conditions?.find((condition) => condition.type === type);
    if (
      current?.status === status &&
      current.observedGeneration === generation &&
      (current.reason ?? '') === (reason ?? '') &&
      (current.message ?? '') === (message ?? '')
    ) {
      return [];
    }
    const lastTransitionTime =
      current?.status === status && current.lastTransitionTime ? current.lastTransitionTime : formatTime(now);
    // Absent parts are sent as null so that merging removes what was there.
    const blank = (value: string | undefined, old: string | undefined) =>
      value ?? (old ? (null as unknown as string) : undefined);
    return [
      {
        type,
        status,
        observedGeneration: generation,
        lastTransitionTime,
        reason: blank(reason, current?.reason),
        message: blank(message, current?.message),
      },
    ];
  });
}
