import type { KubeObject } from '../../api/resource.ts';
import { isObject } from '../../machinery/values/index.ts';
import { REPLICAS_ANNOTATION } from './group-markers.ts';

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

/** What a group that is an object of its own says, leaf or composite. */
interface ObjectFacts {
  readonly name: string;
  readonly terminating: boolean;
  readonly template: TemplateName | undefined;
  /** The composite it belongs to. */
  readonly parent: string | undefined;
  /** `disruptionMode: all`: it goes as one. */
  readonly whole: boolean;
}

export interface TemplateName {
  readonly workload: string;
  readonly name: string;
}

export interface PodGroupFacts extends ObjectFacts {
  /** The policy copied into the object; undefined when it has none and the template decides. */
  readonly policy: { readonly minCount: number | undefined } | undefined;
}

export interface CompositeFacts extends ObjectFacts {
  /** Children that must be available: one where the policy is basic. */
  readonly needed: number;
}

/** What a unit of several groups needs, from the composite that fails as one down to its leaves. */
export type UnitTree =
  | { readonly kind: 'leaf'; readonly name: string; readonly minCount: number }
  | { readonly kind: 'composite'; readonly needed: number; readonly children: readonly UnitTree[] };

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
  const noted = readReplicas(object);
  for (const template of [...(spec?.podGroups ?? []), ...(spec?.podGroupTemplates ?? [])]) {
    if (template.name === undefined || groups.has(template.name)) continue;
    groups.set(template.name, {
      minCount: minCountOf(template.schedulingPolicy ?? template.policy),
      replicas: Math.max(0, template.replicas ?? noted[template.name] ?? 1),
    });
  }
  return { name: object.metadata.name ?? '', groups };
}

/** Replicas of groups that were moved from a version that counts them. */
function readReplicas({ metadata }: KubeObject): Readonly<Record<string, number | undefined>> {
  const text = metadata.annotations?.[REPLICAS_ANNOTATION];
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return {};
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])),
    );
  } catch {
    return {};
  }
}

interface PodGroupSpecShapes {
  readonly workloadRef?: { readonly workloadName?: string; readonly templateName?: string; readonly name?: string };
  readonly parentCompositePodGroupName?: string;
  /** A word in v1alpha2. */
  readonly disruptionMode?: { readonly all?: object | undefined } | string;
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
    ...readPlace(object),
    template: workload && template ? { workload, name: template } : undefined,
    policy: schedulingPolicy?.gang || schedulingPolicy?.basic ? { minCount: minCountOf(schedulingPolicy) } : undefined,
  };
}

export function readComposite(object: KubeObject): CompositeFacts {
  const { spec } = object as {
    spec?: PodGroupSpecShapes & { schedulingPolicy?: { gang?: { minGroupCount?: number } | undefined } };
  };
  const { templateName, workloadName } = spec?.workloadRef ?? {};
  return {
    ...readPlace(object),
    template: workloadName && templateName ? { workload: workloadName, name: templateName } : undefined,
    needed: Math.max(1, spec?.schedulingPolicy?.gang?.minGroupCount ?? 1),
  };
}

function readPlace(object: KubeObject): Omit<ObjectFacts, 'template'> {
  const { metadata, spec } = object as KubeObject & { spec?: PodGroupSpecShapes };
  const mode = spec?.disruptionMode;
  return {
    name: metadata.name ?? '',
    terminating: Boolean(metadata.deletionTimestamp),
    parent: spec?.parentCompositePodGroupName || undefined,
    whole: typeof mode === 'string' ? mode === 'PodGroup' : Boolean(mode?.all),
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
  composite(name: string): CompositeFacts | undefined;
  /** What the composite needs, down to its leaves. */
  tree(composite: CompositeFacts): UnitTree;
  /** PodGroups or composites of one template that are not being deleted, with the same parent or all without. */
  liveGroups(kind: 'PodGroup' | 'CompositePodGroup', template: TemplateName, parent: string | undefined): number;
  /** Size and replicas of what stands behind label markers: `LeaderWorkerSet/<name>`, `Job/<name>`. */
  source(key: string): GroupSource | undefined;
}

export interface GroupSource {
  /** Pods one unit is made of. */
  readonly size?: number | undefined;
  readonly replicas?: number | undefined;
}
