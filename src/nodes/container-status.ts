import { hash } from 'node:crypto';
import type { Container, ContainerStatus, Pod } from '../api/generated/core-v1.ts';
import { formatTime, parseTime } from '../machinery/values/index.ts';
import { annotatedMs, NOT_READY_ANNOTATION, READY_DELAY } from './annotations.ts';
import { isImageMissing, type Rules } from './rules.ts';

/** Where and when a pod is looked at. */
export interface Site {
  readonly now: number;
  readonly rules: Rules;
  readonly hostIP: string;
  readonly podIP: string;
}

export const CRASH_LOOP = 'CrashLoopBackOff';
const PULL_FAILED = 'ErrImagePull';
export const PULL_BACK_OFF = 'ImagePullBackOff';

const sha256 = (text: string): string => hash('sha256', text);

const imageIDOf = (image: string): string => `${image}@sha256:${sha256(image)}`;

const containerID = (pod: Pod, name: string, restarts: number): string =>
  `quorate://${sha256(`${pod.metadata.uid ?? ''}/${name}/${restarts}`)}`;

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

export function isRunning(status: ContainerStatus | undefined): boolean {
  return status?.state?.running !== undefined;
}

export function startedAtOf(status: ContainerStatus | undefined): number {
  return parseTime(status?.state?.running?.startedAt) ?? 0;
}

/** What readiness is counted from. A start that lies ahead is of a clock that was set back since: it was long ago. */
export function warmsUpFrom(status: ContainerStatus | undefined, now: number): number {
  const startedAt = startedAtOf(status);
  return startedAt > now ? 0 : startedAt;
}

/** How long after its start a container is seen ready, as far as that follows from its spec. */
export function warmUpMs(pod: Pod, { readinessProbe, startupProbe }: Container, rules: Rules): number {
  const probed = Math.max(readinessProbe?.initialDelaySeconds ?? 0, startupProbe?.initialDelaySeconds ?? 0) * 1000;
  return Math.max(rules.probe ? probed : 0, annotatedMs(pod, READY_DELAY));
}

const bySpec = (statuses: readonly ContainerStatus[] | undefined, name: string): ContainerStatus | undefined =>
  statuses?.find((status) => status.name === name);

/** The containers of a pod that runs: kept as they are where nothing changed, started anew where the image did. */
export function runningContainers(pod: Pod, site: Site): ContainerStatus[] {
  return (pod.spec?.containers ?? []).map((container) =>
    runContainer(pod, container, bySpec(pod.status?.containerStatuses, container.name), site),
  );
}

export function runningInitContainers(pod: Pod, site: Site): ContainerStatus[] | undefined {
  return pod.spec?.initContainers?.map((container) => {
    const previous = bySpec(pod.status?.initContainerStatuses, container.name);
    return isSidecar(container)
      ? runContainer(pod, container, previous, site)
      : completedContainer(pod, container, previous, site);
  });
}

export function runningEphemeralContainers(pod: Pod, site: Site): ContainerStatus[] | undefined {
  return pod.spec?.ephemeralContainers?.map((container) =>
    runContainer(pod, container as Container, bySpec(pod.status?.ephemeralContainerStatuses, container.name), site),
  );
}

function runContainer(
  pod: Pod,
  container: Container,
  previous: ContainerStatus | undefined,
  site: Site,
): ContainerStatus {
  const image = container.image ?? '';
  if (isImageMissing(site.rules, image)) return unpulledContainer(container, previous);
  const resources =
    container.resources === undefined || Object.keys(container.resources).length === 0
      ? {}
      : {
          resources: container.resources,
          ...(container.resources.requests && { allocatedResources: container.resources.requests }),
        };
  const ended = previous?.state?.terminated !== undefined || previous?.state?.waiting?.reason === CRASH_LOOP;
  if (previous !== undefined && ended && previous.image === image) return previous;
  if (previous !== undefined && isRunning(previous) && previous.image === image) {
    return { ...previous, ...resources, ...readiness(pod, container, warmsUpFrom(previous, site.now), site) };
  }
  const restarts = previous?.containerID === undefined ? 0 : previous.restartCount + 1;
  const startedAt = formatTime(site.now);
  return {
    name: container.name,
    state: { running: { startedAt } },
    lastState: previous !== undefined && isRunning(previous) ? { terminated: ended143(previous, site.now) } : {},
    restartCount: restarts,
    image,
    imageID: imageIDOf(image),
    containerID: containerID(pod, container.name, restarts),
    ...resources,
    ...readiness(pod, container, parseTime(startedAt) ?? site.now, site),
  };
}

function readiness(pod: Pod, container: Container, startedAt: number, { now, rules }: Site) {
  const startup = rules.probe ? (container.startupProbe?.initialDelaySeconds ?? 0) * 1000 : 0;
  const broken = pod.metadata.annotations?.[NOT_READY_ANNOTATION] === 'true';
  return {
    ready: !broken && now >= startedAt + warmUpMs(pod, container, rules),
    started: now >= startedAt + startup,
  };
}

function unpulledContainer(container: Container, previous: ContainerStatus | undefined): ContainerStatus {
  const image = container.image ?? '';
  const reason =
    previous?.image === image && previous.state?.waiting?.reason === PULL_BACK_OFF ? PULL_BACK_OFF : PULL_FAILED;
  const message =
    reason === PULL_BACK_OFF
      ? `Back-off pulling image "${image}"`
      : `failed to pull and unpack image "${image}": not found`;
  return {
    name: container.name,
    state: { waiting: { reason, message } },
    lastState: previous?.lastState ?? {},
    ready: false,
    restartCount: previous?.restartCount ?? 0,
    image,
    imageID: '',
    started: false,
  };
}

function completedContainer(
  pod: Pod,
  { name, image = '' }: Container,
  previous: ContainerStatus | undefined,
  { now }: Site,
): ContainerStatus {
  if (previous?.state?.terminated !== undefined) return previous;
  const at = formatTime(now);
  const id = containerID(pod, name, 0);
  return {
    name,
    state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at, containerID: id } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image,
    imageID: imageIDOf(image),
    containerID: id,
    started: false,
  };
}

const ended143 = (status: ContainerStatus, now: number) => terminatedState(status, 143, now);

function terminatedState(status: ContainerStatus, exitCode: number, now: number) {
  return {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: status.state?.running?.startedAt ?? formatTime(now),
    finishedAt: formatTime(now),
    ...(status.containerID !== undefined && { containerID: status.containerID }),
  };
}

/** The container after its run ended for good. One that already ended stays as it is. */
export function endedContainer(status: ContainerStatus, exitCode: number, now: number): ContainerStatus {
  if (status.state?.terminated !== undefined) return status;
  return {
    ...status,
    state: { terminated: terminatedState(status, exitCode, now) },
    ready: false,
    started: false,
  };
}

/** The container after its run ended, waiting to be started again. */
export function crashedContainer(pod: Pod, status: ContainerStatus, exitCode: number, now: number): ContainerStatus {
  const seconds = backOffMs(status.restartCount) / 1000;
  return {
    ...status,
    state: {
      waiting: {
        reason: CRASH_LOOP,
        message: `back-off ${seconds}s restarting failed container=${status.name} pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`,
      },
    },
    lastState: { terminated: terminatedState(status, exitCode, now) },
    ready: false,
    started: false,
  };
}

/** Back-off before the next start of a container that was restarted this often: 1 s, then 10 s doubling to 5 min. */
export function backOffMs(restarts: number): number {
  return restarts === 0 ? 1000 : Math.min(10_000 * 2 ** Math.min(restarts - 1, 10), 300_000);
}

export function restartAtOf(status: ContainerStatus): number {
  return (parseTime(status.lastState?.terminated?.finishedAt) ?? 0) + backOffMs(status.restartCount);
}

/** A crashed container whose back-off is over, running again. */
export function restartedContainer(pod: Pod, status: ContainerStatus, site: Site): ContainerStatus {
  if (status.state?.waiting?.reason !== CRASH_LOOP || restartAtOf(status) > site.now) return status;
  const container = pod.spec?.containers.find(({ name }) => name === status.name);
  const restarts = status.restartCount + 1;
  const startedAt = formatTime(site.now);
  return {
    ...status,
    state: { running: { startedAt } },
    restartCount: restarts,
    containerID: containerID(pod, status.name, restarts),
    ...(container === undefined ? {} : readiness(pod, container, parseTime(startedAt) ?? site.now, site)),
  };
}
