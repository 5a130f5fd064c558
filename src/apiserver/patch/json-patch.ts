import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { deepClone, isObject, type JsonObject } from '../../machinery/values/index.ts';
import { PatchError } from './patch-error.ts';

const MAX_OPERATIONS = 10_000;
const MAX_COPIED_BYTES = 3 * 1024 * 1024;
/** How the real server puts it; it says no more. */
const REJECTED = 'the server rejected our request due to an error in our request';
const OPERATIONS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** Applies a JSON Patch (RFC 6902). A failed test or a missing path is 422, a malformed patch 400. */
export function applyJsonPatch(original: JsonObject, patch: unknown): JsonObject {
  const operations = parseOperations(patch);
  let document: unknown = deepClone(original);
  let copiedBytes = 0;
  for (const [index, operation] of operations.entries()) {
    if (operation.op === 'copy') copiedBytes += copySize(document, operation.from, MAX_COPIED_BYTES - copiedBytes);
    document = applyOne(document, operation, index);
  }
  if (!isObject(document)) throw new PatchError('Invalid', 'the patch replaces the object with something else');
  return document;
}

function parseOperations(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) {
    throw new PatchError('BadRequest', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  }
  if (patch.length > MAX_OPERATIONS) {
    throw new PatchError(
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  for (const operation of patch as unknown[]) {
    if (!isObject(operation)) throw new PatchError('BadRequest', 'a JSON patch operation must be an object');
    if (!OPERATIONS.has(operation.op as string)) {
      throw new PatchError('Invalid', `${REJECTED}: Unexpected kind: ${String(JSON.stringify(operation.op))}`);
    }
    for (const name of ['path', 'from']) {
      if (operation[name] !== undefined && typeof operation[name] !== 'string') {
        throw new PatchError('BadRequest', `a JSON patch operation has a "${name}" that is not a string`);
      }
    }
  }
  return patch as Operation[];
}

function applyOne(document: unknown, operation: Operation, index: number): unknown {
  // A value moved into itself would make the document a circle.
  if (operation.op === 'move' && operation.path?.startsWith(`${operation.from ?? ''}/`)) {
    throw new PatchError('Invalid', `${REJECTED}: move operation does not apply: cannot move a value into itself`);
  }
  try {
    // The value is cloned because the library keeps references to it inside the document.
    return fastJsonPatch.applyOperation(document, deepClone(operation), true, true, true, index).newDocument;
  } catch (error) {
    throw new PatchError('Invalid', `${REJECTED}: ${describeFailure(operation, error)}`, { cause: error });
  }
}

function describeFailure({ op, path }: Operation, error: unknown): string {
  const name = (error as { name?: string }).name ?? '';
  if (name === 'TEST_OPERATION_FAILED') return `testing value ${path} failed: test failed`;
  if (name === 'OPERATION_VALUE_REQUIRED' || name === 'OPERATION_VALUE_CANNOT_CONTAIN_UNDEFINED') {
    return `${op} operation does not apply: value is missing`;
  }
  return `${op} operation does not apply: doc is missing path: ${JSON.stringify(path ?? '')}: missing value`;
}

/** Bytes a copy adds, measured only as far as the limit. */
function copySize(document: unknown, from: string | undefined, allowed: number): number {
  let value: unknown;
  try {
    value = fastJsonPatch.getValueByPointer(document, from ?? '');
  } catch {
    return 0;
  }
  const size = value === undefined ? 0 : JSON.stringify(value).length;
  if (size > allowed) {
    throw new PatchError(
      'Invalid',
      `Unable to copy: the accumulated size exceeds the limit of ${MAX_COPIED_BYTES} bytes`,
    );
  }
  return size;
}
