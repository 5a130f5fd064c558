import { isJobFinished } from '../../../api/batch/job-state.ts';
import type { Job, JobCondition, JobStatus } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { jobType } from '../../../api/resource-types.ts';
import { formatKey, keyOf, type ObjectKey } from '../../../api/resource.ts';
import type { Clock, Informer, ReconcileResult } from '../../../machinery/runtime/index.ts';
import { settled } from '../../../machinery/runtime/index.ts';
import { deepEqual, formatTime } from '../../../machinery/values/index.ts';
import { cachedSelector, claim, type Expectations } from '../../shared/pod-control/index.ts';
import { type FailureRecord, noFailures, recordOutcomes } from './back-off.ts';
import { ensureGroup, type GroupDeps } from './ensure-group.ts';
import { deadlineLeftMs, decideFinish, isSuspended, newCondition } from './finish.ts';
import type { PodWriter } from './pod-writer.ts';
import { decideSize, type SizeVerdict } from './size.ts';
import { TRACKING_FINALIZER } from './pod-facts.ts';
import { concludeStatus, setCondition } from './status.ts';
import { settleCounts, trackPods } from './track.ts';
import { type JobView, viewJob } from './view.ts';

export interface JobDeps extends GroupDeps {
  readonly clock: Clock;
  readonly jobs: Informer<Job>;
  readonly pods: Informer<Pod>;
  readonly expectations: Expectations;
  readonly writer: PodWriter;
  readonly failures: Map<string, FailureRecord>;
}

const STALE_CACHE_WAIT_MS = 100;
const GROUP_GOING_WAIT_MS = 1000;
const OWN_CONTROLLER = 'kubernetes.io/job-controller';

/** Brings one Job nearer to its end: creates or deletes pods, counts those that ended, and says when it is done. */
export async function reconcileJob(deps: JobDeps, objectKey: ObjectKey): Promise<ReconcileResult> {
  const { clock, expectations, failures, jobs, pods, writes } = deps;
  const key = formatKey(objectKey);
  const cached = jobs.get(objectKey);
  if (cached === undefined || isJobFinished(cached)) {
    expectations.forget(key);
    writes.forget(key);
    failures.delete(key);
    return settled;
  }
  if ((cached.spec?.managedBy ?? OWN_CONTROLLER) !== OWN_CONTROLLER) return settled;
  if (!writes.seen(key)) return { requeueAfterMs: STALE_CACHE_WAIT_MS };
  const upToDate = expectations.satisfied(key);
  const claimed = await claim({
    client: deps.client,
    owner: cached,
    ownerType: jobType,
    cache: pods,
    writes,
    selector: cachedSelector(cached.spec?.selector),
    finalizers: [TRACKING_FINALIZER],
  });
  const group = cached.metadata.deletionTimestamp ? undefined : await ensureGroup(deps, cached, claimed.length);

  const now = clock.now();
  const job = begin(cached, now);
  const view = viewJob(job, claimed, now);
  const record = recordOutcomes(failures.get(key) ?? noFailures, view.newSucceeded, view.newFailed);
  let finish = decideFinish(view);
  let counts = { active: view.active.length, ready: view.ready, terminating: view.terminating };
  let conditions = job.status?.conditions;
  let startTime = job.status?.startTime;
  let verdict: SizeVerdict = { reason: 'RightSize' };
  let failure: unknown;

  if (finish !== undefined) {
    const outcome = await deps.writer.removeAll(job, view.active);
    failure = outcome.failure;
    if (outcome.removed < view.active.length || !upToDate) finish = undefined;
    counts = lessen(counts, outcome);
  } else if (upToDate && !job.metadata.deletionTimestamp) {
    verdict = decideSize(view, record);
    if (verdict.reason === 'TooFewPods' && group?.going)
      verdict = { reason: 'GroupGoing', waitMs: GROUP_GOING_WAIT_MS };
    const outcome = await deps.writer.resize(job, verdict, { awaitingRetry: view.awaitingRetry, group });
    failure = outcome.failure;
    counts = lessen({ ...counts, active: counts.active + outcome.created }, outcome);
    finish = counts.active === 0 ? completion(view) : undefined;
    if (finish === undefined) {
      const suspension = noteSuspension(deps, job, now);
      conditions = suspension.conditions;
      startTime = suspension.startTime;
    }
  } else if (counts.active === 0) {
    finish = completion(view);
  }

  const status: JobStatus = { ...job.status, ...counts, conditions, startTime };
  await track(deps, view, { finish, record, status, before: cached });
  if (failure !== undefined) throw failure;
  const waits = ['waitMs' in verdict ? verdict.waitMs : undefined, deadlineLeftMs({ ...job, status }, now)];
  const next = Math.min(...waits.map((wait) => wait ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(next) && next > 0 ? { requeueAfterMs: next } : settled;
}

/** A Job that runs has a start time. */
function begin(job: Job, now: number): Job {
  if (job.status?.startTime || isSuspended(job)) return job;
  return { ...job, status: { ...job.status, startTime: formatTime(now) } };
}

interface Counts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

function lessen({ active, ready, terminating }: Counts, removed: { removed: number; removedReady: number }): Counts {
  return {
    active: active - removed.removed,
    ready: ready - removed.removedReady,
    terminating: terminating + removed.removed,
  };
}

/** The condition of a Job with nothing left to do; asked only when no pod is active. */
function completion({ job, now, succeeded }: JobView): JobCondition | undefined {
  const completions = job.spec?.completions;
  const done = completions === undefined ? succeeded > 0 : succeeded >= completions;
  if (!done) return undefined;
  return newCondition('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods', now);
}

function noteSuspension({ events }: JobDeps, job: Job, now: number) {
  const { conditions, startTime } = job.status ?? {};
  const known = conditions?.find(({ type }) => type === 'Suspended');
  if (isSuspended(job)) {
    if (known?.status === 'True') return { conditions, startTime };
    events.record(job, 'Normal', 'Suspended', 'Job suspended');
    return {
      conditions: setCondition(conditions, newCondition('Suspended', 'JobSuspended', 'Job suspended', now)),
      startTime: undefined,
    };
  }
  if (known?.status !== 'True') return { conditions, startTime };
  events.record(job, 'Normal', 'Resumed', 'Job resumed');
  const resumed = { ...newCondition('Suspended', 'JobResumed', 'Job resumed', now), status: 'False' };
  return { conditions: setCondition(conditions, resumed), startTime: formatTime(now) };
}

interface TrackInput {
  readonly before: Job;
  readonly status: JobStatus;
  readonly finish: JobCondition | undefined;
  readonly record: FailureRecord;
}

/** Writes the status around the release of ended pods; see `trackPods` for why in this order. */
async function track(deps: JobDeps, view: JobView, { before, finish, record, status }: TrackInput): Promise<void> {
  const { client, events, failures, jobs, writer, writes } = deps;
  const key = keyOf(before);
  const tracking = trackPods(view, status, finish);
  let current: Job = { ...before, status: tracking.status };
  if (finish !== undefined) {
    current = { ...current, status: { ...current.status, conditions: setCondition(status.conditions, finish) } };
  }
  const save = async (wanted: Job, than: Job): Promise<Job> => {
    if (isSame(wanted.status, than.status)) return than;
    const written = await client.updateStatus(jobType, wanted);
    writes.record(key, jobs, written);
    return written;
  };
  current = await save(current, before);
  failures.set(key, record);
  const { failure, kept } = await writer.release(current, tracking.release);
  const released = new Set(tracking.release.map(({ metadata }) => metadata.uid));
  for (const { metadata } of kept) released.delete(metadata.uid);
  const stillTracked = view.pods.filter(
    ({ metadata }) => metadata.finalizers?.includes(TRACKING_FINALIZER) && !released.has(metadata.uid),
  );
  const settledStatus = settleCounts(current.status ?? {}, stillTracked);
  const concluded = tracking.more
    ? settledStatus
    : concludeStatus(settledStatus, finish, { now: view.now, terminating: status.terminating ?? 0 });
  const final = await save({ ...current, status: concluded }, current);
  if (isJobFinished(final) && final !== current) recordEnd(events, final);
  if (failure !== undefined) throw failure;
}

function recordEnd(events: JobDeps['events'], job: Job): void {
  const failed = job.status?.conditions?.find(({ type }) => type === 'Failed');
  if (failed === undefined) events.record(job, 'Normal', 'Completed', 'Job completed');
  else events.record(job, 'Warning', failed.reason ?? 'Failed', failed.message ?? '');
}

/** Absent counts and zero are the same thing on the wire. */
function isSame(a: JobStatus | undefined, b: JobStatus | undefined): boolean {
  const plain = (status: JobStatus | undefined): Record<string, unknown> => {
    const { uncountedTerminatedPods, ...rest } = status ?? {};
    const { failed = [], succeeded = [] } = uncountedTerminatedPods ?? {};
    const shown: Record<string, unknown> = { ...rest, uncounted: [succeeded, failed] };
    for (const name of ['active', 'succeeded', 'failed', 'ready', 'terminating']) shown[name] ??= 0;
    shown['conditions'] ??= [];
    return shown;
  };
  return deepEqual(plain(a), plain(b));
}
