/** Objects as tests need them: complete enough to be valid, every part open to be said otherwise. */
import type { Deployment, ReplicaSet } from '../api/generated/apps-v1.ts';
import type { ConfigMap, Node, Pod, PodSpec } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../api/generated/policy-v1.ts';

export interface NamedOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

function metadata({ name, namespace, labels, annotations }: NamedOptions, fallback: string) {
  return {
    name: name ?? fallback,
    namespace: namespace ?? 'default',
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
}

const container = (image = 'registry.k8s.io/pause:3.10') => ({ name: 'main', image });

export function pod(
  options: NamedOptions & { spec?: Partial<PodSpec>; status?: Pod['status']; image?: string } = {},
): Pod {
  return {
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
    metadata: metadata(options, 'replica-set'),
    spec: { ...workloadSpec(options, 'replica-set'), ...options.spec },
  } as ReplicaSet;
}

export function deployment(options: WorkloadOptions & { spec?: Partial<Deployment['spec']> } = {}): Deployment {
  return {
    metadata: metadata(options, 'deployment'),
    spec: { ...workloadSpec(options, 'deployment'), ...options.spec },
  } as Deployment;
}

export function podDisruptionBudget(
  options: NamedOptions & { spec?: PodDisruptionBudgetSpec } = {},
): PodDisruptionBudget {
  return { metadata: metadata(options, 'budget'), spec: options.spec ?? {} };
}

export function configMap(options: NamedOptions & { data?: Record<string, string> } = {}): ConfigMap {
  return { metadata: metadata(options, 'config-map'), data: options.data ?? {} };
}
