import { deepClone } from '../../machinery/values/index.ts';
import type { Call } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import { apiVersion, collectionPrefix } from '../registry/resource.ts';
import { readDeleteOptions } from './delete-options.ts';
import { parseSelectors, selectionOf } from './selection.ts';
import { negotiate } from '../request/negotiate.ts';
import { encodeAnswer } from '../response/respond.ts';
import { ApiError } from '../exchange/status.ts';
import { allInVersion } from '../stored/encoding.ts';
import { whenWritten } from '../stored/pending-writes.ts';
import { deleteObject } from './delete.ts';
import { current, LIST_TRANSFORMS } from './list.ts';

/** Deletes what the selectors pick, each object by the rules of a single delete, and answers with the list. */
export async function deleteCollection(call: Call): Promise<ApiResponse> {
  const { context, resource, info, version } = call;
  // First: a refusal of the form of the answer must not come when everything is gone.
  const accepted = negotiate(call.request.headers['accept'], { allowed: LIST_TRANSFORMS, protobuf: !resource.custom });
  const options = readDeleteOptions(context.codec, call.request, call.options);
  // What is on its way to the disk is not left out: who looks right after would find it.
  await whenWritten(context.store);
  const selection = selectionOf(parseSelectors(call.options.query), { resource, objects: context.objects });
  const revision = String(context.store.revision);
  const entries = current(call, collectionPrefix(resource, info.namespace), selection);
  let missed = false;
  const deleted = await Promise.all(
    entries.map(async (entry): Promise<ApiObject | undefined> => {
      const { metadata } = context.objects.readWithoutManagedFields(entry);
      try {
        const outcome = await deleteObject(call, metadata.name as string, {
          options,
          anonymous: true,
          namespace: metadata.namespace,
        });
        return outcome.object();
      } catch (error) {
        // Someone else was faster; the caller wanted it gone.
        if (!(error instanceof ApiError && error.code === 404)) throw error;
        missed = true;
        return undefined;
      }
    }),
  );
  // Deleted by them, and perhaps not to the end yet.
  if (missed) await whenWritten(context.store);
  const gone = deleted.filter((object) => object !== undefined);
  const items = (await allInVersion(call, gone, deepClone)).map((object) => {
    if (resource.custom) return object;
    const { kind: _kind, apiVersion: _version, ...rest } = object;
    return rest;
  });
  const document = {
    kind: resource.listKind,
    apiVersion: apiVersion(resource.group, version.name),
    metadata: { resourceVersion: revision },
    items,
  };
  return encodeAnswer(call, 200, document, { ...accepted, transform: undefined });
}
