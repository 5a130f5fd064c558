/** What `kubectl get pods` shows. */
import type { ContainerStatus, Pod } from '../../../api/generated/core-v1.ts';
import { formatAge, parseTime } from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, orNone, table, text, wide } from '../../registry/columns.ts';
import type { TableLayout } from '../../registry/strategy.ts';

interface Reading {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  lastRestart: number;
}

const columns = table<Pod & { readonly reading: Reading }>([
  nameColumn,
  text('Ready', 'Containers that are ready, of all', ({ reading: { ready, total } }) => `${ready}/${total}`),
  text('Status', 'What the pod is doing', ({ reading }) => reading.reason),
  text(
    'Restarts',
    'How often containers were restarted, and when last',
    ({ reading: { lastRestart, restarts } }, { now }) =>
      restarts > 0 && lastRestart > 0 ? `${restarts} (${formatAge(now - lastRestart)} ago)` : String(restarts),
  ),
  ageColumn,
  wide(text('IP', 'Address of the pod', ({ status }) => orNone(status?.podIPs?.[0]?.ip))),
  wide(text('Node', 'Node the pod is assigned to', ({ spec }) => orNone(spec?.nodeName))),
  wide(
    text('Nominated Node', 'Node where room is being made for the pod', ({ status }) =>
      orNone(status?.nominatedNodeName),
    ),
  ),
  wide(text('Readiness Gates', 'Gates that are open, of all', gates)),
]);

export const podTable: TableLayout<Pod> = {
  columns: columns.columns,
  cells: (pod, now, find) => columns.cells({ ...pod, reading: read(pod) }, now, find),
  conditions({ status }) {
    switch (status?.phase) {
      case 'Succeeded':
        return [
          { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
        ];
      case 'Failed':
        return [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }];
      default:
        return undefined;
    }
  },
};

function read(pod: Pod): Reading {
  const { spec, status } = pod;
  const reading: Reading = {
    ready: 0,
    total: spec?.containers?.length ?? 0,
    reason: status?.reason || status?.phase || '',
    restarts: 0,
    lastRestart: 0,
  };
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.reason === 'SchedulingGated') reading.reason = 'SchedulingGated';
  const initializing = readInit(pod, reading);
  const initialized = status?.conditions?.some(({ type, status: value }) => type === 'Initialized' && value === 'True');
  if (!initializing || initialized) readContainers(pod, reading);
  if (pod.metadata?.deletionTimestamp) {
    const terminal = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    if (status?.reason === 'NodeLost') reading.reason = 'Unknown';
    else if (!terminal) reading.reason = 'Terminating';
  }
  return reading;
}

/** Init containers decide the status until they are through; returns whether they are not. */
function readInit({ spec, status }: Pod, reading: Reading): boolean {
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map(({ name }) => name),
  );
  reading.total += sidecars.size;
  let sidecarRestarts = 0;
  let sidecarLast = 0;
  let initializing = false;
  for (const [index, container] of (status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name);
    countRestarts(container, reading);
    if (isSidecar) {
      sidecarRestarts += container.restartCount ?? 0;
      sidecarLast = Math.max(sidecarLast, finishedAt(container));
    }
    const { terminated, waiting } = container.state ?? {};
    if (terminated && (terminated.exitCode ?? 0) === 0) continue;
    if (isSidecar && container.started) {
      if (container.ready) reading.ready += 1;
      continue;
    }
    initializing = true;
    if (terminated) reading.reason = `Init:${terminatedReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') reading.reason = `Init:${waiting.reason}`;
    else reading.reason = `Init:${index}/${spec?.initContainers?.length ?? 0}`;
    break;
  }
  if (!initializing) {
    reading.restarts = sidecarRestarts;
    reading.lastRestart = sidecarLast;
  }
  return initializing;
}

function readContainers({ status }: Pod, reading: Reading): void {
  let running = false;
  let failed = '';
  for (const container of [...(status?.containerStatuses ?? [])].reverse()) {
    countRestarts(container, reading);
    const { waiting, terminated, running: isRunning } = container.state ?? {};
    if (waiting?.reason) reading.reason = waiting.reason;
    else if (terminated) {
      reading.reason = terminatedReason(terminated);
      if ((terminated.exitCode ?? 0) !== 0) failed = reading.reason;
    } else if (container.ready && isRunning) {
      running = true;
      reading.ready += 1;
    }
  }
  if (reading.reason !== 'Completed') return;
  const ready = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  if (running && ready) reading.reason = 'Running';
  else if (failed !== '') reading.reason = failed;
  else if (running) reading.reason = 'NotReady';
}

function countRestarts(container: ContainerStatus, reading: Reading): void {
  reading.restarts += container.restartCount ?? 0;
  reading.lastRestart = Math.max(reading.lastRestart, finishedAt(container));
}

const finishedAt = (container: ContainerStatus): number =>
  parseTime(container.lastState?.terminated?.finishedAt as string | undefined) ?? 0;

function terminatedReason(state: {
  reason?: string | undefined;
  signal?: number | undefined;
  exitCode?: number;
}): string {
  return state.reason || (state.signal ? `Signal:${state.signal}` : `ExitCode:${state.exitCode ?? 0}`);
}

function gates({ spec, status }: Pod): string {
  const all = spec?.readinessGates ?? [];
  if (all.length === 0) return '<none>';
  const open = all.filter(({ conditionType }) =>
    status?.conditions?.some(({ type, status: value }) => type === conditionType && value === 'True'),
  );
  return `${open.length}/${all.length}`;
}
