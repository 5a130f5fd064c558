import type { CustomResourceDefinition } from '../generated/apiextensions-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../kruise/types.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../lws/types.ts';
import { disruptionHistoryType } from '../quorate/disruption-history.ts';
import { disruptionPolicyType } from '../quorate/disruption-policy.ts';
import { downscalePodPickerType } from '../quorate/downscale-pod-picker.ts';
import { groupEvictionType } from '../quorate/group-eviction.ts';
import { maintenanceType } from '../quorate/maintenance.ts';
import { disruptionLedgerType } from '../quorate/types.ts';
import { READ } from '../policy-rule.ts';
import type { ResourceType } from '../resource.ts';
import { disruptionHistoryDefinition } from './disruption-history.ts';
import { disruptionLedgerDefinition } from './disruption-ledger.ts';
import { disruptionPolicyDefinition } from './disruption-policy.ts';
import { downscalePodPickerDefinition } from './downscale-pod-picker.ts';
import type { OptionalFeature } from './features.ts';
import { groupEvictionDefinition } from './group-eviction.ts';
import { maintenanceDefinition } from './maintenance.ts';
import { kruiseLeaderWorkerSetDefinition, leaderWorkerSetDefinition } from './leader-worker-set.ts';
import { podUnavailableBudgetDefinition } from './pod-unavailable-budget.ts';

/**
 * A kind that comes with Quorate and not with Kubernetes. Its row is all that has to be said about it: what both hosts
 * serve, what `quorate install` brings along, which rights roles get, what the webhook is asked, and the reference.
 */
export interface OwnKind {
  readonly type: ResourceType;
  readonly definition: CustomResourceDefinition;
  /** The embedded host serves it. */
  readonly embedded: boolean;
  /** `quorate install` brings it to a cluster; other software brings the rest. */
  readonly installed: boolean;
  /** What the operator may do with it, where the feature is on that it belongs to. */
  readonly operator: Rights;
  readonly feature?: OptionalFeature;
  /** The scheduler reads it. */
  readonly scheduler: boolean;
  /**
   * Other software brings this kind too. A definition that is put on the embedded host takes the place of ours, and this is
   * what Quorate leaves to it.
   */
  readonly yields?: string;
  /** The operator's webhook of this name is asked before it is written. */
  readonly review?: { readonly webhook: string; readonly operations: readonly ('CREATE' | 'UPDATE')[] };
}

export interface Rights {
  readonly verbs: readonly string[];
  readonly writesStatus: boolean;
}

/** Condition, and reason of an event, of a definition that is served in the place of a kind of ours. */
export const REPLACES_BUILT_IN = 'ReplacesBuiltIn';

const WRITES = ['CREATE', 'UPDATE'] as const;

export const OWN_KINDS: readonly OwnKind[] = [
  {
    type: POD_UNAVAILABLE_BUDGETS as ResourceType,
    feature: 'podUnavailableBudgets',
    definition: podUnavailableBudgetDefinition,
    embedded: true,
    installed: true,
    operator: { verbs: READ, writesStatus: true },
    scheduler: true,
    yields: 'keeps no PodUnavailableBudget and asks none about evictions, deletes and updates of pods',
    review: { webhook: 'budgets', operations: WRITES },
  },
  {
    type: leaderWorkerSetType as ResourceType,
    definition: leaderWorkerSetDefinition,
    embedded: true,
    installed: false,
    operator: { verbs: READ, writesStatus: false },
    scheduler: false,
    yields: 'makes no pods for LeaderWorkerSets and numbers none',
  },
  {
    type: kruiseLeaderWorkerSetType as ResourceType,
    definition: kruiseLeaderWorkerSetDefinition,
    embedded: true,
    installed: false,
    operator: { verbs: READ, writesStatus: false },
    scheduler: false,
    yields: 'makes no pods for LeaderWorkerSets of apps.kruise.io',
  },
  {
    type: disruptionLedgerType as ResourceType,
    definition: disruptionLedgerDefinition,
    embedded: true,
    installed: true,
    operator: { verbs: [...READ, 'create', 'delete'], writesStatus: true },
    scheduler: true,
  },
  {
    type: downscalePodPickerType as ResourceType,
    feature: 'pickers',
    definition: downscalePodPickerDefinition,
    // Pickers of the embedded host are fields of workloads.
    embedded: false,
    installed: true,
    operator: { verbs: READ, writesStatus: false },
    scheduler: false,
    review: { webhook: 'pickers', operations: WRITES },
  },
  {
    type: groupEvictionType as ResourceType,
    feature: 'groupEvictions',
    definition: groupEvictionDefinition,
    embedded: true,
    installed: true,
    operator: { verbs: [...READ, 'delete'], writesStatus: true },
    scheduler: false,
    review: { webhook: 'groups', operations: ['CREATE'] },
  },
  {
    type: maintenanceType as ResourceType,
    feature: 'maintenances',
    definition: maintenanceDefinition,
    embedded: true,
    installed: true,
    operator: { verbs: [...READ, 'create', 'update', 'patch', 'delete'], writesStatus: true },
    scheduler: false,
    review: { webhook: 'maintenances', operations: WRITES },
  },
  {
    type: disruptionPolicyType as ResourceType,
    definition: disruptionPolicyDefinition,
    embedded: true,
    installed: true,
    operator: { verbs: READ, writesStatus: true },
    scheduler: true,
    review: { webhook: 'policies', operations: WRITES },
  },
  {
    type: disruptionHistoryType as ResourceType,
    definition: disruptionHistoryDefinition,
    embedded: true,
    installed: true,
    operator: { verbs: [...READ, 'create', 'update', 'delete'], writesStatus: false },
    scheduler: false,
  },
];
