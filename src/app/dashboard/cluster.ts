/**
 * The dashboard beside the operator: whoever shows a token that the cluster knows sees what the API server lets that token
 * see. Everything is asked with the token itself, so neither the operator's rights nor a judgement of ours comes into it.
 */
import type { SelfSubjectReview } from '../../api/generated/authentication-v1.ts';
import { NAMESPACE_HEADER } from '../../api/ui/stream.ts';
import { type ApiRequest, listen } from '../../apiserver/index.ts';
import {
  type Client,
  type Clock,
  createClient,
  isForbidden,
  isUnauthorized,
  type Logger,
  type Transport,
} from '../../machinery/runtime/index.ts';
import type { KeyPair } from '../../machinery/runtime/certificates.ts';
import { createDoor, type Door } from './door.ts';
import { readNamespaces } from './local.ts';
import type { DashboardUser } from './reader.ts';
import { Tokens } from './tokens.ts';

export interface ClusterDashboardOptions {
  /** The way to the API server, with no credentials of its own. */
  readonly send: Transport;
  /** The API server's address, as the page names it. */
  readonly server: string;
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly certificate: KeyPair;
  /** Names besides addresses and `localhost` under which it may be reached. */
  readonly names: readonly string[];
  /** The page may make the changes it offers. */
  readonly writes: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ClusterDashboard {
  readonly port: number;
  setCertificate(pair: KeyPair): void;
  close(): Promise<void>;
}

const BASE = '/ui/';
/** Reviews of evictions come first in this process, and a large fleet is large once more for each. */
const MAX_READERS = 4;
/** Whoever reaches the port may open connections, and a login is short. */
const LIMITS = { connections: 256, headBytes: 64 * 1024, bodyBytes: 256 * 1024, bodyBytesInFlight: 4 * 1024 * 1024 };
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

export async function serveClusterDashboard(options: ClusterDashboardOptions): Promise<ClusterDashboard> {
  const { address, certificate, clock, log, names, port, server, writes } = options;
  const people = new People(options, () => door);
  const door = createDoor({
    base: BASE,
    server: () => server,
    names,
    secure: true,
    writes,
    remote: true,
    byToken: true,
    maxReaders: MAX_READERS,
    clock,
    log,
    identify: (request) => people.identify(request),
    readerOf: (id) => people.find(id),
  });
  const listening = await listen({
    handle: (request) =>
      request.url === '/' || request.url === '/ui'
        ? Promise.resolve({ status: 308, headers: { location: BASE }, body: Buffer.alloc(0) })
        : door.handle(request),
    port,
    address,
    tls: certificate,
    limits: LIMITS,
    log,
  });
  return {
    port: listening.port,
    setCertificate: (pair) => listening.renew(pair),
    async close() {
      door.close();
      await listening.close();
    },
  };
}

/** Those who have logged in, each with a token of their own. */
class People {
  readonly #options: ClusterDashboardOptions;
  readonly #tokens: Tokens;
  readonly #door: () => Door;

  constructor(options: ClusterDashboardOptions, door: () => Door) {
    this.#options = options;
    this.#tokens = new Tokens(options.clock);
    this.#door = door;
  }

  /** The API server says whose the token is. */
  async identify({ headers }: ApiRequest): Promise<DashboardUser | undefined> {
    const token = /^bearer +(\S+)$/i.exec(headers['authorization'] ?? '')?.[1];
    if (token === undefined) return undefined;
    const user = await whoIs(this.#clientWith((request) => this.#send(token, request)));
    if (user === undefined) return undefined;
    return this.find(this.#tokens.keep({ token, user, namespace: namespaceOf(headers[NAMESPACE_HEADER], user) }));
  }

  find(id: string): DashboardUser | undefined {
    const holder = this.#tokens.find(id);
    if (holder === undefined) return undefined;
    const transport: Transport = async (request) => {
      const answer = await this.#send(holder.token, request);
      // It has expired or was taken away: nothing that was read with it is shown any longer.
      if (answer.status === 401) {
        this.#tokens.forget(id);
        this.#door().turnAway(id);
      }
      return answer;
    };
    const client = this.#clientWith(transport);
    return { id, name: holder.user, transport, namespaces: () => readNamespaces(client, holder.namespace) };
  }

  #clientWith(transport: Transport): Client {
    return createClient({ transport, userAgent: 'quorate-dashboard' });
  }

  #send(token: string, request: Parameters<Transport>[0]): ReturnType<Transport> {
    return this.#options.send({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });
  }
}

async function whoIs(client: Client): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  try {
    return (await client.request<SelfSubjectReview>('POST', REVIEWS, body)).status?.userInfo?.username;
  } catch (error) {
    if (isUnauthorized(error) || isForbidden(error)) return undefined;
    throw error;
  }
}

/** What was said, or where a service account lives. */
function namespaceOf(said: string | undefined, user: string): string {
  if (said !== undefined && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(said)) return said;
  return /^system:serviceaccount:([^:]+):/.exec(user)?.[1] ?? 'default';
}
