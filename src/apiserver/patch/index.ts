export { type ApplyOutcome, type ApplyRequest, applyServerSide } from './apply/apply.ts';
export { type Conflict, type ConflictCause, conflictCauses, conflictMessage } from './apply/conflicts.ts';
export { type FieldSet, setOfPaths } from './apply/field-set.ts';
export { isSameApartFromTimes } from './apply/same-state.ts';
export { trackUpdate, type UpdateToTrack } from './apply/track-update.ts';
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { PatchError, type PatchErrorReason } from './patch-error.ts';
export { applyStrategicMergePatch } from './strategic/merge.ts';
