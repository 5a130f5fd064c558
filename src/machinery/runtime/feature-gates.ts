/** Behaviours that an operator may switch off (or on), with what they are when nobody says. */
const DEFAULTS = {
  /** Applications choose which Ready pods a downscale removes. */
  DownscalePodPicker: true,
  /** Downscales honour the pod-deletion-cost annotation. */
  PodDeletionCost: true,
  /** Downscales compare ages in bins that double; off takes the youngest pods first. */
  LogarithmicScaleDown: true,
  /** PodDisruptionBudgets are counted, and preemption heeds them; off leaves evictions under one waiting. */
  PodDisruptionBudget: true,
  /** PodUnavailableBudgets guard deletes and evictions. */
  PodUnavailableBudgetDeleteGate: true,
  /** PodUnavailableBudgets guard updates and resizes. */
  PodUnavailableBudgetUpdateGate: false,
  /** PodUnavailableBudgets may count groups of pods. */
  PodUnavailableBudgetGroupPolicy: true,
  /** Budgets may ask that there is room for a whole replacement; the operator then follows nodes and what is on them. */
  CapacityCheck: true,
  /** The operator makes groups for Jobs, JobSets and LeaderWorkerSets that ask for them. */
  GroupCreation: true,
  /** Whole groups are evicted by GroupEvictions. */
  GroupEviction: true,
  /** Drains are carried out as Maintenances. */
  Maintenance: true,
  /** Every disruption and refusal is entered in the record that `quorate history` reads. */
  DisruptionHistory: true,
  /** The same on a cluster. */
  ClusterDisruptionHistory: true,
  /** Groups move before another's drain takes pods whatever budgets say. */
  MoveBeforeForeignDeadline: true,
  /** The order in which groups may go is written on pods of ReplicaSets, as deletion costs. */
  PublishGroupCost: false,
  /** What groups cost is written on their pods for Karpenter as well; needs PublishGroupCost. */
  PublishKarpenterCost: false,
  /** Pods are guarded as they are written; off switches both of the budgets' gates off. */
  PodWebhook: true,
  /** Resizes are an operation of their own, guarded only where a PodUnavailableBudget lists them. */
  InPlacePodVerticalScaling: false,
  /** Workload objects, and the pod fields that point at groups. */
  GenericWorkload: true,
  /** PodGroup objects; needs GenericWorkload. */
  GenericWorkloadPodGroup: true,
  /** The scheduler places groups whole; needs GenericWorkload. */
  GangScheduling: true,
  /** Indexed Jobs that run all their completions at once are gangs without asking; needs GenericWorkload. */
  WorkloadWithJob: false,
  /** EvictionRequests and Evictions, and the pod field that names responders. */
  EvictionRequestAPI: true,
  /** PodDisruptionBudgets in policy/v1beta1 too, which Kubernetes itself stopped serving. */
  PolicyV1beta1: false,
} as const satisfies Record<string, boolean>;

export type FeatureGate = keyof typeof DEFAULTS;

/** A fixed choice of feature gates. */
export class FeatureGates {
  readonly #overrides: ReadonlyMap<string, boolean>;

  constructor(overrides: Partial<Record<FeatureGate, boolean>> = {}) {
    this.#overrides = new Map(Object.entries(overrides));
  }

  enabled(gate: FeatureGate): boolean {
    return this.#overrides.get(gate) ?? DEFAULTS[gate];
  }

  /** Reads `A=true,B=false`. An unknown gate or another value is an error: a typo must not pass as a choice. */
  static parse(text: string): FeatureGates {
    const overrides: Record<string, boolean> = {};
    for (const part of text.split(',').map((item) => item.trim())) {
      if (part === '') continue;
      const [name = '', value = ''] = part.split('=', 2).map((item) => item.trim());
      if (!Object.hasOwn(DEFAULTS, name)) {
        throw new RangeError(
          `Cannot set feature gate "${name}": no such gate; known are ${Object.keys(DEFAULTS).join(', ')}`,
        );
      }
      if (value !== 'true' && value !== 'false') {
        throw new RangeError(`Cannot set feature gate "${name}": "${value}" is neither true nor false`);
      }
      overrides[name] = value === 'true';
    }
    return new FeatureGates(overrides);
  }
}
