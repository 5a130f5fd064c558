import { defaultCronJob, validateCronJob, validateCronJobUpdate } from '../../../api/batch/index.ts';
import type { CronJob } from '../../../api/generated/batch-v1.ts';
import {
  ageColumn,
  flag,
  integer,
  nameColumn,
  NONE,
  selectorColumn,
  selectorText,
  since,
  table,
  templateColumns,
  text,
} from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { checkTemplate } from '../apps/template-check.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';

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
  table: table([
    nameColumn,
    text('Schedule', 'When Jobs are started', ({ spec }) => spec?.schedule ?? ''),
    text('Timezone', 'Where the schedule is read', ({ spec }) => spec?.timeZone ?? NONE),
    flag('Suspend', 'Whether it starts no Jobs', ({ spec }) => (spec?.suspend ? 'True' : 'False')),
    integer('Active', 'Jobs that run', ({ status }) => status?.active?.length ?? 0),
    text('Last Schedule', 'Time since the last start', ({ status }, { now }) =>
      status?.lastScheduleTime ? since(status.lastScheduleTime, now) : NONE,
    ),
    ageColumn,
    ...templateColumns<CronJob>(({ spec }) => spec?.jobTemplate?.spec?.template),
    selectorColumn(({ spec }) => selectorText(spec?.jobTemplate?.spec?.selector)),
  ]),
});
