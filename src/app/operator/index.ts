export { defaultInstall, type GroupKinds, installObjects } from '../../webhook/index.ts';
export { type Operator, type OperatorOptions, startOperator } from './operator.ts';
export { PreflightError } from './preflight.ts';
export { uninstall, type UninstallOptions } from './uninstall.ts';
export { findGroupKinds } from './group-kinds.ts';
