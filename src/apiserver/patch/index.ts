/** The four kinds of patches and who owns which field. Plain values in, plain values out: no kinds, no requests. */
export { applyServerSide } from './apply/apply.ts';
export { conflictCauses, conflictMessage } from './apply/conflicts.ts';
export { createdFields } from './apply/created-fields.ts';
export { type FieldSet, setOfPaths } from './apply/field-set.ts';
export { trackUpdate } from './apply/track-update.ts';
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { PatchError } from './patch-error.ts';
export { applyStrategicMergePatch } from './strategic/merge.ts';
export { UnkeyedItemError } from './apply/path-element.ts';
