import {
  defaultReplicaSet,
  pickerWarnings,
  validateReplicaSet,
  validateReplicaSetStatus,
  validateReplicaSetUpdate,
} from '../../../api/apps/index.ts';
import {
  defaultReplicationController,
  validateReplicationController,
  validateReplicationControllerStatus,
} from '../../../api/core/replication-controller.ts';
import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { ReplicationController } from '../../../api/generated/core-v1.ts';
import { FieldPath } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy, TableLayout } from '../../registry/strategy.ts';
import {
  ageColumn,
  containerImages,
  containerNames,
  integer,
  labelsText,
  nameColumn,
  selectorText,
  since,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { checkTemplate } from './template-check.ts';

const asReplicaSet = (object: ApiObject): ReplicaSet => object as unknown as ReplicaSet;
const asController = (object: ApiObject): ReplicationController => object as unknown as ReplicationController;
const PICKER = FieldPath.of('spec', 'downscalePodPicker');

function replicaTable(selector: (object: ApiObject) => string): TableLayout {
  return {
    columns: [
      nameColumn,
      integer('Desired', 0, 'Pods wanted'),
      integer('Current', 0, 'Pods that exist'),
      integer('Ready', 0, 'Pods that are ready'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asReplicaSet(object);
      return [
        object.metadata.name ?? '',
        spec?.replicas ?? 0,
        status?.replicas ?? 0,
        status?.readyReplicas ?? 0,
        since(object.metadata.creationTimestamp, now),
        containerNames(spec?.template?.spec?.containers),
        containerImages(spec?.template?.spec?.containers),
        selector(object),
      ];
    },
  };
}

export const replicaSetStrategy: Strategy = {
  defaults(object) {
    const replicaSet = asReplicaSet(object);
    defaultReplicaSet(replicaSet);
    defaultPodTemplate(replicaSet.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validate: (object) => validateReplicaSet(asReplicaSet(object), checkTemplate),
  validateUpdate: (object, old) => validateReplicaSetUpdate(asReplicaSet(object), asReplicaSet(old), checkTemplate),
  validateStatusUpdate: (object) => validateReplicaSetStatus(asReplicaSet(object)),
  warnings: (object) => pickerWarnings(asReplicaSet(object).spec?.downscalePodPicker, PICKER),
  generation: 'spec',
  fields: (object) => ({ 'status.replicas': String(asReplicaSet(object).status?.replicas ?? 0) }),
  table: replicaTable((object) => selectorText(asReplicaSet(object).spec?.selector)),
};

export const replicationControllerStrategy: Strategy = {
  defaults(object) {
    const controller = asController(object);
    defaultPodTemplate(controller.spec?.template);
    defaultReplicationController(controller);
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validate: (object) => validateReplicationController(asController(object), checkTemplate),
  validateUpdate: (object) => validateReplicationController(asController(object), checkTemplate),
  validateStatusUpdate: (object) => validateReplicationControllerStatus(asController(object)),
  generation: 'spec',
  fields: (object) => ({ 'status.replicas': String(asController(object).status?.replicas ?? 0) }),
  garbageCollection: 'Orphan',
  table: replicaTable((object) => labelsText(asController(object).spec?.selector)),
};
