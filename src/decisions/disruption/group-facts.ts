import type { KubeObject } from '../../api/resource.ts';

/** A pod group as its Workload declares it. */
export interface GroupEntry {
  /** Undefined for the basic policy, or none. */
  readonly minCount: number | undefined;
  readonly replicas: number;
}

export interface WorkloadFacts {
  readonly name: string;
  readonly groups: ReadonlyMap<string, GroupEntry>;
}

export interface PodGroupFacts {
  readonly name: string;
  readonly terminating: boolean;
  readonly template: { readonly workload: string; readonly name: string } | undefined;
  /** The policy copied into the object; undefined when it has none and the template decides. */
  readonly policy: { readonly minCount: number | undefined } | undefined;
}

interface Policy {
  readonly basic?: object | undefined;
  readonly gang?: { readonly minCount?: number | undefined } | undefined;
}

interface Template {
  readonly name?: string;
  readonly replicas?: number | undefined;
  readonly policy?: Policy | undefined;
  readonly schedulingPolicy?: Policy | undefined;
}

/** Reads a Workload of any version: `podGroups` or `podGroupTemplates`, `policy` or `schedulingPolicy`. */
export function readWorkload(object: KubeObject): WorkloadFacts {
  const { spec } = object as { spec?: { podGroups?: Template[]; podGroupTemplates?: Template[] } };
  const groups = new Map<string, GroupEntry>();
  for (const template of [...(spec?.podGroups ?? []), ...(spec?.podGroupTemplates ?? [])]) {
    if (template.name === undefined || groups.has(template.name)) continue;
    groups.set(template.name, {
      minCount: minCountOf(template.schedulingPolicy ?? template.policy),
      replicas: Math.max(0, template.replicas ?? 1),
    });
  }
  return { name: object.metadata.name ?? '', groups };
}

interface PodGroupSpecShapes {
  readonly workloadRef?: { readonly workloadName?: string; readonly templateName?: string; readonly name?: string };
  readonly podGroupTemplateName?: string;
  readonly podGroupTemplateRef?: {
    readonly name?: string;
    readonly workload?: { readonly workloadName?: string; readonly podGroupTemplateName?: string };
  };
  readonly schedulingPolicy?: Policy;
}

/** Reads a PodGroup of any version; each names its template in its own way. */
export function readPodGroup(object: KubeObject): PodGroupFacts {
  const { spec } = object as { spec?: PodGroupSpecShapes };
  const fromWorkload = spec?.podGroupTemplateRef?.workload;
  const workload = spec?.workloadRef?.workloadName ?? spec?.workloadRef?.name ?? fromWorkload?.workloadName;
  const template =
    spec?.workloadRef?.templateName ??
    fromWorkload?.podGroupTemplateName ??
    spec?.podGroupTemplateName ??
    spec?.podGroupTemplateRef?.name;
  const { schedulingPolicy } = spec ?? {};
  return {
    name: object.metadata.name ?? '',
    terminating: Boolean(object.metadata.deletionTimestamp),
    template: workload && template ? { workload, name: template } : undefined,
    policy: schedulingPolicy?.gang || schedulingPolicy?.basic ? { minCount: minCountOf(schedulingPolicy) } : undefined,
  };
}

/** A gang that asks for nothing is treated as asking for one pod. */
function minCountOf(policy: Policy | undefined): number | undefined {
  return policy?.gang === undefined || policy.gang === null ? undefined : Math.max(1, policy.gang.minCount ?? 1);
}

/** The group objects of one namespace, as the resolvers ask for them. May throw when they cannot be read. */
export interface GroupLookup {
  workload(name: string): WorkloadFacts | undefined;
  podGroup(name: string): PodGroupFacts | undefined;
  /** PodGroup objects of one template that are not being deleted. */
  livePodGroups(workload: string, template: string): number;
  /** Size and replicas of what stands behind label markers: `LeaderWorkerSet/<name>`, `Job/<name>`. */
  source(key: string): GroupSource | undefined;
}

export interface GroupSource {
  /** Pods one unit is made of. */
  readonly size?: number | undefined;
  readonly replicas?: number | undefined;
}
