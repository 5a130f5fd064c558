import {
  defaultDeployment,
  pickerWarnings,
  validateDeployment,
  validateDeploymentStatus,
  validateDeploymentUpdate,
} from '../../../api/apps/index.ts';
import type { Deployment } from '../../../api/generated/apps-v1.ts';
import { FieldPath, semanticEqual } from '../../../machinery/values/index.ts';
import { strategyOf } from '../../registry/strategy.ts';
import {
  ageColumn,
  integer,
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

const PICKER = FieldPath.of('spec', 'downscalePodPicker');

export const deploymentStrategy = strategyOf<Deployment>({
  defaults(object) {
    defaultDeployment(object);
    defaultPodTemplate(object.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = {};
  },
  prepareForStatusUpdate(object, old) {
    if (old.metadata.labels === undefined) delete object.metadata.labels;
    else object.metadata.labels = old.metadata.labels;
  },
  validate: (object) => validateDeployment(object, checkTemplate),
  validateUpdate: (object, old) => validateDeploymentUpdate(object, old, checkTemplate),
  validateStatusUpdate: (object, old) => validateDeploymentStatus(object, old),
  warnings: (object) => pickerWarnings(object.spec?.downscalePodPicker, PICKER),
  // Annotations count too: clients wait for the controller to have seen them.
  generation: (object, old) =>
    !semanticEqual(object['spec'], old['spec']) ||
    !semanticEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
  table: {
    columns: [
      nameColumn,
      text('Ready', 0, 'Pods that are ready, of those wanted'),
      integer('Up-to-date', 0, 'Pods made from the current template'),
      integer('Available', 0, 'Pods that have been ready long enough'),
      ageColumn,
      ...templateColumns,
      selectorColumn,
    ],
    cells(object, now) {
      const { spec, status } = object;
      return [
        object.metadata.name ?? '',
        `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
        status?.updatedReplicas ?? 0,
        status?.availableReplicas ?? 0,
        since(object.metadata.creationTimestamp, now),
        ...templateCells(spec?.template),
        selectorText(spec?.selector),
      ];
    },
  },
});
