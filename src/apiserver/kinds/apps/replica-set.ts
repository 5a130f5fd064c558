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
import {
  ageColumn,
  integer,
  labelsText,
  nameColumn,
  selectorColumn,
  selectorText,
  table,
  templateColumns,
} from '../../registry/columns.ts';
import { strategyOf, type TableLayout } from '../../registry/strategy.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { checkTemplate } from './template-check.ts';

const PICKER = FieldPath.of('spec', 'downscalePodPicker');

function replicaTable<T extends ReplicaSet | ReplicationController>(selector: (object: T) => string): TableLayout<T> {
  return table([
    nameColumn,
    integer('Desired', 'Pods wanted', ({ spec }) => spec?.replicas ?? 0),
    integer('Current', 'Pods that exist', ({ status }) => status?.replicas ?? 0),
    integer('Ready', 'Pods that are ready', ({ status }) => status?.readyReplicas ?? 0),
    ageColumn,
    ...templateColumns<T>(({ spec }) => spec?.template),
    selectorColumn(selector),
  ]);
}

export const replicaSetStrategy = strategyOf<ReplicaSet>({
  defaults(object) {
    defaultReplicaSet(object);
    defaultPodTemplate(object.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validate: (object) => validateReplicaSet(object, checkTemplate),
  validateUpdate: (object, old) => validateReplicaSetUpdate(object, old, checkTemplate),
  validateStatusUpdate: (object) => validateReplicaSetStatus(object),
  warnings: (object) => pickerWarnings(object.spec?.downscalePodPicker, PICKER),
  generation: 'spec',
  fields: (object) => ({ 'status.replicas': String(object.status?.replicas ?? 0) }),
  table: replicaTable((object) => selectorText(object.spec?.selector)),
});

export const replicationControllerStrategy = strategyOf<ReplicationController>({
  defaults(object) {
    defaultPodTemplate(object.spec?.template);
    defaultReplicationController(object);
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validate: (object) => validateReplicationController(object, checkTemplate),
  validateUpdate: (object) => validateReplicationController(object, checkTemplate),
  validateStatusUpdate: (object) => validateReplicationControllerStatus(object),
  generation: 'spec',
  fields: (object) => ({ 'status.replicas': String(object.status?.replicas ?? 0) }),
  garbageCollection: 'Orphan',
  table: replicaTable((object) => labelsText(object.spec?.selector)),
});
