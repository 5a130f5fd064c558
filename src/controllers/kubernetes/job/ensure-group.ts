import { isControlledBy } from '../../../api/core/owner.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { PodGroup, Workload } from '../../../api/generated/scheduling-v1beta1.ts';
import { keyOf } from '../../../api/resource.ts';
import { jobType } from '../../../api/resource-types.ts';
import type { Client, EventRecorder, Informer } from '../../../machinery/runtime/index.ts';
import { ownedBy, type ReadYourWrites } from '../../shared/pod-control/index.ts';
import {
  decideJobGang,
  isNew,
  podGroupName,
  templateName,
  UNREADABLE_GANG,
  workloadName,
} from '../../../decisions/group-making/index.ts';
import {
  createPodGroup,
  createWorkload,
  type GroupWriter,
  setGroupMinimum,
  setWorkloadMinimum,
} from '../../shared/workload-groups/index.ts';

/** The PodGroup that a Job's pods join; while it goes, no pod is made that would name it. */
export interface JobGroup {
  readonly name: string;
  readonly going: boolean;
}

export interface GroupDeps {
  readonly client: Client;
  readonly events: EventRecorder;
  /** Both indexed by controller. */
  readonly workloads: Informer<Workload>;
  readonly podGroups: Informer<PodGroup>;
  readonly writes: ReadYourWrites;
  /** Jobs that could be gangs are, without asking. */
  readonly automaticGangs: boolean;
}

/**
 * The group a Job's new pods join; undefined when it asked for none. The Workload is created once, for a Job that has
 * not begun; afterwards a change of parallelism only moves the minimum of both, so that neither is ever created anew.
 */
export async function ensureGroup(deps: GroupDeps, job: Job, podCount: number): Promise<JobGroup | undefined> {
  const verdict = decideJobGang(job, { automatic: deps.automaticGangs });
  if (verdict.reason === 'Unreadable') deps.events.record(job, 'Warning', 'InvalidGang', UNREADABLE_GANG);
  if (verdict.reason !== 'Gang' && verdict.reason !== 'Basic') return undefined;
  const minCount = verdict.reason === 'Gang' ? verdict.minCount : undefined;
  const { namespace } = job.metadata;
  // What a Job has stays its own under the name it has: names were made otherwise once.
  const [ownWorkload] = ownedBy(deps.workloads, job);
  const [ownGroup] = ownedBy(deps.podGroups, job);
  const names = { workload: ownWorkload?.metadata.name ?? workloadName(job), template: templateName(job) };
  const groupName = ownGroup?.metadata.name ?? podGroupName(names.workload, names.template);
  const workload = ownWorkload ?? deps.workloads.get({ namespace, name: names.workload });
  const group = ownGroup ?? deps.podGroups.get({ namespace, name: groupName });
  if (workload !== undefined && !isControlledBy(workload, job)) return undefined;
  if (group !== undefined && !isControlledBy(group, job)) return undefined;
  if (workload === undefined && group === undefined && !isNew(job, podCount)) return undefined;

  const key = keyOf(job);
  const writer: GroupWriter = { ...deps, onWrite: (cache, written) => deps.writes.record(key, cache, written) };
  const { disruptionMode, resourceClaims, schedulingConstraints } = job.spec?.scheduling ?? {};
  const { priorityClassName } = job.spec?.template.spec ?? {};
  const terms = { minCount, priorityClassName, disruptionMode, resourceClaims, schedulingConstraints };
  const tended =
    workload === undefined
      ? group === undefined
        ? await begin(deps, writer, job, { name: names.workload, template: names.template, ...terms })
        : undefined
      : await setWorkloadMinimum(writer, workload, minCount);
  if (group?.metadata.deletionTimestamp) return jobGroup(group);
  if (group !== undefined) return jobGroup(await setGroupMinimum(writer, group, minCount));
  if (tended === undefined) return undefined;
  const owner = { type: jobType, object: job };
  const joined = await createPodGroup(writer, owner, { name: groupName, workload: tended, ...terms });
  return joined && jobGroup(joined);
}

const jobGroup = ({ metadata }: PodGroup): JobGroup => {
  return { name: metadata.name ?? '', going: Boolean(metadata.deletionTimestamp) };
};

async function begin(
  { events }: GroupDeps,
  writer: GroupWriter,
  job: Job,
  wanted: Parameters<typeof createWorkload>[2],
): Promise<Workload> {
  const created = await createWorkload(writer, { type: jobType, object: job }, wanted);
  const text = `Created Workload ${created.metadata.name} for Job ${job.metadata.name ?? ''}`;
  events.record(job, 'Normal', 'WorkloadCreated', text);
  return created;
}
