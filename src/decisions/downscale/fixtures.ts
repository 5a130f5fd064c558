/** Pods for the tables of this room: assigned, Running, Ready since an hour ago, on one node, unless said otherwise. */
import type { Pod } from '../../api/generated/core-v1.ts';
import { DELETION_COST_ANNOTATION } from './deletion-cost.ts';

export const NOW = Date.parse('2026-06-01T12:00:00Z');
export const SECOND = 1000;
export const HOUR = 3_600_000;
export const MONTH = 30 * 24 * HOUR;

export interface PodSketch {
  readonly name?: string;
  readonly uid?: string;
  /** '' leaves the pod unassigned. */
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  /** Milliseconds ago; null is the zero time. */
  readonly readyAgo?: number | null;
  readonly createdAgo?: number;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  readonly cost?: string;
  readonly terminating?: boolean;
}

const iso = (ago: number): string => new Date(NOW - ago).toISOString();

export function pod(sketch: PodSketch = {}): Pod {
  const { cost, createdAgo = HOUR, name = 'pod', node = 'n1', phase = 'Running', ready = true } = sketch;
  const { readyAgo = HOUR, restarts = 0, sidecarRestarts, terminating = false, uid = `uid-${name}` } = sketch;
  const sidecar = sidecarRestarts === undefined ? {} : { initContainers: [{ name: 's', restartPolicy: 'Always' }] };
  return {
    metadata: {
      name,
      uid,
      namespace: 'default',
      creationTimestamp: iso(createdAgo),
      ...(cost === undefined ? {} : { annotations: { [DELETION_COST_ANNOTATION]: cost } }),
      ...(terminating ? { deletionTimestamp: iso(0) } : {}),
    },
    spec: { containers: [{ name: 'c' }], ...(node === '' ? {} : { nodeName: node }), ...sidecar },
    status: {
      phase,
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          ...(readyAgo === null ? {} : { lastTransitionTime: iso(readyAgo) }),
        },
      ],
      containerStatuses: [{ name: 'c', ready, restartCount: restarts, image: 'i', imageID: 'i' }],
      ...(sidecarRestarts === undefined
        ? {}
        : {
            initContainerStatuses: [
              { name: 's', ready, restartCount: sidecarRestarts, image: 'i', imageID: 'i' },
              { name: 'plain', ready, restartCount: 70_000, image: 'i', imageID: 'i' },
            ],
          }),
    },
  };
}
