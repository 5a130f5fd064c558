/**
 * Subresources that lead into a running container. Simulated nodes run none, so these answer at once with what a client
 * of an unreachable kubelet would see; they are listed because clients look for them.
 */
import { authorizeCreate } from '../access/authorize.ts';
import { type Call, nameOf } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import { objectKey } from '../registry/resource.ts';
import type { Subresource, SubresourceVerb } from '../registry/subresource.ts';
import { badRequest, failure, notFound } from '../exchange/status.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';

const PROXY_VERBS: readonly SubresourceVerb[] = ['create', 'delete', 'get', 'patch', 'update'];

/** Exists, or the usual 404. */
function objectOf(call: Call): Record<string, unknown> {
  const name = nameOf(call);
  const entry = call.context.store.get(objectKey(call.resource, call.info.namespace, name));
  if (entry === undefined) throw notFound(call.resource, name);
  return call.context.objects.read(entry);
}

export const logSubresource: Subresource = innerSubresource({ verbs: ['get'], kind: { kind: 'Pod' } }, (call) => {
  const { spec } = objectOf(call) as { spec?: { nodeName?: string; containers?: { name: string }[] } };
  const name = nameOf(call);
  if (!spec?.nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  const asked = call.options.query.get('container');
  const names = (spec.containers ?? []).map((container) => container.name);
  if (asked && !names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
  if (!asked && names.length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  throw failure(500, 'InternalError', `Internal error occurred: node ${spec.nodeName} is simulated and keeps no logs`);
});

export function streamSubresource(kind: string): Subresource {
  return innerSubresource({ verbs: ['create', 'get'], kind: { kind } }, async (call) => {
    // Clients by WebSocket come with GET, and run things all the same.
    await authorizeCreate(call.context.authorizer, call.user, call.info);
    objectOf(call);
    throw badRequest('Upgrade request required');
  });
}

export function proxySubresource(kind: string): Subresource {
  return innerSubresource({ verbs: PROXY_VERBS, kind: { kind }, takesPath: true }, (call): Promise<ApiResponse> => {
    objectOf(call);
    const what = `${call.resource.singular} ${nameOf(call)}`;
    throw failure(503, 'ServiceUnavailable', `error trying to reach ${what}: nothing runs behind a simulated node`);
  });
}
