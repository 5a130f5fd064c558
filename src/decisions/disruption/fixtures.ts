/** Small objects for the tests of this folder: each takes only what a case is about. */
import type { Pod } from '../../api/generated/core-v1.ts';
import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { type BudgetFacts, readBudget } from './budget-facts.ts';
import { type CountedPod, readPod } from './pod-facts.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');

export interface PodOptions {
  readonly ready?: boolean;
  readonly phase?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly owner?: string;
  readonly node?: string;
  readonly terminating?: boolean;
  readonly createdAt?: number;
  readonly spec?: NonNullable<Pod['spec']> | Record<string, unknown>;
}

export function podObject(name: string, options: PodOptions = {}): Pod {
  const { annotations, labels = { app: 'a' }, node = 'node-1', owner, phase = 'Running', ready = true } = options;
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      labels,
      annotations,
      ...(options.createdAt !== undefined && { creationTimestamp: formatTime(options.createdAt) }),
      ...(options.terminating && { deletionTimestamp: formatTime(NOW) }),
      ...(owner && {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }],
      }),
    },
    spec: { containers: [], nodeName: node, ...options.spec } as NonNullable<Pod['spec']>,
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: formatTime(NOW - 60_000) }],
    },
  };
}

export function pod(name: string, options: PodOptions = {}): CountedPod {
  return readPod(podObject(name, options));
}

/** A pod of a v1.35 group: `spec.workloadRef`. */
export function member(
  name: string,
  group: { workload?: string; podGroup?: string; key?: string },
  more: PodOptions = {},
) {
  const { workload = 'w', podGroup = 'g', key } = group;
  return pod(name, {
    ...more,
    spec: { workloadRef: { name: workload, podGroup, ...(key !== undefined && { podGroupReplicaKey: key }) } },
  });
}

export interface BudgetOptions {
  readonly name?: string;
  readonly generation?: number;
  readonly observed?: number;
  /** A, C, D, E. */
  readonly status?: readonly [number, number, number, number];
  readonly disrupted?: Record<string, number>;
  readonly conditions?: Partial<Condition>[];
  readonly annotations?: Record<string, string>;
  readonly spec?: NonNullable<PodDisruptionBudget['spec']>;
}

export function budgetObject(options: BudgetOptions = {}): PodDisruptionBudget {
  const { conditions = [], disrupted = {}, generation = 1, name = 'foo', observed = generation } = options;
  const [disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods] = options.status ?? [0, 0, 0, 0];
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, generation, annotations: options.annotations },
    spec: { selector: { matchLabels: { app: 'a' } }, ...options.spec },
    status: {
      observedGeneration: observed,
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods,
      disruptedPods: Object.fromEntries(Object.entries(disrupted).map(([pod, at]) => [pod, formatTime(at)])),
      conditions: conditions as Condition[],
    },
  };
}

export function budget(options: BudgetOptions = {}): BudgetFacts {
  return readBudget(budgetObject(options));
}

export const groupUnits: Partial<Condition> = {
  type: 'PodGroupBudget',
  status: 'True',
  reason: 'GroupUnits',
  message: '',
};
