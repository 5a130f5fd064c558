/**
 * Subresources that lead into a running container. Simulated nodes run none: logs tell the life of the container as its
 * status has it, so that clients of logs can be tried; proxies say that nothing runs there. For `exec` and `attach` see
 * pod-streams.ts.
 */
import type { Pod } from '../../api/generated/core-v1.ts';
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
export function objectOf(call: Call): ApiObject {
  const name = nameOf(call);
  const entry = call.context.store.get(objectKey(call.resource, call.info.namespace, name));
  if (entry === undefined) throw notFound(call.resource, name);
  return call.context.objects.read(entry);
}

/** The container that a request is about: the one it names, or the only one. */
export function askedContainer(call: Call, { spec }: Pod): string {
  const name = nameOf(call);
  const asked = call.options.query.get('container');
  const { containers = [], initContainers = [] } = spec ?? {};
  const names = [...initContainers, ...containers].map((container) => container.name);
  if (asked && !names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
  if (!asked && containers.length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  return asked || (containers[0]?.name ?? '');
}

export const logSubresource: Subresource = innerSubresource({ verbs: ['get'], kind: { kind: 'Pod' } }, (call) => {
  const pod = objectOf(call) as Pod;
  const name = nameOf(call);
  if (!pod.spec?.nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  const container = askedContainer(call, pod);
  const lines = lifeOf(pod, container);
  if (lines.length === 0) {
    throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ContainerCreating`);
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

export function proxySubresource(kind: string): Subresource {
  return innerSubresource({ verbs: PROXY_VERBS, kind: { kind }, takesPath: true }, (call): Promise<ApiResponse> => {
    objectOf(call);
    const what = `${call.resource.singular} ${nameOf(call)}`;
    throw failure(503, 'ServiceUnavailable', `error trying to reach ${what}: nothing runs behind a simulated node`);
  });
}
