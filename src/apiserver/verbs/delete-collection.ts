import { deepClone } from '../../machinery/values/index.ts';
import type { Call } from '../call.ts';
import type { ApiResponse } from '../exchange.ts';
import type { ApiObject } from '../object.ts';
import { apiVersion, collectionPrefix } from '../registry/row.ts';
import { readDeleteOptions } from '../request/delete-options.ts';
import { parseSelection } from '../request/selection.ts';
import { encodeAnswer, negotiateObject } from '../response/respond.ts';
import { ApiError } from '../status.ts';
import { inVersion } from '../stored/encoding.ts';
import { deleteObject } from './delete.ts';
import { current } from './list.ts';

/** Deletes what the selectors pick, each object by the rules of a single delete, and answers with the list. */
export async function deleteCollection(call: Call): Promise<ApiResponse> {
  const { kernel, row, info, version } = call;
  const options = readDeleteOptions(kernel.codec, call.request, call.options);
  const selection = parseSelection(call.options.query, { row, objects: kernel.objects });
  const revision = String(kernel.store.revision);
  const entries = current(call, collectionPrefix(row, info.namespace), selection);
  const deleted = await Promise.all(
    entries.map(async (entry): Promise<ApiObject | undefined> => {
      const { metadata } = kernel.objects.readLean(entry);
      try {
        const outcome = await deleteObject(call, metadata.name as string, {
          options,
          anonymous: true,
          namespace: metadata.namespace,
        });
        return outcome.object();
      } catch (error) {
        // Someone else was faster; the caller wanted it gone.
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }
    }),
  );
  const items = deleted
    .filter((object) => object !== undefined)
    .map((object) => inVersion(call, object, deepClone))
    .map((object) => {
      if (row.custom) return object;
      const { kind: _kind, apiVersion: _version, ...rest } = object;
      return rest;
    });
  const document = {
    kind: row.listKind,
    apiVersion: apiVersion(row.group, version.name),
    metadata: { resourceVersion: revision },
    items,
  };
  return encodeAnswer(call, 200, document, { ...negotiateObject(call), transform: undefined });
}
