import { controllerReference, isControlledBy } from '../../api/core/owner.ts';
import type { Job } from '../../api/generated/batch-v1.ts';
import type { PodGroup, Workload } from '../../api/generated/scheduling-v1beta1.ts';
import { jobType } from '../../api/resource-types.ts';
import { builtinType } from '../../api/registry.ts';
import { apiVersionOf, keyOf, type ResourceType } from '../../api/resource.ts';
import { type Client, type EventRecorder, type Informer, isAlreadyExists } from '../../machinery/runtime/index.ts';
import type { OwnWrites } from '../pod-control/index.ts';
import { decideGang, GANG_ANNOTATION, isNew } from './gang.ts';
import { type JobGroup, podGroupName, templateName, workloadName } from './group-names.ts';

export const workloadType = builtinType('Workload', 'scheduling.k8s.io', 'v1beta1') as ResourceType<Workload>;
export const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io', 'v1beta1') as ResourceType<PodGroup>;

export interface GroupDeps {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly workloads: Informer<Workload>;
  readonly podGroups: Informer<PodGroup>;
  readonly writes: OwnWrites;
  /** Jobs that could be gangs are, without asking. */
  readonly automaticGangs: boolean;
}

/**
 * The group a Job's new pods join; undefined when it asked for none. The Workload is created once, for a Job that has
 * not begun; afterwards a change of parallelism only moves the minimum of both, so that neither is ever created anew.
 */
export async function ensureGroup(deps: GroupDeps, job: Job, podCount: number): Promise<JobGroup | undefined> {
  const verdict = decideGang(job, { automatic: deps.automaticGangs });
  if (verdict.reason === 'Unreadable') {
    const text = `Annotation ${GANG_ANNOTATION} is neither "true" nor a positive number: pods are placed one by one`;
    deps.events.record(job, 'Warning', 'InvalidGang', text);
  }
  if (verdict.reason !== 'Gang') return undefined;
  const { minCount } = verdict;
  const { namespace } = job.metadata;
  const names = { workload: workloadName(job), template: templateName(job) };
  const workload = deps.workloads.get({ namespace, name: names.workload });
  const group = deps.podGroups.get({ namespace, name: podGroupName(names.workload, names.template) });
  if (workload !== undefined && !isControlledBy(workload, job)) return undefined;
  if (group !== undefined && !isControlledBy(group, job)) return undefined;
  if (workload === undefined && group === undefined && !isNew(job, podCount)) return undefined;

  const tended =
    workload === undefined
      ? group === undefined
        ? await createWorkload(deps, job, minCount)
        : undefined
      : await tendWorkload(deps, job, workload, minCount);
  const joined =
    group === undefined
      ? tended && (await createGroup(deps, job, tended, minCount))
      : await tendGroup(deps, job, group, minCount);
  return joined && { name: joined.metadata.name ?? '' };
}

async function createWorkload({ client, events, workloads, writes }: GroupDeps, job: Job, minCount: number) {
  const { name = '', namespace } = job.metadata;
  const wanted: Workload = {
    metadata: { namespace, name: workloadName(job), ownerReferences: [controllerReference(jobType, job)] },
    spec: {
      controllerRef: { apiGroup: 'batch', kind: 'Job', name },
      podGroupTemplates: [{ name: templateName(job), schedulingPolicy: { gang: { minCount } } }],
    },
  };
  const created = await createOrRead(client, workloadType, wanted);
  writes.record(keyOf(job), workloads, created);
  events.record(job, 'Normal', 'WorkloadCreated', `Created Workload ${created.metadata.name} for Job ${name}`);
  return created;
}

async function createGroup({ client, podGroups, writes }: GroupDeps, job: Job, workload: Workload, minCount: number) {
  const [template] = workload.spec?.podGroupTemplates ?? [];
  if (template === undefined) return undefined;
  const name = workload.metadata.name ?? '';
  const wanted: PodGroup = {
    metadata: {
      namespace: job.metadata.namespace,
      name: podGroupName(name, template.name),
      ownerReferences: [
        controllerReference(jobType, job),
        { apiVersion: apiVersionOf(workloadType), kind: 'Workload', name, uid: workload.metadata.uid ?? '' },
      ],
    },
    spec: {
      workloadRef: { workloadName: name, templateName: template.name },
      ...(template.disruptionMode && { disruptionMode: template.disruptionMode }),
      ...(template.schedulingConstraints && { schedulingConstraints: template.schedulingConstraints }),
      schedulingPolicy: { gang: { minCount } },
    },
  };
  const created = await createOrRead(client, podGroupType, wanted);
  writes.record(keyOf(job), podGroups, created);
  return created;
}

async function tendWorkload(deps: GroupDeps, job: Job, workload: Workload, minCount: number): Promise<Workload> {
  const [template, ...others] = workload.spec?.podGroupTemplates ?? [];
  // One that was shaped by hand stays as it was shaped.
  if (template?.schedulingPolicy.gang === undefined || others.length > 0) return workload;
  if (template.schedulingPolicy.gang.minCount === minCount) return workload;
  const podGroupTemplates = [{ ...template, schedulingPolicy: { gang: { minCount } } }];
  const updated = await deps.client.update(workloadType, {
    ...workload,
    spec: { ...workload.spec, podGroupTemplates },
  });
  deps.writes.record(keyOf(job), deps.workloads, updated);
  return updated;
}

async function tendGroup(deps: GroupDeps, job: Job, group: PodGroup, minCount: number): Promise<PodGroup> {
  const { gang } = group.spec?.schedulingPolicy ?? {};
  if (group.spec === undefined || gang === undefined || gang.minCount === minCount) return group;
  const spec = { ...group.spec, schedulingPolicy: { gang: { minCount } } };
  const updated = await deps.client.update(podGroupType, { ...group, spec });
  deps.writes.record(keyOf(job), deps.podGroups, updated);
  return updated;
}

async function createOrRead<T extends Workload | PodGroup>(
  client: Client,
  type: ResourceType<T>,
  wanted: T,
): Promise<T> {
  try {
    return await client.create(type, wanted);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.get(type, { namespace: wanted.metadata.namespace, name: wanted.metadata.name ?? '' });
  }
}
