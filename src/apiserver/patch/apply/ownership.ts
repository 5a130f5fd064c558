import type { ObjectNode } from '../../../api/schema/index.ts';
import type { JsonObject } from '../../../machinery/values/index.ts';
import { type Comparison, compareObjects } from './compare.ts';
import { type FieldSet, intersect, isEmptySet, setOfPaths, subtract, subtractDeep } from './field-set.ts';
import type { Manager, Managers } from './managed-fields.ts';

/** Fields nobody owns: the server sets them, or they say which object it is. */
const UNOWNED = setOfPaths([
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'creationTimestamp'],
  ['metadata', 'selfLink'],
  ['metadata', 'uid'],
  ['metadata', 'clusterName'],
  ['metadata', 'generation'],
  ['metadata', 'managedFields'],
  ['metadata', 'resourceVersion'],
]);

export const withoutUnowned = (fields: FieldSet): FieldSet => subtract(fields, UNOWNED);

export interface Change {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly node: ObjectNode;
  /** Paths this endpoint resets; with all below them they are never owned through it. */
  readonly resetFields: FieldSet;
}

export function compareChange({ before, after, node, resetFields }: Change): Comparison {
  const { changed, removed } = compareObjects(before, after, node);
  return { changed: subtractDeep(changed, resetFields), removed: subtractDeep(removed, resetFields) };
}

export interface OwnershipChange {
  /** The managers without what others took from them or what is gone. */
  readonly managers: Managers;
  /** What each manager other than the writer would lose because its value changes. */
  readonly taken: ReadonlyMap<string, FieldSet>;
}

/** Takes changed and removed fields from every manager but the writer. */
export function releaseFields(managers: Managers, writer: string, comparison: Comparison): OwnershipChange {
  const result = new Map<string, Manager>();
  const taken = new Map<string, FieldSet>();
  for (const [id, manager] of managers) {
    let { fields } = manager;
    if (id !== writer) {
      const conflict = intersect(fields, comparison.changed);
      if (!isEmptySet(conflict)) {
        taken.set(id, conflict);
        fields = subtract(fields, conflict);
      }
      fields = subtract(fields, comparison.removed);
    }
    if (!isEmptySet(fields)) result.set(id, fields === manager.fields ? manager : { ...manager, fields });
  }
  return { managers: result, taken };
}
