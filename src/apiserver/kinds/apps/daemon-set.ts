import {
  countTemplateGeneration,
  defaultDaemonSet,
  validateDaemonSet,
  validateDaemonSetStatus,
  validateDaemonSetUpdate,
} from '../../../api/apps/index.ts';
import type { DaemonSet } from '../../../api/generated/apps-v1.ts';
import {
  ageColumn,
  integer,
  labelsText,
  nameColumn,
  selectorColumn,
  selectorText,
  table,
  templateColumns,
  text,
} from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
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
  table: table([
    nameColumn,
    integer('Desired', 'Nodes that should run a pod', ({ status }) => status?.desiredNumberScheduled ?? 0),
    integer('Current', 'Nodes that have one', ({ status }) => status?.currentNumberScheduled ?? 0),
    integer('Ready', 'Nodes whose pod is ready', ({ status }) => status?.numberReady ?? 0),
    integer(
      'Up-to-date',
      'Nodes whose pod is made from the current template',
      ({ status }) => status?.updatedNumberScheduled ?? 0,
    ),
    integer('Available', 'Nodes whose pod has been ready long enough', ({ status }) => status?.numberAvailable ?? 0),
    text('Node Selector', 'Labels of the nodes it is for', ({ spec }) =>
      labelsText(spec?.template?.spec?.nodeSelector),
    ),
    ageColumn,
    ...templateColumns<DaemonSet>(({ spec }) => spec?.template),
    selectorColumn(({ spec }) => selectorText(spec?.selector)),
  ]),
});
