/** Another API server, behind an APIService: who asks is told to it by front-proxy headers, over TLS that both sides check. */
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { APIService } from '../../api/generated/apiregistration-v1.ts';
import type { UserInfo } from '../exchange/user.ts';
import type { StoredReads } from '../stored/kind-view.ts';
import {
  type Address,
  addressOf,
  isAddress,
  type NoAddress,
  type ServicePort,
} from '../webhook-call/service-address.ts';

/** By which other servers know that it is us who asks. */
export interface ProxyIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Where clouds tell machines who they are: no API server lives there. */
const NEVER = new BlockList();
NEVER.addSubnet('169.254.0.0', 16, 'ipv4');
NEVER.addSubnet('fe80::', 10, 'ipv6');
NEVER.addAddress('fd00:ec2::254', 'ipv6');

const isNever = (host: string): boolean => {
  const family = isIP(host);
  return family !== 0 && NEVER.check(host, family === 4 ? 'ipv4' : 'ipv6');
};

export interface RemoteCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly user: UserInfo;
}

export class Remote {
  readonly service: ServicePort;
  readonly #reads: StoredReads;
  readonly #tls: RequestOptions;
  readonly #agent: Agent;

  constructor(reads: StoredReads, { spec }: APIService, { certificate, key }: ProxyIdentity) {
    const { name = '', namespace = '', port = 443 } = spec?.service ?? {};
    this.#reads = reads;
    this.service = { namespace, name, port };
    const ca = spec?.caBundle ? Buffer.from(spec.caBundle, 'base64').toString('utf8') : undefined;
    this.#tls = {
      servername: `${name}.${namespace}.svc`,
      cert: certificate,
      key,
      rejectUnauthorized: spec?.insecureSkipTLSVerify !== true,
      ...(ca !== undefined && { ca }),
    };
    this.#agent = new Agent({ keepAlive: true });
  }

  stop(): void {
    this.#agent.destroy();
  }

  address(): Address | NoAddress | { readonly problem: 'forbidden'; readonly at: string } {
    const found = addressOf(this.#reads, this.service);
    return isAddress(found) && isNever(found.host) ? { problem: 'forbidden', at: found.host } : found;
  }

  /** The request on its way; its body is the caller's to send. */
  open({ host, port }: Address, { headers, method, path, user }: RemoteCall): ClientRequest {
    return httpsRequest({
      ...this.#tls,
      agent: this.#agent,
      host,
      port,
      method,
      path,
      headers: { ...headers, ...identityHeaders(user), host: `${this.#tls.servername}` } as Record<
        string,
        string | string[]
      >,
    });
  }
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function identityHeaders({ extra, groups, uid, username }: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {
    'x-remote-user': latin1(username),
    'x-remote-group': groups.map(latin1),
  };
  if (uid) headers['x-remote-uid'] = latin1(uid);
  for (const [key, values] of Object.entries(extra ?? {})) {
    headers[`x-remote-extra-${encodeURIComponent(key.toLowerCase())}`] = values.map(latin1);
  }
  return headers;
}

const OWN_HEADERS = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What of a request's headers goes on: nothing that says who asks, and nothing about this connection alone. */
export function forwardedHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name.startsWith(':') || OWN_HEADERS.has(name)) continue;
    if (name.startsWith('x-remote-') || name.startsWith('impersonate-')) continue;
    forwarded[name] = value;
  }
  return forwarded;
}

/** What of an answer's headers comes back. */
export function answeredHeaders({ headers }: IncomingMessage): Record<string, string | readonly string[]> {
  const answered: Record<string, string | readonly string[]> = {};
  for (const name in headers) {
    const value = headers[name];
    const isOfConnection = OWN_HEADERS.has(name) && name !== 'content-length';
    if (value !== undefined && !isOfConnection && name !== 'set-cookie') answered[name] = value;
  }
  return answered;
}
