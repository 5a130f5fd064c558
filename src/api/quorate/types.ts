import type { PodDisruptionBudgetStatus } from '../generated/policy-v1.ts';
import type { ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';

export const QUORATE_GROUP = 'policy.quorate.dev';

/**
 * What Quorate has granted under one PodDisruptionBudget on a cluster, and what it counts there. Every webhook replica
 * writes it by compare-and-swap before it answers, so they agree. It has the name of its budget and goes with it.
 */
export interface DisruptionLedger {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  status?: DisruptionLedgerStatus | undefined;
}

/** The numbers of a budget's status, in groups where groups count. */
export interface DisruptionLedgerStatus extends PodDisruptionBudgetStatus {
  /** What the numbers count: `PodGroup` or `Pod`. */
  unit?: string | undefined;
  /** A reader whose pods are older than this has not seen what the numbers were computed from. */
  podsResourceVersion?: string | undefined;
}

export const disruptionLedgerType: ResourceType<DisruptionLedger> = {
  group: QUORATE_GROUP,
  version: 'v1alpha1',
  kind: 'DisruptionLedger',
  plural: 'disruptionledgers',
  namespaced: true,
};
