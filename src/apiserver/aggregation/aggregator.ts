/** Sends requests for group versions that an APIService gives to another server on to that server. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { APIService } from '../../api/generated/apiregistration-v1.ts';
import type { SharedEvent } from '../../machinery/runtime/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import type { RemoteGroupVersion, RemoteResource } from '../discovery/remote.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiRequest, ApiResponse, RawConnection, StreamBody } from '../exchange/exchange.ts';
import type { UserInfo } from '../exchange/user.ts';
import { KindView } from '../stored/kind-view.ts';
import { isAddress } from '../webhook-call/service-address.ts';
import { answeredHeaders, forwardedHeaders, type ProxyIdentity, Remote } from './remote.ts';

export const REGISTRATION_GROUP = 'apiregistration.k8s.io';
/** Until the other server begins to answer. */
const ANSWER_MS = 60_000;

export interface RegisteredServer {
  readonly apiService: APIService;
  readonly remote: Remote;
}

export class Aggregator {
  readonly #context: ServerContext;
  readonly #identity: ProxyIdentity;
  readonly #view: KindView<APIService>;
  /** By group and version. */
  #remotes = new Map<string, RegisteredServer>();
  readonly #learned = new WeakMap<Remote, readonly RemoteResource[] | undefined>();
  #generation = 0;

  constructor(context: ServerContext, identity: ProxyIdentity) {
    this.#context = context;
    this.#identity = identity;
    this.#view = new KindView(context, REGISTRATION_GROUP, 'apiservices');
    this.#view.onChange(() => this.#renew());
    this.#renew();
  }

  stop(): void {
    this.#view.stop();
    for (const { remote } of this.#remotes.values()) remote.stop();
  }

  apiServices(): IterableIterator<APIService> {
    return this.#view.values();
  }

  onChange(listener: () => void): void {
    this.#view.onChange(listener);
  }

  servers(): IterableIterator<RegisteredServer> {
    return this.#remotes.values();
  }

  /** Undefined where the group version is served here, or by nobody. */
  serverOf(group: string, version: string): RegisteredServer | undefined {
    if (this.#remotes.size === 0) return undefined;
    const server = this.#remotes.get(`${group}/${version}`);
    return server === undefined || this.#staysHere(server) ? undefined : server;
  }

  /** A server in simulated pods answers nothing: what is served here too, such as metrics, goes on being served here. */
  #staysHere({ apiService: { spec }, remote }: RegisteredServer): boolean {
    if (!this.#context.registry.hasVersion(spec?.group ?? '', spec?.version ?? '')) return false;
    const found = remote.address();
    return !isAddress(found) && found.problem === 'simulated-pods';
  }

  /** The server of a path that is no resource's: discovery and OpenAPI of one group version. */
  serverOfPath(path: string): RegisteredServer | undefined {
    if (this.#remotes.size === 0) return undefined;
    const found = /^\/(?:openapi\/v3\/)?apis\/([^/]+)\/([^/]+)\/?$/.exec(path);
    return found === null ? undefined : this.serverOf(found[1] as string, found[2] as string);
  }

  /** What a server said it has, the last time it was asked; undefined where it did not answer. */
  learn(remote: Remote, document: unknown): void {
    const resources = (document as { resources?: unknown } | undefined)?.resources;
    const known = this.#learned.get(remote);
    const learned = Array.isArray(resources) ? (resources as RemoteResource[]) : undefined;
    if (deepEqual(known, learned)) return;
    this.#learned.set(remote, learned);
    this.#generation += 1;
  }

  /** Grows when what other servers have is another. */
  get generation(): number {
    return this.#generation;
  }

  *groupVersions(): Iterable<RemoteGroupVersion> {
    for (const server of this.#remotes.values()) {
      const { apiService, remote } = server;
      const { group = '', version = '', versionPriority = 0 } = apiService.spec ?? {};
      if (this.#staysHere(server)) continue;
      yield { group, version, versionPriority, resources: this.#learned.get(remote) };
    }
  }

  /** Of the servers that answer. */
  *openApiPaths(): Iterable<string> {
    for (const { group, resources, version } of this.groupVersions()) {
      if (resources !== undefined) yield `apis/${group}/${version}`;
    }
  }

  async proxy({ apiService, remote }: RegisteredServer, request: ApiRequest, user: UserInfo): Promise<ApiResponse> {
    const isAvailable = apiService.status?.conditions?.some(
      ({ status, type }) => type === 'Available' && status === 'True',
    );
    const address = remote.address();
    if (!isAvailable || !isAddress(address)) return text(503, 'service unavailable');
    const receiving = request.receive?.(user.username);
    if (receiving !== undefined) await receiving;
    const { body, method, url } = request;
    const upgrade = request.headers['upgrade'];
    const headers: Record<string, string> = {
      ...forwardedHeaders(request.headers),
      ...(upgrade !== undefined && { connection: 'Upgrade', upgrade }),
      ...(body !== undefined && { 'content-length': String(body.length) }),
    };
    return new Promise((resolve) => {
      const call = remote.open(address, { method, path: url, headers, user });
      const fail = (error: Error): void => resolve(text(503, `error trying to reach service: ${error.message}`));
      const stop = this.#endWith(request, () => call.destroy(new Error('the request was given up')));
      const late = this.#context.clock.after(ANSWER_MS, () => call.destroy(new Error('context deadline exceeded')));
      call.once('close', stop);
      call.on('error', (error) => {
        late();
        fail(error);
      });
      call.on('response', (response) => {
        late();
        answerOf(response, request).then(resolve, fail);
      });
      call.on('upgrade', (response, socket, head) => {
        late();
        stop();
        resolve({
          status: 101,
          headers: {},
          body: [],
          upgrade: (client) => splice(client, { response, socket, head }),
        });
      });
      call.end(body);
    });
  }

  /** Ends the call when its client goes away or the server stops. */
  #endWith({ signal }: ApiRequest, end: () => void): () => void {
    const { streams } = this.#context;
    streams.add(end);
    signal.addEventListener('abort', end, { once: true });
    return () => {
      streams.delete(end);
      signal.removeEventListener('abort', end);
    };
  }

  #renew(): void {
    const before = this.#remotes;
    this.#remotes = new Map();
    for (const apiService of this.#view.values()) {
      const { group = '', service, version = '' } = apiService.spec ?? {};
      if (service === undefined) continue;
      const key = `${group}/${version}`;
      const known = before.get(key);
      const isSame = known !== undefined && deepEqual(known.apiService.spec, apiService.spec);
      const remote = isSame ? known.remote : new Remote(this.#context, apiService, this.#identity);
      this.#remotes.set(key, { apiService, remote });
      if (isSame) before.delete(key);
    }
    for (const { remote } of before.values()) remote.stop();
    this.#generation += 1;
  }
}

async function answerOf(response: IncomingMessage, { shared, url }: ApiRequest): Promise<ApiResponse> {
  const { statusCode: status = 502 } = response;
  if (status >= 300 && status < 400 && status !== 304) {
    response.destroy();
    return text(502, 'the backend attempted to redirect this request, which is not permitted');
  }
  const headers = answeredHeaders(response);
  const isWatch = /[?&]watch=(?:true|1)/.test(url);
  if (shared !== true) return { status, headers, body: streamed(response) };
  // A part of this process, which takes what it reads whole.
  return { status, headers, body: isWatch && status === 200 ? asEvents(response) : await whole(response) };
}

function streamed(response: IncomingMessage): StreamBody {
  return (sink) => {
    response.on('data', (chunk: Buffer) => {
      sink.write(chunk);
      const ready = sink.ready();
      if (ready === undefined) return;
      response.pause();
      void ready.then(() => response.resume());
    });
    response.on('end', () => sink.end());
    response.on('error', () => sink.end());
    return () => void response.destroy();
  };
}

function asEvents(response: IncomingMessage): StreamBody {
  return (sink) => {
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      try {
        sink.events?.(lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as SharedEvent));
      } catch {
        response.destroy();
      }
    });
    response.on('close', () => sink.end());
    response.on('error', () => sink.end());
    return () => void response.destroy();
  };
}

async function whole(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Upgraded {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Both sides speak with each other from here on. */
function splice(client: RawConnection, { head, response, socket }: Upgraded): void {
  const { rawHeaders, statusMessage = '' } = response;
  const lines = [`HTTP/1.1 101 ${statusMessage}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  client.socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (head.length > 0) client.socket.write(head);
  if (client.head.length > 0) socket.write(client.head);
  const end = (): void => {
    client.socket.destroy();
    socket.destroy();
  };
  for (const side of [client.socket, socket]) side.on('error', end).on('close', end);
  client.socket.pipe(socket);
  socket.pipe(client.socket);
}

function text(status: number, message: string): ApiResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(`${message}\n`) };
}
