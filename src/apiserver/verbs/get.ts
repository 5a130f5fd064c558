import { type Call, nameOf } from '../call.ts';
import type { ApiResponse } from '../exchange.ts';
import { objectKey } from '../registry/row.ts';
import { parseRevision, waitForRevision } from '../request/revision.ts';
import { respondWithEntry } from '../response/respond.ts';
import { notFound } from '../status.ts';

export async function get(call: Call): Promise<ApiResponse> {
  const name = nameOf(call);
  const { kernel, row, info } = call;
  const revision = parseRevision(call.options.query.get('resourceVersion'));
  if (revision !== undefined && revision > kernel.store.revision) {
    await waitForRevision(kernel, revision, call.request.signal);
  }
  const entry = kernel.store.get(objectKey(row, info.namespace, name));
  if (entry === undefined) throw notFound(row, name);
  return respondWithEntry(call, 200, entry);
}
