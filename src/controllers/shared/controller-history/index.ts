/** Remembers the pod templates of StatefulSets and DaemonSets as ControllerRevisions. */
export { claimRevisions, deleteRevisions, revisionFor } from './history.ts';
export { newRevision, revisionsBeyond, templateOf } from './revision.ts';
