import {
  defaultStatefulSet,
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from '../../../api/apps/index.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import { checkDnsLabel } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { ageColumn, containerImages, containerNames, nameColumn, since, text } from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { checkTemplate } from './template-check.ts';

const asSet = (object: ApiObject): StatefulSet => object as unknown as StatefulSet;

export const statefulSetStrategy: Strategy = {
  checkName: checkDnsLabel,
  defaults(object) {
    const set = asSet(object);
    defaultStatefulSet(set);
    defaultPodTemplate(set.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validate: (object) => validateStatefulSet(asSet(object), checkTemplate),
  validateUpdate: (object, old) => validateStatefulSetUpdate(asSet(object), asSet(old), checkTemplate),
  validateStatusUpdate: (object, old) => validateStatefulSetStatus(asSet(object), asSet(old)),
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Ready', 0, 'Pods that are ready, of those wanted'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
    ],
    cells(object, now) {
      const { spec, status } = asSet(object);
      const containers = spec?.template?.spec?.containers;
      return [
        object.metadata.name ?? '',
        `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
        since(object.metadata.creationTimestamp, now),
        containerNames(containers),
        containerImages(containers),
      ];
    },
  },
};
