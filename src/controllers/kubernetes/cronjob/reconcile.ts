import { isJobFinished } from '../../../api/batch/job-state.ts';
import { parseSchedule, type Schedule } from '../../../api/batch/index.ts';
import { controllerReference, isControlledBy } from '../../../api/core/owner.ts';
import type { CronJob, CronJobStatus, Job } from '../../../api/generated/batch-v1.ts';
import { cronJobType, jobType } from '../../../api/resource-types.ts';
import { formatKey, keyOf, type ObjectKey } from '../../../api/resource.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { deepClone, deepEqual, formatTime, parseTime } from '../../../machinery/values/index.ts';
import { type ReadYourWrites, ownedBy } from '../../shared/pod-control/index.ts';
import { decideDue, nextLookMs } from './due.ts';
import { expiredJobs, isComplete } from './history.ts';

export interface CronJobDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly cronJobs: Informer<CronJob>;
  readonly jobs: Informer<Job>;
  readonly writes: ReadYourWrites;
}

const STALE_CACHE_WAIT_MS = 100;
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** Starts the Job that is due, keeps the list of those that run, and drops old finished ones. */
export async function reconcileCronJob(deps: CronJobDeps, objectKey: ObjectKey): Promise<ReconcileResult> {
  const { client, clock, cronJobs, jobs, writes } = deps;
  const key = formatKey(objectKey);
  const cronJob = cronJobs.get(objectKey);
  if (cronJob === undefined) {
    writes.forget(key);
    return settled;
  }
  if (!writes.seen(key)) return { requeueAfterMs: STALE_CACHE_WAIT_MS };
  const owned = ownedBy(jobs, cronJob);
  const status = await takeStock(deps, cronJob, owned);
  const { started, next } = await startDue(deps, { ...cronJob, status }, clock.now());
  if (!deepEqual(plain(cronJob.status), plain(started))) {
    writes.record(key, cronJobs, await client.updateStatus(cronJobType, { ...cronJob, status: started }));
  }
  for (const job of expiredJobs(cronJob, owned)) await deleteJob(deps, cronJob, job.metadata.name ?? '');
  return next === undefined ? settled : { requeueAfterMs: next };
}

const plain = (status: CronJobStatus | undefined) => ({ ...status, active: status?.active ?? [] });

/** The list of running Jobs without those that ended or are gone. */
async function takeStock(
  { client, events }: CronJobDeps,
  cronJob: CronJob,
  owned: readonly Job[],
): Promise<CronJobStatus> {
  const status: CronJobStatus = { ...cronJob.status };
  const active = [...(status.active ?? [])];
  for (const job of owned) {
    const listed = active.findIndex(({ uid }) => uid === job.metadata.uid);
    if (!isJobFinished(job)) {
      if (listed < 0) {
        const text = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
        events.record(cronJob, 'Warning', 'UnexpectedJob', text);
      }
      continue;
    }
    if (listed >= 0) {
      active.splice(listed, 1);
      const text = `Saw completed job: ${job.metadata.name}, condition: ${isComplete(job) ? 'Complete' : 'Failed'}`;
      events.record(cronJob, 'Normal', 'SawCompletedJob', text);
    }
    const doneAt = isComplete(job) ? job.status?.completionTime : undefined;
    if (doneAt !== undefined && (parseTime(doneAt) ?? 0) > (parseTime(status.lastSuccessfulTime) ?? 0)) {
      status.lastSuccessfulTime = doneAt;
    }
  }
  const uids = new Set(owned.map(({ metadata }) => metadata.uid));
  for (const reference of active.filter(({ uid }) => !uids.has(uid))) {
    try {
      await client.get(jobType, { namespace: reference.namespace, name: reference.name ?? '' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      active.splice(active.indexOf(reference), 1);
      events.record(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${reference.name}`);
    }
  }
  return { ...status, active };
}

interface StartOutcome {
  readonly started: CronJobStatus;
  readonly next: number | undefined;
}

async function startDue(deps: CronJobDeps, cronJob: CronJob, now: number): Promise<StartOutcome> {
  const { client, events, jobs, writes } = deps;
  const { spec, status = {} } = cronJob;
  if (cronJob.metadata.deletionTimestamp || spec === undefined || spec.suspend) {
    return { started: status, next: undefined };
  }
  const schedule = readSchedule(deps, cronJob);
  if (schedule === undefined) return { started: status, next: undefined };
  const next = nextLookMs(schedule, now);
  const verdict = decideDue(cronJob, schedule, now);
  if (verdict.reason === 'Missed') {
    const text = `Missed scheduled time to start a job: ${new Date(verdict.at).toUTCString()}`;
    events.record(cronJob, 'Warning', 'MissSchedule', text);
  }
  if (verdict.reason !== 'Due') return { started: status, next };
  if (verdict.manyMissed) {
    const text = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    events.record(cronJob, 'Warning', 'TooManyMissedTimes', text);
  }
  if (spec.concurrencyPolicy === 'Forbid' && (status.active ?? []).length > 0) {
    const text = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    events.record(cronJob, 'Normal', 'JobAlreadyActive', text);
    return { started: status, next };
  }
  let active = status.active ?? [];
  if (spec.concurrencyPolicy === 'Replace') {
    for (const { name } of active) await deleteJob(deps, cronJob, name ?? '');
    active = [];
  }
  const wanted = jobFor(cronJob, verdict.at);
  let job: Job;
  try {
    job = await client.create(jobType, wanted);
    writes.record(keyOf(cronJob), jobs, job);
    events.record(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
  } catch (error) {
    if (!isAlreadyExists(error)) {
      const text = error instanceof Error ? error.message : 'unknown';
      events.record(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${text}`);
      throw error;
    }
    job = await client.get(jobType, { namespace: wanted.metadata.namespace, name: wanted.metadata.name ?? '' });
    if (!isControlledBy(job, cronJob)) return { started: { ...status, active }, next };
  }
  const { name, namespace, resourceVersion, uid } = job.metadata;
  const reference = { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion };
  const listed = active.some((known) => known.uid === uid) || isJobFinished(job);
  return {
    started: {
      ...status,
      active: listed ? active : [...active, reference],
      lastScheduleTime: formatTime(verdict.at),
    },
    next,
  };
}

function readSchedule({ events }: CronJobDeps, cronJob: CronJob): Schedule | undefined {
  const { schedule = '', timeZone } = cronJob.spec ?? {};
  const parsed = parseSchedule(schedule, timeZone);
  if (parsed === undefined) {
    const [reason, text] =
      parseSchedule(schedule) === undefined
        ? ['UnparseableSchedule', `unparseable schedule: "${schedule}"`]
        : ['UnknownTimeZone', `invalid timeZone: "${timeZone}"`];
    events.record(cronJob, 'Warning', reason, text);
  }
  return parsed;
}

/** Named by the minute it is for, so that one moment never starts two. */
function jobFor(cronJob: CronJob, at: number): Job {
  const { name, namespace } = cronJob.metadata;
  const { metadata, spec } = cronJob.spec?.jobTemplate ?? {};
  return {
    metadata: {
      namespace,
      name: `${name}-${Math.floor(at / 60_000)}`,
      ...(metadata?.labels && { labels: { ...metadata.labels } }),
      annotations: { ...metadata?.annotations, [SCHEDULED_AT]: formatTime(at) },
      ownerReferences: [controllerReference(cronJobType, cronJob)],
    },
    spec: deepClone(spec),
  };
}

async function deleteJob({ client, events }: CronJobDeps, cronJob: CronJob, name: string): Promise<void> {
  const { namespace } = cronJob.metadata;
  try {
    await client.delete(jobType, { namespace, name }, { propagationPolicy: 'Background' });
    events.record(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
