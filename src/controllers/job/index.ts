import { jobType, podType } from '../../api/resource-types.ts';
import { keyOf } from '../../api/resource.ts';
import {
  type ControllerContext,
  FeatureGates,
  type RunningController,
  runController,
  type StartController,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { matches } from '../../machinery/values/index.ts';
import {
  cachedSelector,
  createPodControl,
  Expectations,
  indexByController,
  OwnWrites,
  ownedBy,
  watchPods,
} from '../pod-control/index.ts';
import { podGroupType, workloadType } from '../workload-groups/index.ts';
import { isFinished } from './finish.ts';
import { isAbandoned, releaseOrphan } from './orphans.ts';
import { PodWriter } from './pod-writer.ts';
import { reconcileJob } from './reconcile.ts';

export { decideGang } from './gang.ts';

/** Runs Jobs, and lets go of pods whose Job is gone. */
export function createJobController({ gates = new FeatureGates() }: { gates?: FeatureGates } = {}): StartController {
  return (context) => run(context, gates.enabled('WorkloadWithJob') && gates.enabled('GenericWorkload'));
}

function run(context: ControllerContext, automaticGangs: boolean): RunningController {
  const { client, clock, informers, metrics } = context;
  const jobs = informers.of(jobType);
  const pods = informers.of(podType);
  const workloads = informers.of(workloadType);
  const podGroups = informers.of(podGroupType);
  indexByController(pods);
  const queue = new WorkQueue({ name: 'job', clock, metrics });
  const orphanQueue = new WorkQueue({ name: 'job-orphans', clock, metrics });
  const events = context.eventsFor('job-controller');
  const expectations = new Expectations(clock);
  const writes = new OwnWrites();
  const control = createPodControl(client, events);
  const writer = new PodWriter({ client, control, pods, expectations, writes });
  const deps = {
    client,
    clock,
    events,
    jobs,
    pods,
    workloads,
    podGroups,
    expectations,
    writes,
    writer,
    failures: new Map(),
    automaticGangs,
  };

  const lookForOrphans = (job: Parameters<typeof keyOf>[0]): void => {
    for (const pod of ownedBy(pods, job)) orphanQueue.add(keyOf(pod));
  };
  jobs.addHandler({
    added(job) {
      queue.add(keyOf(job));
      if (isFinished(job)) lookForOrphans(job);
    },
    updated(job, old) {
      if (job.metadata.uid !== old.metadata.uid) expectations.forget(keyOf(old));
      queue.add(keyOf(job));
      if (isFinished(job) && !isFinished(old)) lookForOrphans(job);
    },
    deleted(job) {
      expectations.forget(keyOf(job));
      queue.add(keyOf(job));
      lookForOrphans(job);
    },
  });
  const lookAtPod = (pod: Parameters<typeof isAbandoned>[0]): void => {
    if (jobs.synced && isAbandoned(pod, jobs)) orphanQueue.add(keyOf(pod));
  };
  pods.addHandler({ added: lookAtPod, updated: lookAtPod });
  watchPods({
    pods,
    owners: jobs,
    ownerType: jobType,
    queue,
    expectations,
    selects: ({ spec }, pod) => matches(cachedSelector(spec?.selector), pod.metadata.labels),
  });

  const ready = async (): Promise<void> => {
    await Promise.all([jobs, pods, workloads, podGroups].map((informer) => informer.whenSynced()));
  };
  runController({ name: 'job', context, queue, workers: 5, ready, reconcile: (key) => reconcileJob(deps, key) });
  runController({
    name: 'job-orphans',
    context,
    queue: orphanQueue,
    ready: async () => {
      await ready();
      for (const pod of pods.list()) lookAtPod(pod);
    },
    reconcile: (key) => releaseOrphan({ client, jobs, pods }, key),
  });
  return { name: 'job', queues: [queue, orphanQueue] };
}
