import {
  defaultDeployment,
  pickerWarnings,
  validateDeployment,
  validateDeploymentStatus,
  validateDeploymentUpdate,
} from '../../../api/apps/index.ts';
import type { Deployment } from '../../../api/generated/apps-v1.ts';
import { FieldPath, semanticEqual } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import {
  ageColumn,
  containerImages,
  containerNames,
  integer,
  nameColumn,
  selectorText,
  since,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { checkTemplate } from './template-check.ts';

const asDeployment = (object: ApiObject): Deployment => object as unknown as Deployment;
const PICKER = FieldPath.of('spec', 'downscalePodPicker');

export const deploymentStrategy: Strategy = {
  defaults(object) {
    const deployment = asDeployment(object);
    defaultDeployment(deployment);
    defaultPodTemplate(deployment.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = {};
  },
  prepareForStatusUpdate(object, old) {
    if (old.metadata.labels === undefined) delete object.metadata.labels;
    else object.metadata.labels = old.metadata.labels;
  },
  validate: (object) => validateDeployment(asDeployment(object), checkTemplate),
  validateUpdate: (object, old) => validateDeploymentUpdate(asDeployment(object), asDeployment(old), checkTemplate),
  validateStatusUpdate: (object, old) => validateDeploymentStatus(asDeployment(object), asDeployment(old)),
  warnings: (object) => pickerWarnings(asDeployment(object).spec?.downscalePodPicker, PICKER),
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
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asDeployment(object);
      return [
        object.metadata.name ?? '',
        `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
        status?.updatedReplicas ?? 0,
        status?.availableReplicas ?? 0,
        since(object.metadata.creationTimestamp, now),
        containerNames(spec?.template?.spec?.containers),
        containerImages(spec?.template?.spec?.containers),
        selectorText(spec?.selector),
      ];
    },
  },
};
