export { defineKind, type KindDefinition, type KindVersion } from './builder.ts';
export { kruiseLeaderWorkerSetDefinition, leaderWorkerSetDefinition } from './leader-worker-set.ts';
export { podUnavailableBudgetDefinition } from './pod-unavailable-budget.ts';
export { disruptionLedgerDefinition } from './disruption-ledger.ts';
export { groupEvictionDefinition } from './group-eviction.ts';
export { downscalePodPickerDefinition } from './downscale-pod-picker.ts';
export { groupDefinitions } from './groups.ts';
