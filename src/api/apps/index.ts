export { defaultDeployment, defaultReplicaSet } from './defaults.ts';
export { defaultPicker, dropDisabledPicker } from './picker-defaults.ts';
export { pickerWarnings } from './picker-validation.ts';
export { type TemplateCheck } from './replicas-validation.ts';
export {
  validateDeployment,
  validateDeploymentStatus,
  validateDeploymentUpdate,
  validateReplicaSet,
  validateReplicaSetStatus,
  validateReplicaSetUpdate,
} from './validation.ts';
export { validateControllerRevision, validateControllerRevisionUpdate } from './controller-revision.ts';
export {
  countTemplateGeneration,
  defaultDaemonSet,
  validateDaemonSet,
  validateDaemonSetStatus,
  validateDaemonSetUpdate,
} from './daemon-set.ts';
export {
  defaultStatefulSet,
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from './stateful-set.ts';
