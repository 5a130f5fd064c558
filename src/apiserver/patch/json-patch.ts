import { deepClone, isObject, type JsonObject } from '../../machinery/values/index.ts';
import { LIMITS } from '../exchange/limits.ts';
import { OPERATIONS, type PatchOperation } from './json-patch-operations.ts';
import { PatchError, REJECTED } from './patch-error.ts';
import { checkDepth, PatchWork } from './patch-work.ts';

/** Applies a JSON Patch (RFC 6902). A failed test or a missing path is 422, a malformed patch 400. */
export function applyJsonPatch(original: JsonObject, patch: unknown): JsonObject {
  const operations = parseOperations(patch);
  // Only this copy is changed; values of the patch are copied when they are put into it.
  const document = { root: deepClone(original) as unknown };
  const work = new PatchWork();
  for (const operation of operations) OPERATIONS[operation.op](document, operation, work);
  const { root } = document;
  if (!isObject(root)) throw new PatchError('Invalid', 'the patch replaces the object with something else');
  checkDepth(root);
  return root;
}

function parseOperations(patch: unknown): PatchOperation[] {
  if (!Array.isArray(patch)) {
    throw new PatchError('BadRequest', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  }
  if (patch.length > LIMITS.jsonPatchOperations) {
    throw new PatchError(
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${LIMITS.jsonPatchOperations}, got ${patch.length}`,
    );
  }
  for (const operation of patch as unknown[]) {
    // An operation that says nothing is one of no kind.
    if (operation === null) throw new PatchError('Invalid', `${REJECTED}: Unexpected kind: null`);
    if (!isObject(operation)) throw new PatchError('BadRequest', 'a JSON patch operation must be an object');
    if (typeof operation.op !== 'string' || !Object.hasOwn(OPERATIONS, operation.op)) {
      throw new PatchError('Invalid', `${REJECTED}: Unexpected kind: ${String(JSON.stringify(operation.op))}`);
    }
    for (const name of ['path', 'from']) {
      if (operation[name] !== undefined && typeof operation[name] !== 'string') {
        throw new PatchError('BadRequest', `a JSON patch operation has a "${name}" that is not a string`);
      }
    }
  }
  return patch as PatchOperation[];
}
