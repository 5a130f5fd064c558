import type { ContainerStatus, Pod, PodStatus } from '../api/generated/core-v1.ts';
import { deepEqual, formatTime } from '../machinery/values/index.ts';
import {
  CRASH_LOOP,
  crashedContainer,
  endedContainer,
  isRunning,
  PULL_BACK_OFF,
  restartedContainer,
  runningContainers,
  runningEphemeralContainers,
  runningInitContainers,
  type Site,
} from './container-status.ts';
import { exitCodes } from './pod-end.ts';
import { endedConditions, runningConditions } from './pod-conditions.ts';
import type { PodEffect } from './stage.ts';

/** What a container that is told to stop ends with: 128 + SIGTERM. */
const STOPPED = 143;

/** The part of the status an effect changes; undefined when nothing would change. `remove` has none. */
export function statusPatch(
  effect: Exclude<PodEffect, 'remove'>,
  pod: Pod,
  site: Site,
): Partial<PodStatus> | undefined {
  switch (effect) {
    case 'start':
    case 'sync':
      return difference(pod, runningStatus(pod, runningContainers(pod, site), site));
    case 'back-off-pull':
      return difference(pod, runningStatus(pod, backOffPull(runningContainers(pod, site)), site));
    case 'restart': {
      const containers = (pod.status?.containerStatuses ?? []).map((status) => restartedContainer(pod, status, site));
      return difference(pod, runningStatus(pod, containers, site));
    }
    case 'reject-ports':
      return difference(pod, {
        ...endedStatus(pod, 'Failed', site),
        reason: 'NodePorts',
        message:
          "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      });
    case 'exceed-deadline':
      return difference(pod, {
        ...endedStatus(pod, 'Failed', site, allEnded(pod, site)),
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
      });
    case 'end':
      return difference(pod, afterEnd(pod, site));
    case 'stop': {
      const containers = allEnded(pod, site);
      const failed = containers.length === 0 || containers.some(({ state }) => state?.terminated?.exitCode !== 0);
      return difference(pod, endedStatus(pod, failed ? 'Failed' : 'Succeeded', site, containers));
    }
  }
}

function runningStatus(pod: Pod, containers: ContainerStatus[], site: Site): Partial<PodStatus> {
  const init = runningInitContainers(pod, site);
  const ephemeral = runningEphemeralContainers(pod, site);
  const pulling = containers.some(
    ({ lastState, state }) => isPullWaiting(state) && lastState?.terminated === undefined,
  );
  const sidecars = (init ?? []).filter(isRunning);
  return {
    phase: pulling ? 'Pending' : 'Running',
    ...placement(pod, site),
    containerStatuses: containers,
    ...(init && { initContainerStatuses: init }),
    ...(ephemeral && { ephemeralContainerStatuses: ephemeral }),
    conditions: runningConditions(pod, [...sidecars, ...containers], site.now),
  };
}

function isPullWaiting(state: ContainerStatus['state']): boolean {
  return state?.waiting !== undefined && state.waiting.reason !== CRASH_LOOP;
}

function placement(pod: Pod, { hostIP, now, podIP }: Site): Partial<PodStatus> {
  const ip = pod.spec?.hostNetwork ? hostIP : podIP;
  return {
    observedGeneration: pod.metadata.generation,
    startTime: pod.status?.startTime ?? formatTime(now),
    ...(pod.status?.hostIP ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
    ...(pod.status?.podIP ? {} : { podIP: ip, podIPs: [{ ip }] }),
  };
}

function endedStatus(
  pod: Pod,
  phase: 'Succeeded' | 'Failed',
  site: Site,
  containers?: ContainerStatus[],
): Partial<PodStatus> {
  return {
    phase,
    observedGeneration: pod.metadata.generation,
    startTime: pod.status?.startTime ?? formatTime(site.now),
    ...(containers !== undefined && containers.length > 0 && { containerStatuses: containers }),
    ...(pod.status?.initContainerStatuses && {
      initContainerStatuses: pod.status.initContainerStatuses.map((status) =>
        isRunning(status) ? endedContainer(status, 0, site.now) : status,
      ),
    }),
    conditions: endedConditions(pod, phase, site.now),
  };
}

function allEnded(pod: Pod, { now }: Site): ContainerStatus[] {
  return (pod.status?.containerStatuses ?? []).map((status) => endedContainer(status, STOPPED, now));
}

function backOffPull(containers: ContainerStatus[]): ContainerStatus[] {
  return containers.map((status) =>
    isPullWaiting(status.state)
      ? {
          ...status,
          state: { waiting: { reason: PULL_BACK_OFF, message: `Back-off pulling image "${status.image}"` } },
        }
      : status,
  );
}

/** Runs that end: terminal under `Never` (or `OnFailure` after success), a crash loop otherwise. */
function afterEnd(pod: Pod, site: Site): Partial<PodStatus> {
  const codes = exitCodes(pod, site.rules);
  const policy = pod.spec?.restartPolicy ?? 'Always';
  const containers = (pod.status?.containerStatuses ?? []).map((status) => {
    const code = codes.get(status.name);
    if (code === undefined || !isRunning(status)) return status;
    const comesBack = policy === 'Always' || (policy === 'OnFailure' && code !== 0);
    return comesBack ? crashedContainer(pod, status, code, site.now) : endedContainer(status, code, site.now);
  });
  if (containers.every(({ state }) => state?.terminated !== undefined)) {
    const failed = containers.some(({ state }) => state?.terminated?.exitCode !== 0);
    return endedStatus(pod, failed ? 'Failed' : 'Succeeded', site, containers);
  }
  return runningStatus(pod, containers, site);
}

/** Keeps only the fields that differ from the pod's status. */
function difference(pod: Pod, wanted: Partial<PodStatus>): Partial<PodStatus> | undefined {
  const current = (pod.status ?? {}) as Record<string, unknown>;
  const patch: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(wanted)) {
    if (name === 'conditions') {
      if ((value as unknown[]).length > 0) patch[name] = value;
    } else if (!deepEqual(current[name], value)) {
      patch[name] = value;
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
