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
  const waiting = atAskedRevision(call);
  if (waiting !== undefined) await waiting;
  const entry = context.store.get(objectKey(resource, info.namespace, name));
  if (entry === undefined) throw notFound(resource, name);
  return converting(() => respondWithEntry(call, 200, entry));
}

/** Waits where the request asks for a revision that is not here yet. */
export function atAskedRevision({ context, options, request }: Call): Promise<void> | undefined {
  const revision = parseRevision(options.query.get('resourceVersion'));
  if (revision === undefined || revision <= context.store.revision) return undefined;
  return waitForRevision(context, revision, request.signal);
}
