export { SNAPSHOT_KINDS } from './kinds.ts';
export { readSnapshot, type Snapshot, SNAPSHOT_FORMAT, SNAPSHOT_VERSION, takeSnapshot } from './snapshot.ts';
