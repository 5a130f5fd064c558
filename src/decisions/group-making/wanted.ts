/** Which group a pod is to join that its owner has asked for, with everything that has to be there for it. */
import { controllerReference } from '../../api/core/owner.ts';
import type { Job } from '../../api/generated/batch-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { CompositePodGroup } from '../../api/generated/scheduling-v1alpha3.ts';
import type { PodGroup, Workload } from '../../api/generated/scheduling-v1beta1.ts';
import { type JobSet, jobSetType } from '../../api/jobset/types.ts';
import { type LeaderWorkerSet, LWS } from '../../api/lws/types.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { jobType } from '../../api/resource-types.ts';
import { nameHash1a } from '../../machinery/values/index.ts';
import { JOBSET } from '../disruption/index.ts';
import { SCHEDULER_ANNOTATION } from './annotations.ts';
import { decideJobGang } from './job.ts';
import { decideJobSetGang, podsOfJobSet, treeTemplates, wholeTemplateName } from './job-set.ts';
import { decideSetGang, disruptionOf, REPLICA_TEMPLATE } from './leader-worker-set.ts';
import { podGroupName, replicaGroupName, templateName, workloadName } from './names.ts';
import { type GroupOwner, type GroupTemplateTerms, newPodGroup, newTemplate, newWorkload } from './objects.ts';

export interface WantedGroup {
  readonly reason: 'Wanted';
  /** Of whom the events tell. */
  readonly owner: KubeObject;
  readonly workload: Workload;
  /** The group of groups that it is part of. */
  readonly composite?: CompositePodGroup | undefined;
  readonly podGroup: PodGroup;
  /** Places the pods, where the owner names one. */
  readonly schedulerName?: string | undefined;
  /** Selects the pods that must all be in this group: one that is in none has started without it. */
  readonly members?: string | undefined;
}

export interface UnwantedGroup {
  readonly reason:
    | 'NotAsked'
    | 'TemplateHasGroup'
    | 'OwnedByParent'
    | 'Unreadable'
    | 'DifferentPriorities'
    | 'TooManyTemplates'
    | 'CannotWaitForLeader';
}

export type MakingVerdict = WantedGroup | UnwantedGroup;

/** What the cluster can say. */
export interface GroupAbilities {
  /** A group's minimum may be changed later. */
  readonly mutableMinimum: boolean;
  /** Groups of groups are served. */
  readonly composites: boolean;
}

/** By this label what the operator has made is told from what others have. */
export const MADE_LABELS = { 'app.kubernetes.io/managed-by': 'quorate' } as const;

const labels = { ...MADE_LABELS };
const JOB_UID = 'batch.kubernetes.io/controller-uid';

export function wantedByJob(job: Job): MakingVerdict {
  const verdict = decideJobGang(job);
  if (verdict.reason !== 'Gang' && verdict.reason !== 'Basic') return verdict;
  const { disruptionMode, resourceClaims, schedulingConstraints } = job.spec?.scheduling ?? {};
  const { priorityClassName } = job.spec?.template.spec ?? {};
  const minCount = verdict.reason === 'Gang' ? verdict.minCount : undefined;
  const terms = { minCount, priorityClassName, disruptionMode, resourceClaims, schedulingConstraints };
  const workload = workloadName(job);
  const template = templateName(job);
  return {
    ...flat({ type: jobType as ResourceType, object: job }, { workload, template, terms }),
    members: `${JOB_UID}=${job.metadata.uid ?? ''}`,
  };
}

/** The group of a pod of one of a JobSet's Jobs. */
export function wantedByJobSet(jobSet: JobSet, job: Job, { composites }: GroupAbilities): MakingVerdict {
  const verdict = decideJobSetGang(jobSet);
  if (verdict.reason !== 'Gang') return verdict;
  const owner = { type: jobSetType as ResourceType, object: jobSet };
  const name = workloadName(jobSet);
  const { templates, unit } = verdict;
  const whole = wholeTemplateName(templates);
  if (unit === 'JobSet' && !composites) {
    const minCount = Math.max(podsOfJobSet(jobSet), 1);
    const terms = { minCount, priorityClassName: templates[0]?.priorityClassName };
    const members = `${JOBSET.name}=${jobSet.metadata.name ?? ''}`;
    return { ...flat(owner, { workload: name, template: whole, terms }), members };
  }
  const child = { type: jobType as ResourceType, object: job };
  const of = job.metadata.labels?.[JOBSET.replicatedJob] ?? '';
  const template = templates.find((one) => one.name === of);
  if (template === undefined) return { reason: 'NotAsked' };
  const parent = unit === 'JobSet' ? podGroupName(name, whole) : undefined;
  const tree = treeTemplates(jobSet, templates);
  return {
    reason: 'Wanted',
    owner: jobSet as KubeObject,
    workload: newWorkload(owner, {
      name,
      labels,
      templates: parent === undefined ? { podGroupTemplates: templates.map(newTemplate) } : tree,
    }),
    composite: parent === undefined ? undefined : compositeOf(jobSet, { name: parent, workload: name, tree }),
    podGroup: newPodGroup(child, {
      ...template,
      minCount: Math.max(job.spec?.parallelism ?? 1, 1),
      name: replicaGroupName(name, template.name, nameHash1a(job.metadata.uid ?? '')),
      workload: name,
      template: template.name,
      parent,
      labels,
    }),
    schedulerName: schedulerOf(jobSet as KubeObject),
    members: `${JOB_UID}=${job.metadata.uid ?? ''}`,
  };
}

function compositeOf(
  jobSet: JobSet,
  { name, tree, workload }: { name: string; workload: string; tree: ReturnType<typeof treeTemplates> },
): CompositePodGroup | undefined {
  const [template] = 'compositePodGroupTemplates' in tree ? tree.compositePodGroupTemplates : [];
  if (template === undefined) return undefined;
  const { disruptionMode, name: templateName, priorityClassName, schedulingPolicy } = template;
  return {
    metadata: {
      namespace: jobSet.metadata.namespace,
      name,
      labels,
      ownerReferences: [controllerReference(jobSetType as ResourceType, jobSet)],
    },
    spec: {
      workloadRef: { workloadName: workload, templateName },
      schedulingPolicy,
      ...(disruptionMode && { disruptionMode }),
      ...(priorityClassName && { priorityClassName }),
    },
  };
}

/** The group of a leader or worker of a set's replica. Workers are made for the leader that is there. */
export function wantedBySet(
  owner: { readonly type: ResourceType; readonly object: LeaderWorkerSet },
  { index, pod }: { readonly index: number; readonly pod: Pick<Pod, 'metadata'> },
  { mutableMinimum }: GroupAbilities,
): MakingVerdict {
  const { object: set } = owner;
  const verdict = decideSetGang(set);
  if (verdict.reason !== 'Gang') return verdict;
  const waits = set.spec?.startupPolicy === 'LeaderReady';
  if (waits && !mutableMinimum) return { reason: 'CannotWaitForLeader' };
  const declared = Number(pod.metadata.annotations?.[LWS.size] ?? Number.NaN);
  const size = Number.isSafeInteger(declared) && declared > 0 ? declared : set.spec?.leaderWorkerTemplate?.size;
  const { priorityClassName } = set.spec?.leaderWorkerTemplate?.workerTemplate?.spec ?? {};
  const minCount = Math.min(verdict.minCount, size ?? verdict.minCount);
  const terms = { minCount: minCount, priorityClassName, disruptionMode: disruptionOf(set) };
  const workload = workloadName(set as KubeObject);
  const wanted = flat(owner, { workload, template: REPLICA_TEMPLATE, terms });
  const copied = { [LWS.name]: set.metadata.name ?? '', [LWS.groupIndex]: String(index) };
  return {
    ...wanted,
    podGroup: newPodGroup(owner, {
      ...terms,
      // A leader that its workers wait for has to be placed alone; the minimum is raised once it is ready.
      minCount: waits ? 1 : minCount,
      name: replicaGroupName(workload, REPLICA_TEMPLATE, String(index)),
      workload,
      template: REPLICA_TEMPLATE,
      labels: { ...labels, ...copied },
    }),
  };
}

interface FlatGroup {
  readonly workload: string;
  readonly template: string;
  readonly terms: GroupTemplateTerms;
}

/** One group of a Workload of one template. */
function flat(owner: GroupOwner, { template, terms, workload }: FlatGroup): WantedGroup {
  const name = podGroupName(workload, template);
  const templates = { podGroupTemplates: [newTemplate({ name: template, ...terms })] };
  return {
    reason: 'Wanted',
    owner: owner.object as KubeObject,
    workload: newWorkload(owner, { name: workload, labels, templates }),
    podGroup: newPodGroup(owner, { ...terms, name, workload, template, labels }),
    schedulerName: schedulerOf(owner.object as KubeObject),
  };
}

const schedulerOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[SCHEDULER_ANNOTATION];
