import type { ObjectNode } from '../../../api/schema/index.ts';
import { deepClone, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { compareObjects } from './compare.ts';
import { type FieldSet, subtract } from './field-set.ts';
import { fieldSetOf } from './field-set-of.ts';
import { UnkeyedItemError } from './path-element.ts';
import { withoutManagedFields } from './track-update.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const annotations = isObject(object.metadata) ? object.metadata.annotations : undefined;
  return isObject(annotations) ? annotations : undefined;
}

/**
 * Fields kubectl set by client-side apply and nobody changed since: kubectl may take these over by server-side apply
 * without a conflict. Undefined when the object tells nothing about it.
 */
export function fieldsOfLastApplied(live: JsonObject, node: ObjectNode, apiVersion: string): FieldSet | undefined {
  const text = annotationsOf(live)?.[ANNOTATION];
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    const applied: unknown = JSON.parse(text);
    if (!isObject(applied) || applied.apiVersion !== apiVersion) return undefined;
    const { changed, removed } = compareObjects(applied, withoutManagedFields(live), node);
    return subtract(subtract(fieldSetOf(applied, node), changed), removed);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof UnkeyedItemError) return undefined;
    throw error;
  }
}

/** Keeps kubectl's client-side annotation in step when kubectl itself applies, so that going back works. */
export function syncLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (typeof annotations?.[ANNOTATION] !== 'string' || annotations[ANNOTATION] === '') return object;
  const copy = deepClone(config);
  delete annotationsOf(copy)?.[ANNOTATION];
  const metadata = object.metadata as JsonObject;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...annotations, [ANNOTATION]: `${JSON.stringify(copy)}\n` } },
  };
}
