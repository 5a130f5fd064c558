/** Builders for the tests of this room: partial options in, whole objects out. */
import type { Node, Pod, PodSpec, Taint } from '../../api/generated/core-v1.ts';
import { Cluster } from './cluster/cluster.ts';
import { type PodFacts, podFacts } from './cluster/pod-facts.ts';

export interface NodeOptions {
  readonly cpu?: string | number;
  readonly memory?: string;
  readonly pods?: number;
  readonly labels?: Record<string, string>;
  readonly taints?: Taint[];
  readonly unschedulable?: boolean;
  readonly extended?: Record<string, string>;
}

export function node(name: string, options: NodeOptions = {}): Node {
  const { cpu = 4, extended, labels, memory = '16Gi', pods = 110, taints, unschedulable } = options;
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { ...(taints && { taints }), ...(unschedulable && { unschedulable }) },
    status: {
      allocatable: { cpu: String(cpu), memory, pods: String(pods), ...extended },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

export interface PodOptions extends Partial<PodSpec> {
  readonly cpu?: string | number;
  readonly requests?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly namespace?: string;
  readonly hostPort?: { port: number; ip?: string; protocol?: string };
  readonly owner?: string;
  readonly startTime?: string;
  readonly deleting?: boolean;
}

export function pod(name: string, options: PodOptions = {}): Pod {
  const { cpu, deleting, hostPort, labels, namespace = 'default', owner, requests, startTime, ...spec } = options;
  return {
    metadata: {
      name,
      namespace,
      uid: `${namespace}/${name}`,
      ...(labels && { labels }),
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ...(owner && {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }],
      }),
    },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'main',
          resources: { requests: { ...(cpu !== undefined && { cpu: String(cpu) }), ...requests } },
          ...(hostPort && {
            ports: [
              {
                containerPort: 80,
                hostPort: hostPort.port,
                ...(hostPort.ip && { hostIP: hostPort.ip }),
                ...(hostPort.protocol && { protocol: hostPort.protocol }),
              },
            ],
          }),
        },
      ],
      ...spec,
    },
    status: { ...(startTime && { startTime }) },
  };
}

/** A cluster of the given nodes, with pods already on them: `[pod, node, group?]`. */
export function cluster(nodes: readonly Node[], placed: readonly (readonly [Pod, string, string?])[] = []): Cluster {
  const made = new Cluster();
  for (const each of nodes) made.setNode(each);
  for (const [each, name, group] of placed) made.place(podFacts(each, made.resources, group), name);
  return made;
}

export function facts(made: Cluster, each: Pod, group?: string): PodFacts {
  return podFacts(each, made.resources, group);
}
