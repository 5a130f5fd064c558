import {
  defaultStatefulSet,
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from '../../../api/apps/index.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import { checkDnsLabel } from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, readyColumn, table, templateColumns } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { checkTemplate } from './template-check.ts';

export const statefulSetStrategy = strategyOf<StatefulSet>({
  checkName: checkDnsLabel,
  defaults(object) {
    defaultStatefulSet(object);
    defaultPodTemplate(object.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validate: (object) => validateStatefulSet(object, checkTemplate),
  validateUpdate: (object, old) => validateStatefulSetUpdate(object, old, checkTemplate),
  validateStatusUpdate: (object, old) => validateStatefulSetStatus(object, old),
  generation: 'spec',
  table: table<StatefulSet>([
    nameColumn,
    readyColumn,
    ageColumn,
    ...templateColumns<StatefulSet>(({ spec }) => spec?.template),
  ]),
});
