export { defaultInstall, type KindsFrom, installObjects, type InstallOptions } from '../../webhook/index.ts';
export { startOperator } from './operator.ts';
export type { Operator, OperatorOptions } from './options.ts';
export { uninstall } from './uninstall.ts';
export { findGroupKinds, findRequestKinds } from './group-kinds.ts';
export { installAndWait } from './installation.ts';
