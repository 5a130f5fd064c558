/**
 * `exec`, `attach` and `portforward` of pods on simulated nodes, which run nothing: an echo answers, so that clients can be
 * tried. Whoever may `get` these and not `create` them is refused: clients by WebSocket come with GET, and run things all
 * the same.
 */
import type { Pod } from '../../api/generated/core-v1.ts';
import { authorizeCreate } from '../access/authorize.ts';
import { type Call, nameOf } from '../context/call.ts';
import type { ApiResponse, RawConnection } from '../exchange/exchange.ts';
import { badRequest, failure } from '../exchange/status.ts';
import { objectKey } from '../registry/resource.ts';
import type { Subresource } from '../registry/subresource.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import { type EchoContainer, runEcho } from './echo-shell.ts';
import { askedContainer, objectOf } from './no-containers.ts';
import { servePortForward, speaksPortForward } from './port-echo.ts';
import { isWebSocket, type Keep, serveRemoteCommand, speaksRemoteCommand } from './remote-command.ts';

type Streams = (connection: RawConnection, keep: Keep) => void;

export const execSubresource = streamSubresource('PodExecOptions', (call, pod) => {
  const where = runningContainer(call, pod);
  const { query } = call.options;
  const command = query.getAll('command');
  if (command.length === 0) throw badRequest('you must specify at least 1 command for the container');
  checkStreams(query);
  checkProtocol(call);
  const outcome = runEcho(command, where);
  return (connection, keep) => serveRemoteCommand(connection, { outcome, stdin: isOn(query, 'stdin'), keep });
});

export const attachSubresource = streamSubresource('PodAttachOptions', (call, pod) => {
  const { container, node } = runningContainer(call, pod);
  const { query } = call.options;
  checkStreams(query);
  checkProtocol(call);
  const greeting = `container ${container} on simulated node ${node}: what is sent here comes back\n`;
  return (connection, keep) => {
    serveRemoteCommand(connection, { outcome: undefined, stdin: isOn(query, 'stdin'), greeting, keep });
  };
});

export const portForwardSubresource = streamSubresource('PodPortForwardOptions', ({ request: { headers } }, pod) => {
  if (pod.status?.phase !== 'Running') {
    throw badRequest(`unable to forward port because pod is not running. Current status=${pod.status?.phase}`);
  }
  if (speaksPortForward(headers)) return servePortForward;
  throw badRequest(
    'unable to upgrade connection: only SPDY/3.1 with portforward.k8s.io is spoken here, also in a WebSocket',
  );
});

function streamSubresource(kind: string, streamsOf: (call: Call, pod: Pod) => Streams): Subresource {
  return innerSubresource({ verbs: ['create', 'get'], kind: { kind } }, async (call): Promise<ApiResponse> => {
    await authorizeCreate(call.context.authorizer, call.user, call.info);
    const pod = objectOf(call) as Pod;
    if (call.request.headers['upgrade'] === undefined) throw badRequest('Upgrade request required');
    if (!pod.spec?.nodeName) throw badRequest(`pod ${nameOf(call)} does not have a host assigned`);
    const streams = streamsOf(call, pod);
    return {
      status: 101,
      headers: {},
      body: [],
      upgrade: (connection) => streams(connection, untilGone(call, pod)),
    };
  });
}

/** Ends a connection with the pod that it leads to, and with the server. */
function untilGone({ context, info, resource }: Call, { metadata: { name = '', uid } }: Pod): Keep {
  const { objects, store, streams } = context;
  const key = objectKey(resource, info.namespace, name);
  return (cut) => {
    const forget = (): void => {
      stop();
      streams.delete(end);
    };
    const end = (): void => {
      forget();
      cut();
    };
    const stop = store.watch(key, store.revision, (events) => {
      for (const { entry, key: changed, type } of events) {
        const isSame = type === 'put' && entry !== undefined && objects.read(entry).metadata.uid === uid;
        if (changed === key && !isSame) end();
      }
    });
    streams.add(end);
    return forget;
  };
}

function runningContainer(call: Call, pod: Pod): EchoContainer {
  const container = askedContainer(call, pod);
  const { spec, status } = pod;
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  if (all.find(({ name }) => name === container)?.state?.running === undefined) {
    throw failure(404, 'NotFound', `unable to upgrade connection: container not found ("${container}")`);
  }
  const found = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].find(({ name }) => name === container);
  return { pod: nameOf(call), container, node: spec?.nodeName ?? '', env: found?.env ?? [] };
}

const isOn = (query: URLSearchParams, name: string): boolean => ['true', '1'].includes(query.get(name) ?? '');

function checkStreams(query: URLSearchParams): void {
  if (!['stdin', 'stdout', 'stderr'].some((name) => isOn(query, name))) {
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  }
}

function checkProtocol({ request: { headers } }: Call): void {
  if (speaksRemoteCommand(headers)) return;
  const what = isWebSocket(headers) ? headers['sec-websocket-protocol'] || 'no protocol' : headers['upgrade'];
  throw badRequest(
    `unable to upgrade connection: ${what} is not spoken here, only WebSocket with v5.channel.k8s.io or v4.channel.k8s.io`,
  );
}
