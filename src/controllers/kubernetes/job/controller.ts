import { isJobFinished } from '../../../api/batch/job-state.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { jobType, podType } from '../../../api/resource-types.ts';
import { keyOf } from '../../../api/resource.ts';
import {
  type Controller,
  defineController,
  FeatureGates,
  type Watch,
  watch,
} from '../../../machinery/runtime/index.ts';
import { matches } from '../../../machinery/values/index.ts';
import {
  cachedSelector,
  createPodControl,
  Expectations,
  indexByController,
  ReadYourWrites,
  ownedBy,
  watchOwners,
  watchPods,
} from '../../shared/pod-control/index.ts';
import { podGroupType, workloadType } from '../../shared/workload-groups/index.ts';
import { isAbandoned, releaseOrphan } from './orphans.ts';
import { PodWriter } from './pod-writer.ts';
import { type JobDeps, reconcileJob } from './reconcile.ts';

/** Runs Jobs, and lets go of pods whose Job is gone. */
export function createJobController({
  gates = new FeatureGates(),
}: {
  gates?: FeatureGates | undefined;
} = {}): Controller {
  return defineController({
    name: 'job',
    workers: 5,
    deps(context): JobDeps {
      const { client, clock, informers } = context;
      const pods = informers.of(podType);
      const workloads = informers.of(workloadType);
      const podGroups = informers.of(podGroupType);
      indexByController(pods);
      indexByController(workloads);
      indexByController(podGroups);
      const events = context.eventsFor('job-controller');
      const expectations = new Expectations(clock);
      const writes = new ReadYourWrites();
      const control = createPodControl(client, events);
      return {
        client,
        clock,
        events,
        jobs: informers.of(jobType),
        pods,
        workloads,
        podGroups,
        expectations,
        writes,
        writer: new PodWriter({ client, control, pods, expectations, writes }),
        failures: new Map(),
        automaticGangs: gates.enabled('WorkloadWithJob') && gates.enabled('GenericWorkload'),
      };
    },
    watches: ({ expectations, jobs, pods }) => [
      watchOwners(jobs, expectations),
      watchPods({
        pods,
        owners: jobs,
        ownerType: jobType,
        expectations,
        selects: ({ spec }, pod) => matches(cachedSelector(spec?.selector), pod.metadata.labels),
      }),
    ],
    reconcile: reconcileJob,
    loops: [
      {
        name: 'job-orphans',
        watches: watchOrphans,
        // Pods may have been seen before the Jobs were.
        initial: ({ jobs, pods }) =>
          pods
            .list()
            .filter((pod) => isAbandoned(pod, jobs))
            .map(keyOf),
        reconcile: releaseOrphan,
      },
    ],
  });
}

/** Wakes pods whose Job has finished or gone, or was never there. */
function watchOrphans({ jobs, pods }: Pick<JobDeps, 'jobs' | 'pods'>): Watch[] {
  const podsOf = (job: Job): string[] => ownedBy(pods, job).map(keyOf);
  const abandoned = (pod: Pod): string | undefined => (jobs.synced && isAbandoned(pod, jobs) ? keyOf(pod) : undefined);
  return [
    watch(jobs, {
      added: (job) => (isJobFinished(job) ? podsOf(job) : []),
      updated: (job, old) => (isJobFinished(job) && !isJobFinished(old) ? podsOf(job) : []),
      deleted: podsOf,
    }),
    watch(pods, { added: abandoned, updated: abandoned }),
  ];
}
