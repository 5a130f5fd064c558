import { controllerOf } from '../../api/core/owner.ts';
import type { Job } from '../../api/generated/batch-v1.ts';
import { cronJobType, jobType } from '../../api/resource-types.ts';
import { formatKey, keyOf } from '../../api/resource.ts';
import {
  type RunningController,
  runController,
  type StartController,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { indexByController, OwnWrites } from '../pod-control/index.ts';
import { reconcileCronJob } from './reconcile.ts';

export const startCronJobController: StartController = (context): RunningController => {
  const { client, clock, informers, metrics } = context;
  const cronJobs = informers.of(cronJobType);
  const jobs = informers.of(jobType);
  indexByController(jobs);
  const queue = new WorkQueue({ name: 'cronjob', clock, metrics });
  const events = context.eventsFor('cronjob-controller');
  const deps = { client, clock, events, cronJobs, jobs, writes: new OwnWrites() };

  const look = (cronJob: Parameters<typeof keyOf>[0]): void => queue.add(keyOf(cronJob));
  cronJobs.addHandler({ added: look, updated: look, deleted: look });
  const wakeOwner = (job: Job): void => {
    const owner = controllerOf(job);
    if (owner?.kind === 'CronJob') queue.add(formatKey({ namespace: job.metadata.namespace, name: owner.name }));
  };
  jobs.addHandler({ added: wakeOwner, updated: wakeOwner, deleted: wakeOwner });
  runController({
    name: 'cronjob',
    context,
    queue,
    workers: 5,
    ready: async () => {
      await Promise.all([cronJobs.whenSynced(), jobs.whenSynced()]);
    },
    reconcile: (key) => reconcileCronJob(deps, key),
  });
  return { name: 'cronjob', queues: [queue] };
};
