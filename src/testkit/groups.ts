/** Groups of pods as tests need them, in each of the ways a group can be declared. */
import type { Pod, PodSpec } from '../api/generated/core-v1.ts';
import type { PodGroup, PodGroupSpec, Workload, WorkloadSpec } from '../api/generated/scheduling-v1beta1.ts';
import type { PodUnavailableBudget, PodUnavailableBudgetSpec } from '../api/kruise/types.ts';
import type { LeaderWorkerSet, LeaderWorkerSetSpec } from '../api/lws/types.ts';
import { pod } from './objects.ts';
import { container, metadata, type NamedOptions } from './parts.ts';

const SCHEDULING = 'scheduling.k8s.io/v1beta1';

/** Without `minCount` its pods need not start together. */
export function podGroup(
  options: NamedOptions & { readonly minCount?: number; readonly spec?: Partial<PodGroupSpec> } = {},
): PodGroup {
  const schedulingPolicy = options.minCount === undefined ? { basic: {} } : { gang: { minCount: options.minCount } };
  return {
    apiVersion: SCHEDULING,
    kind: 'PodGroup',
    metadata: metadata(options, 'group'),
    spec: { schedulingPolicy, ...options.spec },
  };
}

export function workload(options: NamedOptions & { readonly spec?: WorkloadSpec } = {}): Workload {
  return {
    apiVersion: SCHEDULING,
    kind: 'Workload',
    metadata: metadata(options, 'workload'),
    spec: { podGroupTemplates: [{ name: 'gang', schedulingPolicy: { gang: { minCount: 1 } } }], ...options.spec },
  };
}

export interface GangOptions extends NamedOptions {
  readonly size: number;
  /** Members without which it does not run. Default: all of them. */
  readonly minCount?: number;
  readonly podSpec?: Partial<PodSpec>;
}

/** A PodGroup and its members `NAME-0`, `NAME-1` and on, which carry the labels given here; default `app: <name>`. */
export function gang(options: GangOptions): [PodGroup, ...Pod[]] {
  const { name = 'gang', size, minCount = size, podSpec, labels = { app: name }, ...rest } = options;
  const members = Array.from({ length: size }, (_, index) =>
    pod({ ...rest, name: `${name}-${index}`, labels, spec: { schedulingGroup: { podGroupName: name }, ...podSpec } }),
  );
  return [podGroup({ ...rest, name, labels, minCount }), ...members];
}

/** Groups of a leader and its workers. The pods carry `app: <name>`. */
export function leaderWorkerSet(
  options: NamedOptions & {
    /** Groups. Default 1. */
    readonly replicas?: number;
    /** Pods of a group, the leader among them. Default 2. */
    readonly size?: number;
    readonly podSpec?: Partial<PodSpec>;
    readonly spec?: Partial<LeaderWorkerSetSpec>;
  } = {},
): LeaderWorkerSet {
  const { name = 'set', podSpec, replicas = 1, size = 2, spec } = options;
  const workerTemplate = { metadata: { labels: { app: name } }, spec: { containers: [container()], ...podSpec } };
  return {
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    metadata: metadata(options, 'set'),
    spec: { replicas, leaderWorkerTemplate: { size, workerTemplate }, ...spec },
  };
}

export function podUnavailableBudget(
  options: NamedOptions & { readonly spec?: PodUnavailableBudgetSpec } = {},
): PodUnavailableBudget {
  return {
    apiVersion: 'policy.kruise.io/v1beta1',
    kind: 'PodUnavailableBudget',
    metadata: metadata(options, 'budget'),
    spec: options.spec ?? {},
  };
}
