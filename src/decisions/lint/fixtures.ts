/** Small manifests for the tests of this folder: each takes only what a case is about. */
import type { KubeObject } from '../../api/resource.ts';

type Spec = Record<string, unknown>;

export function object(apiVersion: string, kind: string, name: string, rest: Record<string, unknown> = {}): KubeObject {
  const { annotations, labels, ...fields } = rest;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: 'default', uid: `uid-${kind}-${name}`, annotations, labels },
    ...fields,
  } as KubeObject;
}

const template = (labels: Record<string, string>, spec: Spec = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

export interface Shape {
  readonly labels?: Record<string, string>;
  readonly pod?: Spec;
  readonly annotations?: Record<string, string>;
}

export function deployment(name: string, replicas: number, { labels = { app: name }, pod }: Shape = {}): KubeObject {
  return object('apps/v1', 'Deployment', name, { spec: { replicas, template: template(labels, pod) } });
}

export function job(name: string, parallelism: number, { labels = { app: name }, pod }: Shape = {}): KubeObject {
  return object('batch/v1', 'Job', name, {
    spec: { parallelism, completions: parallelism, template: template(labels, pod) },
  });
}

export function leaderWorkerSet(name: string, replicas: number, size: number): KubeObject {
  return object('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', name, {
    spec: { replicas, leaderWorkerTemplate: { size, workerTemplate: template({ app: name }) } },
  });
}

export function pdb(name: string, spec: Spec, { annotations }: Shape = {}): KubeObject {
  const selector = { matchLabels: { app: name } };
  return object('policy/v1', 'PodDisruptionBudget', name, { annotations, spec: { selector, ...spec } });
}

export function pub(name: string, spec: Spec, { annotations }: Shape = {}): KubeObject {
  const selector = spec['targetRef'] === undefined ? { matchLabels: { app: name } } : undefined;
  return object('policy.kruise.io/v1beta1', 'PodUnavailableBudget', name, {
    annotations,
    spec: { ...(selector && { selector }), ...spec },
  });
}

export function pod(name: string, { annotations, labels = { app: 'web' }, pod: spec = {} }: Shape = {}): KubeObject {
  return object('v1', 'Pod', name, { labels, annotations, spec: { containers: [], ...spec } });
}

export function podGroup(name: string, minCount: number, spec: Spec = {}): KubeObject {
  return object('scheduling.k8s.io/v1beta1', 'PodGroup', name, {
    spec: { schedulingPolicy: { gang: { minCount } }, ...spec },
  });
}

/** Pods of a group, each by itself. */
export function members(group: string, count: number, labels: Record<string, string> = { app: 'web' }): KubeObject[] {
  return Array.from({ length: count }, (_, at) =>
    pod(`${group}-${at}`, { labels, pod: { schedulingGroup: { podGroupName: group } } }),
  );
}
