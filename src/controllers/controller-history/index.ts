/** Remembers the pod templates of StatefulSets and DaemonSets as ControllerRevisions. */
export { nameHash, stableJson } from './hash.ts';
export { claimRevisions, deleteRevisions, type HistoryDeps, revisionFor, type UpdateRevision } from './history.ts';
export { isSameData, revisionsBeyond, templateOf } from './revision.ts';
