/** The dashboard on the embedded server: the same port, beside the API. */
import { builtinType } from '../../api/registry.ts';
import {
  anonymous,
  type ApiHandler,
  type ApiRequest,
  inProcessTransport,
  systemAdmin,
  type UserInfo,
} from '../../apiserver/index.ts';
import { type Client, type Clock, listAll, type Logger } from '../../machinery/runtime/index.ts';
import { createDoor, type Door } from './door.ts';
import type { DashboardUser } from './reader.ts';

export interface EmbeddedDashboard {
  /** Answers `/ui/` and leaves the rest to the API server. */
  readonly handle: ApiHandler;
  /** A link that logs a browser in as the administrator, once. */
  loginPath(): string;
  close(): void;
}

export interface EmbeddedDashboardOptions {
  readonly api: ApiHandler;
  /** In the server's own name: only to know which namespaces there are to ask for. */
  readonly client: Client;
  readonly url: () => string;
  readonly names: readonly string[];
  /** The page may make the changes it offers. */
  readonly writes?: boolean | undefined;
  /** Signs sessions; kept with the server's data, they outlive a restart. */
  readonly key?: Uint8Array | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const BASE = '/ui/';

export function createEmbeddedDashboard(options: EmbeddedDashboardOptions): EmbeddedDashboard {
  const { api, client, clock, log, names, url } = options;
  const namespaces = async (): Promise<string[]> =>
    (await listAll(client, builtinType('Namespace'), undefined)).map(({ metadata }) => metadata.name ?? '');
  const readerFor = (user: UserInfo): DashboardUser => ({
    id: idOf(user),
    name: user.username,
    transport: inProcessTransport(api, user),
    namespaces,
  });
  const door: Door = createDoor({
    key: options.key,
    readerOf: (id) => readerFor(JSON.parse(id) as UserInfo),
    base: BASE,
    server: url,
    names,
    secure: true,
    writes: options.writes ?? false,
    remote: false,
    clock,
    log,
    identify: async (request) => {
      const user = await whoIs(api, request);
      return user === undefined ? undefined : readerFor(user);
    },
  });
  return {
    handle: (request) => {
      if (request.url.startsWith(BASE)) return door.handle(request);
      if (request.url !== '/ui') return api(request);
      return Promise.resolve({ status: 308, headers: { location: BASE }, body: Buffer.alloc(0) });
    },
    loginPath: () => door.loginPath(readerFor(systemAdmin)),
    close: () => door.close(),
  };
}

/** All that rights go by, in one spelling. */
function idOf({ extra, groups, uid, username }: UserInfo): string {
  return JSON.stringify({ username, uid, groups: [...groups].sort(), extra });
}

/** The API server itself says who sends a request: nobody else reads credentials. */
async function whoIs(api: ApiHandler, request: ApiRequest): Promise<UserInfo | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await api({
    method: 'POST',
    url: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    headers: { ...request.headers, 'content-type': 'application/json', accept: 'application/json' },
    body: Buffer.from(JSON.stringify(review), 'utf8'),
    signal: request.signal,
    peer: request.peer,
  });
  if (answer.status >= 300 || typeof answer.body === 'function') return undefined;
  const bytes = answer.body instanceof Uint8Array ? answer.body : Buffer.concat(answer.body as Uint8Array[]);
  const { status } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { status?: { userInfo?: UserInfo } };
  const user = status?.userInfo;
  return user === undefined || user.username === anonymous.username ? undefined : user;
}
