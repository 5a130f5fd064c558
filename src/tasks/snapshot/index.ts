export { SNAPSHOT_KINDS } from './kinds.ts';
export { readSnapshot, type Snapshot, takeSnapshot } from './snapshot.ts';
