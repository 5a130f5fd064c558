import type { Pod } from '../api/generated/core-v1.ts';
import { hostPortsOf } from '../decisions/placement/index.ts';
import { parseTime } from '../machinery/values/index.ts';
import { annotatedMs, NOT_READY_ANNOTATION, START_DELAY, STOP_DELAY } from './annotations.ts';
import {
  CRASH_LOOP,
  isRunning,
  restartAtOf,
  type Site,
  startedAtOf,
  warmsUpFrom,
  warmUpMs,
} from './container-status.ts';
import { statusPatch } from './pod-effects.ts';
import { exitCodes, runLengthMs } from './pod-end.ts';
import type { PodStageFacts, PodMoments } from './stage.ts';

/** A site that also knows the node's other pods. */
export interface PodSite extends Site {
  /** Whether another started pod of the node holds one of this pod's host ports. */
  readonly portsTaken: (pod: Pod) => boolean;
}

export interface Observation {
  readonly facts: PodStageFacts;
  readonly moments: PodMoments;
}

/** Everything the stages may ask about a pod at one moment. */
export function observe(pod: Pod, site: PodSite): Observation {
  const { rules } = site;
  const statuses = pod.status?.containerStatuses ?? [];
  const deleting = pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionTimestamp !== null;
  const terminal = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
  const started = statuses.length > 0 && pod.status?.startTime !== undefined;
  const live = started && !terminal && !deleting;
  const deadline = pod.spec?.activeDeadlineSeconds;
  const startTime = parseTime(pod.status?.startTime);

  let readyAt = Number.POSITIVE_INFINITY;
  let endsAt = Number.POSITIVE_INFINITY;
  let restartAt = Number.POSITIVE_INFINITY;
  if (live) {
    const codes = exitCodes(pod, rules);
    const broken = pod.metadata.annotations?.[NOT_READY_ANNOTATION] === 'true';
    for (const status of statuses) {
      if (status.state?.waiting?.reason === CRASH_LOOP) restartAt = Math.min(restartAt, restartAtOf(status));
      if (!isRunning(status)) continue;
      const startedAt = startedAtOf(status);
      if (codes.has(status.name)) endsAt = Math.min(endsAt, startedAt + runLengthMs(pod));
      if (status.ready || broken) continue;
      const container = pod.spec?.containers.find(({ name }) => name === status.name);
      if (container !== undefined)
        readyAt = Math.min(readyAt, warmsUpFrom(status, site.now) + warmUpMs(pod, container, rules));
    }
  }
  const hasDeadline = rules.deadline && deadline !== undefined && startTime !== undefined;
  return {
    facts: {
      deleting,
      terminal,
      started,
      portsTaken: rules.hostport && !started && hostPortsOf(pod).length > 0 && site.portsTaken(pod),
      pullFailing: live && statuses.some(({ state }) => state?.waiting?.reason === 'ErrImagePull'),
      hasDeadline,
      ends: endsAt < Number.POSITIVE_INFINITY,
      crashed: restartAt < Number.POSITIVE_INFINITY,
      warmingUp: readyAt < Number.POSITIVE_INFINITY,
      stale: live && statusPatch('sync', pod, site) !== undefined,
    },
    moments: {
      startDelay: annotatedMs(pod, START_DELAY),
      stopDelay: stopDelayMs(pod),
      grace: (pod.metadata.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000,
      readyAt,
      deadlineAt: hasDeadline ? startTime + deadline * 1000 : Number.POSITIVE_INFINITY,
      endsAt,
      restartAt,
    },
  };
}

/** A preStop sleep, or what an annotation asks for. */
function stopDelayMs(pod: Pod): number {
  const sleeps = (pod.spec?.containers ?? []).map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0);
  return Math.max(annotatedMs(pod, STOP_DELAY), ...sleeps.map((seconds) => seconds * 1000));
}
