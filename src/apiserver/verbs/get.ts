import { type Call, nameOf } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import { objectKey } from '../registry/resource.ts';
import { parseRevision, waitForRevision } from './revision.ts';
import { respondWithEntry } from '../response/respond.ts';
import { converting } from '../stored/converting.ts';
import { notFound } from '../exchange/status.ts';

export async function get(call: Call): Promise<ApiResponse> {
  const name = nameOf(call);
  const { context, resource, info } = call;
  const revision = parseRevision(call.options.query.get('resourceVersion'));
  if (revision !== undefined && revision > context.store.revision) {
    await waitForRevision(context, revision, call.request.signal);
  }
  const entry = context.store.get(objectKey(resource, info.namespace, name));
  if (entry === undefined) throw notFound(resource, name);
  return converting(() => respondWithEntry(call, 200, entry));
}
