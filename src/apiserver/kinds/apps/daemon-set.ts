import {
  countTemplateGeneration,
  defaultDaemonSet,
  validateDaemonSet,
  validateDaemonSetStatus,
  validateDaemonSetUpdate,
} from '../../../api/apps/index.ts';
import type { DaemonSet } from '../../../api/generated/apps-v1.ts';
import { strategyOf } from '../../registry/strategy.ts';
import {
  ageColumn,
  integer,
  labelsText,
  nameColumn,
  selectorColumn,
  selectorText,
  since,
  templateCells,
  templateColumns,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { checkTemplate } from './template-check.ts';

export const daemonSetStrategy = strategyOf<DaemonSet>({
  defaults(object) {
    defaultDaemonSet(object);
    defaultPodTemplate(object.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    };
    countTemplateGeneration(object, undefined);
  },
  prepareForUpdate: (object, old) => countTemplateGeneration(object, old),
  validate: (object) => validateDaemonSet(object, checkTemplate),
  validateUpdate: (object, old) => validateDaemonSetUpdate(object, old, checkTemplate),
  validateStatusUpdate: (object, old) => validateDaemonSetStatus(object, old),
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      integer('Desired', 0, 'Nodes that should run a pod'),
      integer('Current', 0, 'Nodes that have one'),
      integer('Ready', 0, 'Nodes whose pod is ready'),
      integer('Up-to-date', 0, 'Nodes whose pod is made from the current template'),
      integer('Available', 0, 'Nodes whose pod has been ready long enough'),
      text('Node Selector', 0, 'Labels of the nodes it is for'),
      ageColumn,
      ...templateColumns,
      selectorColumn,
    ],
    cells(object, now) {
      const { spec, status } = object;
      return [
        object.metadata.name ?? '',
        status?.desiredNumberScheduled ?? 0,
        status?.currentNumberScheduled ?? 0,
        status?.numberReady ?? 0,
        status?.updatedNumberScheduled ?? 0,
        status?.numberAvailable ?? 0,
        labelsText(spec?.template?.spec?.nodeSelector),
        since(object.metadata.creationTimestamp, now),
        ...templateCells(spec?.template),
        selectorText(spec?.selector),
      ];
    },
  },
});
