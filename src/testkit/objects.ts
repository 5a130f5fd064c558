/** Objects as tests need them: complete enough to be valid, every part open to be said otherwise. */
import type { Deployment, ReplicaSet } from '../api/generated/apps-v1.ts';
import type { ConfigMap, Node, Pod, PodSpec } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../api/generated/policy-v1.ts';
import { container, metadata, type NamedOptions } from './parts.ts';

export type { NamedOptions };

export function pod(
  options: NamedOptions & { spec?: Partial<PodSpec>; status?: Pod['status']; image?: string } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadata(options, 'pod'),
    spec: { containers: [container(options.image)], ...options.spec },
    ...(options.status && { status: options.status }),
  };
}

export function node(
  options: Omit<NamedOptions, 'namespace'> & {
    ready?: boolean;
    unschedulable?: boolean;
    capacity?: Record<string, string>;
  } = {},
): Node {
  const { ready = true, unschedulable = false } = options;
  const { namespace: _namespace, ...meta } = metadata(options, 'node');
  const capacity = { cpu: '8', memory: '32Gi', pods: '110', ...options.capacity };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: meta,
    spec: unschedulable ? { unschedulable } : {},
    status: {
      capacity,
      allocatable: capacity,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

interface WorkloadOptions extends NamedOptions {
  readonly replicas?: number;
  /** Labels of the pods and of the selector. Default `app: <name>`. */
  readonly podLabels?: Record<string, string>;
  readonly podSpec?: Partial<PodSpec>;
}

function workloadSpec(options: WorkloadOptions, fallback: string) {
  const labels = options.podLabels ?? { app: options.name ?? fallback };
  return {
    replicas: options.replicas ?? 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container()], ...options.podSpec } },
  };
}

export function replicaSet(options: WorkloadOptions & { spec?: Partial<ReplicaSet['spec']> } = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: metadata(options, 'replica-set'),
    spec: { ...workloadSpec(options, 'replica-set'), ...options.spec },
  } as ReplicaSet;
}

export function deployment(options: WorkloadOptions & { spec?: Partial<Deployment['spec']> } = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(options, 'deployment'),
    spec: { ...workloadSpec(options, 'deployment'), ...options.spec },
  } as Deployment;
}

export function podDisruptionBudget(
  options: NamedOptions & { spec?: PodDisruptionBudgetSpec } = {},
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadata(options, 'budget'),
    spec: options.spec ?? {},
  };
}

export function configMap(options: NamedOptions & { data?: Record<string, string> } = {}): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata(options, 'config-map'),
    data: options.data ?? {},
  };
}
