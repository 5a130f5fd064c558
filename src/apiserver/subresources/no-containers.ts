/**
 * Subresources that lead into a running container. Simulated nodes run none: logs tell the life of the container as its
 * status has it, so that clients of logs can be tried; the others say that nothing runs there.
 */
import type { Pod } from '../../api/generated/core-v1.ts';
import { authorizeCreate } from '../access/authorize.ts';
import { type Call, nameOf } from '../context/call.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import { objectKey } from '../registry/resource.ts';
import type { Subresource, SubresourceVerb } from '../registry/subresource.ts';
import { badRequest, failure, notFound } from '../exchange/status.ts';
import { integerOption } from '../request/options.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';

const PROXY_VERBS: readonly SubresourceVerb[] = ['create', 'delete', 'get', 'patch', 'update'];

/** Exists, or the usual 404. */
function objectOf(call: Call): ApiObject {
  const name = nameOf(call);
  const entry = call.context.store.get(objectKey(call.resource, call.info.namespace, name));
  if (entry === undefined) throw notFound(call.resource, name);
  return call.context.objects.read(entry);
}

export const logSubresource: Subresource = innerSubresource({ verbs: ['get'], kind: { kind: 'Pod' } }, (call) => {
  const pod = objectOf(call) as Pod;
  const name = nameOf(call);
  if (!pod.spec?.nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  const asked = call.options.query.get('container');
  const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((container) => container.name);
  if (asked && !names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
  if (!asked && pod.spec.containers.length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  const lines = lifeOf(pod, asked || (pod.spec.containers[0]?.name ?? ''));
  if (lines.length === 0) {
    throw badRequest(`container "${asked || names[0]}" in pod "${name}" is waiting to start: ContainerCreating`);
  }
  const last = integerOption(call.options.query, 'tailLines') ?? lines.length;
  const text = lines.slice(Math.max(0, lines.length - last)).map((line) => `${line}\n`);
  return Promise.resolve({ status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from(text.join('')) });
});

/** What a simulated container has to say: when it started and how it ended. */
function lifeOf({ spec, status }: Pod, container: string): string[] {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const found = all.find(({ name }) => name === container);
  const who = `container ${container} on simulated node ${spec?.nodeName}`;
  const { running, terminated } = found?.state ?? {};
  const startedAt = running?.startedAt ?? terminated?.startedAt;
  return [
    ...(startedAt === undefined ? [] : [`${startedAt} ${who} started`]),
    ...(terminated?.finishedAt === undefined
      ? []
      : [`${terminated.finishedAt} ${who} ended with exit code ${terminated.exitCode}`]),
  ];
}

export function streamSubresource(kind: string): Subresource {
  return innerSubresource({ verbs: ['create', 'get'], kind: { kind } }, async (call) => {
    // Clients by WebSocket come with GET, and run things all the same.
    await authorizeCreate(call.context.authorizer, call.user, call.info);
    const { spec } = objectOf(call) as Pod;
    if (call.request.headers['upgrade'] === undefined) throw badRequest('Upgrade request required');
    if (!spec?.nodeName) throw badRequest(`pod ${nameOf(call)} does not have a host assigned`);
    const why = `node ${spec.nodeName} is simulated and runs no containers`;
    throw failure(500, 'InternalError', `Internal error occurred: error dialing backend: ${why}`);
  });
}

export function proxySubresource(kind: string): Subresource {
  return innerSubresource({ verbs: PROXY_VERBS, kind: { kind }, takesPath: true }, (call): Promise<ApiResponse> => {
    objectOf(call);
    const what = `${call.resource.singular} ${nameOf(call)}`;
    throw failure(503, 'ServiceUnavailable', `error trying to reach ${what}: nothing runs behind a simulated node`);
  });
}
