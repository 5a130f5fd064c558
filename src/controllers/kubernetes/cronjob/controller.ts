import { controllerOf } from '../../../api/core/owner.ts';
import { cronJobType, jobType } from '../../../api/resource-types.ts';
import { formatKey } from '../../../api/resource.ts';
import { defineController, watch } from '../../../machinery/runtime/index.ts';
import { indexByController, ReadYourWrites } from '../../shared/pod-control/index.ts';
import { reconcileCronJob } from './reconcile.ts';

export const cronJobController = defineController({
  name: 'cronjob',
  workers: 5,
  deps(context) {
    const { client, clock, informers } = context;
    const cronJobs = informers.of(cronJobType);
    const jobs = informers.of(jobType);
    indexByController(jobs);
    return {
      client,
      clock,
      events: context.eventsFor('cronjob-controller'),
      cronJobs,
      jobs,
      writes: new ReadYourWrites(),
    };
  },
  watches: ({ cronJobs, jobs }) => [
    watch(cronJobs),
    watch(jobs, (job) => {
      const owner = controllerOf(job);
      if (owner?.kind === 'CronJob') return formatKey({ namespace: job.metadata.namespace, name: owner.name });
    }),
  ],
  reconcile: reconcileCronJob,
});
