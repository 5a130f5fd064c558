import {
  defaultStatefulSet,
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from '../../../api/apps/index.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import { checkDnsLabel } from '../../../machinery/values/index.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { ageColumn, nameColumn, since, templateCells, templateColumns, text } from '../columns.ts';
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
  table: {
    columns: [nameColumn, text('Ready', 0, 'Pods that are ready, of those wanted'), ageColumn, ...templateColumns],
    cells(object, now) {
      const { spec, status } = object;
      return [
        object.metadata.name ?? '',
        `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
        since(object.metadata.creationTimestamp, now),
        ...templateCells(spec?.template),
      ];
    },
  },
});
