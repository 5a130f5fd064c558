/** Deployments and ReplicaSets for the tables of this room, described by the numbers that matter. */
import type { Deployment, DeploymentSpec, DeploymentStatus, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { DESIRED_REPLICAS, MAX_REPLICAS, REVISION } from './annotations.ts';

export const NOW = Date.parse('2026-06-01T12:00:00Z');

export function deployment(
  replicas: number,
  spec: Partial<DeploymentSpec> = {},
  status?: DeploymentStatus,
): Deployment {
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'd', generation: 1 },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'current' }] } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export const rolling = (maxSurge: number | string, maxUnavailable: number | string): Partial<DeploymentSpec> => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

export interface SetSketch {
  readonly name?: string;
  readonly size: number;
  readonly available?: number;
  /** Pods it reports; its size unless said otherwise. */
  readonly pods?: number;
  /** Larger is older. */
  readonly age?: number;
  readonly image?: string;
  readonly revision?: number;
  readonly desired?: number;
  readonly max?: number;
}

export function replicaSet(sketch: SetSketch): ReplicaSet {
  const { age = 1, available = sketch.size, desired, image = 'old', max, name = 'rs', revision, size } = sketch;
  const annotations: Record<string, string> = {};
  if (desired !== undefined) annotations[DESIRED_REPLICAS] = String(desired);
  if (max !== undefined) annotations[MAX_REPLICAS] = String(max);
  if (revision !== undefined) annotations[REVISION] = String(revision);
  return {
    metadata: {
      name,
      uid: name,
      generation: 1,
      annotations,
      creationTimestamp: new Date(NOW - age * 60_000).toISOString(),
    },
    spec: {
      replicas: size,
      template: {
        metadata: { labels: { app: 'web', 'pod-template-hash': name } },
        spec: { containers: [{ name: 'c', image }] },
      },
    },
    status: { replicas: sketch.pods ?? size, availableReplicas: available, observedGeneration: 1 },
  };
}
