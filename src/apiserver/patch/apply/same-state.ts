import { deepEqual, type JsonObject } from '../../../machinery/values/index.ts';
import { managedFieldsOf, withoutManagedFields } from './track-update.ts';

/** True when two states differ at most in the times of their managedFields: then there is nothing to write. */
export function isSameApartFromTimes(before: JsonObject, after: JsonObject): boolean {
  const entries = (object: JsonObject) =>
    (managedFieldsOf(object) ?? []).map((entry) => ({ ...entry, time: undefined }));
  return (
    deepEqual(withoutManagedFields(before), withoutManagedFields(after)) && deepEqual(entries(before), entries(after))
  );
}
