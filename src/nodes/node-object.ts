import { createHash } from 'node:crypto';
import type { Node, NodeCondition, NodeStatus, Taint } from '../api/generated/core-v1.ts';
import { formatTime } from '../machinery/values/index.ts';
import { SIMULATED } from './annotations.ts';

/** What the simulated machines look like. */
export interface NodeShape {
  /** Quantities by resource name, on top of the defaults (16 CPUs, 64Gi, 110 pods, 200Gi of disk). */
  readonly capacity?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly Taint[] | undefined;
  readonly architecture?: string | undefined;
}

export const KUBELET_VERSION = 'v1.36.4';

const DEFAULT_CAPACITY = { cpu: '16', memory: '64Gi', 'ephemeral-storage': '200Gi', pods: '110' };

export function simulatedNode(name: string, { architecture = 'amd64', labels, taints }: NodeShape = {}): Node {
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': architecture,
        ...labels,
      },
      annotations: { [SIMULATED]: 'true' },
    },
    spec: { ...(taints !== undefined && { taints: [...taints] }) },
  };
}

/** The whole status a kubelet reports when it registers. */
export function registeredStatus(
  node: Node,
  { shape = {}, ip, now }: { shape?: NodeShape; ip: string; now: number },
): NodeStatus {
  const name = node.metadata.name ?? '';
  const capacity = { ...DEFAULT_CAPACITY, ...shape.capacity, ...node.status?.capacity };
  const id = (purpose: string): string => createHash('sha256').update(`${purpose}/${name}`).digest('hex');
  const uuid = (purpose: string): string =>
    id(purpose)
      .slice(0, 32)
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return {
    capacity,
    allocatable: { ...capacity, ...node.status?.allocatable },
    conditions: healthyConditions(node, now, { force: true }),
    addresses: [
      { type: 'InternalIP', address: ip },
      { type: 'Hostname', address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: id('machine').slice(0, 32),
      systemUUID: uuid('system'),
      bootID: uuid('boot'),
      kernelVersion: '6.12.0-simulated',
      osImage: 'Quorate simulated node',
      containerRuntimeVersion: 'quorate://0.1.0',
      kubeletVersion: KUBELET_VERSION,
      kubeProxyVersion: KUBELET_VERSION,
      operatingSystem: 'linux',
      architecture: node.metadata.labels?.['kubernetes.io/arch'] ?? shape.architecture ?? 'amd64',
    },
  };
}

const HEALTHY = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** The kubelet's own conditions; without `force` only those that another party overwrote. */
export function healthyConditions(node: Node, now: number, { force = false } = {}): NodeCondition[] {
  const at = formatTime(now);
  return HEALTHY.flatMap(([type, status, reason, message]) => {
    const current = node.status?.conditions?.find((condition) => condition.type === type);
    if (!force && current?.status === status) return [];
    const lastTransitionTime = current?.status === status ? (current.lastTransitionTime ?? at) : at;
    return [{ type, status, reason, message, lastHeartbeatTime: at, lastTransitionTime }];
  });
}

/** Extended resources follow capacity into allocatable, and leave with it; undefined when they agree. */
export function extendedResourcesPatch({ status }: Node): Record<string, string | null> | undefined {
  const capacity = status?.capacity ?? {};
  const allocatable = status?.allocatable ?? {};
  const patch: Record<string, string | null> = {};
  for (const [name, amount] of Object.entries(capacity)) {
    if (allocatable[name] === undefined || (name.includes('/') && allocatable[name] !== amount)) patch[name] = amount;
  }
  for (const name of Object.keys(allocatable)) {
    if (name.includes('/') && capacity[name] === undefined) patch[name] = null;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
