import { defaultCronJob, validateCronJob, validateCronJobUpdate } from '../../../api/batch/index.ts';
import type { CronJob } from '../../../api/generated/batch-v1.ts';
import type { ApiObject } from '../../object.ts';
import type { Column, Strategy } from '../../registry/strategy.ts';
import { checkTemplate } from '../apps/template-check.ts';
import {
  ageColumn,
  containerImages,
  containerNames,
  integer,
  nameColumn,
  NONE,
  selectorText,
  since,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';

const asCronJob = (object: ApiObject): CronJob => object as unknown as CronJob;
const suspend: Column = { name: 'Suspend', type: 'boolean', description: 'Whether it starts no Jobs' };

export const cronJobStrategy: Strategy = {
  defaults(object) {
    const cronJob = asCronJob(object);
    defaultCronJob(cronJob);
    defaultPodTemplate(cronJob.spec?.jobTemplate?.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = {};
  },
  validate: (object) => validateCronJob(asCronJob(object), checkTemplate),
  validateUpdate: (object, old) => validateCronJobUpdate(asCronJob(object), asCronJob(old), checkTemplate),
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Schedule', 0, 'When Jobs are started'),
      text('Timezone', 0, 'Where the schedule is read'),
      suspend,
      integer('Active', 0, 'Jobs that run'),
      text('Last Schedule', 0, 'Time since the last start'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asCronJob(object);
      const job = spec?.jobTemplate?.spec;
      return [
        object.metadata.name ?? '',
        spec?.schedule ?? '',
        spec?.timeZone ?? NONE,
        spec?.suspend ? 'True' : 'False',
        status?.active?.length ?? 0,
        status?.lastScheduleTime ? since(status.lastScheduleTime, now) : NONE,
        since(object.metadata.creationTimestamp, now),
        containerNames(job?.template?.spec?.containers),
        containerImages(job?.template?.spec?.containers),
        selectorText(job?.selector),
      ];
    },
  },
};
