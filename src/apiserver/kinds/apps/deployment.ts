import {
  defaultDeployment,
  pickerWarnings,
  validateDeployment,
  validateDeploymentStatus,
  validateDeploymentUpdate,
} from '../../../api/apps/index.ts';
import type { Deployment } from '../../../api/generated/apps-v1.ts';
import { FieldPath, semanticEqual } from '../../../machinery/values/index.ts';
import {
  ageColumn,
  integer,
  nameColumn,
  readyColumn,
  selectorColumn,
  selectorText,
  table,
  templateColumns,
} from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
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
  table: table([
    nameColumn,
    readyColumn,
    integer('Up-to-date', 'Pods made from the current template', ({ status }) => status?.updatedReplicas ?? 0),
    integer('Available', 'Pods that have been ready long enough', ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    ...templateColumns<Deployment>(({ spec }) => spec?.template),
    selectorColumn(({ spec }) => selectorText(spec?.selector)),
  ]),
});
