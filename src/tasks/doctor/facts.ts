import type { ValidatingWebhookConfiguration } from '../../api/generated/admissionregistration-v1.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Lease } from '../../api/generated/coordination-v1.ts';
import type { Secret } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { DisruptionLedger } from '../../api/quorate/types.ts';
import type { OperatorMode } from '../../webhook/index.ts';

/** Something looked up: there, absent, or `hidden` from us and why. */
export interface Looked<T> {
  readonly value?: T | undefined;
  readonly hidden?: string | undefined;
}

/** What the API server answered when it was asked to create, as a trial, a budget that our webhook must refuse. */
export type WebhookTrial =
  /** Our rules refused it: the way from the API server to a replica is open. */
  | { readonly outcome: 'Refused' }
  /** It passed: nobody was asked, or nobody answered and requests pass then. */
  | { readonly outcome: 'Passed' }
  | { readonly outcome: 'Unreachable'; readonly message: string }
  | { readonly outcome: 'Unknown'; readonly message: string };

/** A certificate presented by a webhook that is reached by a URL. */
export interface Presented {
  readonly url: string;
  readonly certificate?: string;
  readonly problem?: string;
}

/** Everything the checks look at, gathered once. */
export interface ClusterFacts {
  readonly nowMs: number;
  readonly namespace: string;
  readonly version: string;
  /** The API server is Quorate's own. */
  readonly embedded: boolean;
  /** The API server's clock, to the second, and how long its answer took. */
  readonly serverTime?: { readonly atMs: number; readonly localMs: number; readonly tookMs: number };
  readonly gates: Looked<ReadonlyMap<string, boolean>>;
  /** Versions that serve each kind of scheduling.k8s.io. */
  readonly schedulingKinds: ReadonlyMap<string, readonly string[]>;
  readonly definitions: Looked<readonly CustomResourceDefinition[]>;
  /** Of both kinds, which differ in nothing that is looked at. */
  readonly webhooks: Looked<readonly ValidatingWebhookConfiguration[]>;
  readonly trial: WebhookTrial;
  readonly presented: readonly Presented[];
  readonly secret: Looked<Secret>;
  readonly lease: Looked<Lease>;
  /** Leases held by operators in other namespaces. */
  readonly otherLeases: readonly Lease[];
  readonly deployment: Looked<Deployment>;
  /** The mode the leader says it runs in, or else the Deployment. */
  readonly mode?: OperatorMode | undefined;
  /** The mode that the Deployment is installed in. */
  readonly installedMode?: OperatorMode | undefined;
  readonly budgets: Looked<readonly PodDisruptionBudget[]>;
  readonly ledgers: Looked<readonly DisruptionLedger[]>;
  /** Namespaces that are labelled to be left alone. */
  readonly ignored: Looked<readonly string[]>;
  /** Grouped pods that several budgets select. */
  readonly shared: Looked<readonly string[]>;
  /** How many Workloads and PodGroups are stored in versions that 1.37 does not know. */
  readonly oldGroups: Looked<number>;
  /** Why nobody answers behind the Service of our webhooks; absent where somebody does. */
  readonly endpoint: Looked<string | undefined>;
  /** Permissions the service account lacks; absent where there is no service account to ask about. */
  readonly lacking: Looked<readonly string[]>;
}
