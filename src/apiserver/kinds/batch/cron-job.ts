import { defaultCronJob, validateCronJob, validateCronJobUpdate } from '../../../api/batch/index.ts';
import type { CronJob } from '../../../api/generated/batch-v1.ts';
import { type Column, strategyOf } from '../../registry/strategy.ts';
import { checkTemplate } from '../apps/template-check.ts';
import {
  ageColumn,
  integer,
  nameColumn,
  NONE,
  selectorColumn,
  selectorText,
  since,
  templateCells,
  templateColumns,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';

const suspend: Column = { name: 'Suspend', type: 'boolean', description: 'Whether it starts no Jobs' };

export const cronJobStrategy = strategyOf<CronJob>({
  defaults(object) {
    defaultCronJob(object);
    defaultPodTemplate(object.spec?.jobTemplate?.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = {};
  },
  validate: (object) => validateCronJob(object, checkTemplate),
  validateUpdate: (object, old) => validateCronJobUpdate(object, old, checkTemplate),
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
      ...templateColumns,
      selectorColumn,
    ],
    cells(object, now) {
      const { spec, status } = object;
      const job = spec?.jobTemplate?.spec;
      return [
        object.metadata.name ?? '',
        spec?.schedule ?? '',
        spec?.timeZone ?? NONE,
        spec?.suspend ? 'True' : 'False',
        status?.active?.length ?? 0,
        status?.lastScheduleTime ? since(status.lastScheduleTime, now) : NONE,
        since(object.metadata.creationTimestamp, now),
        ...templateCells(job?.template),
        selectorText(job?.selector),
      ];
    },
  },
});
