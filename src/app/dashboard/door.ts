/** The dashboard over HTTP: the page, sessions, the stream, and the API server as the session's user sees it. */
import { maintenanceType } from '../../api/quorate/maintenance.ts';
import type { LoginInfo, SessionInfo } from '../../api/ui/stream.ts';
import type { ApiHandler, ApiRequest, ApiResponse } from '../../apiserver/index.ts';
import { type Clock, type Logger, readBody } from '../../machinery/runtime/index.ts';
import { Feed } from './feed.ts';
import { pageFiles } from './files.ts';
import type { DashboardUser } from './reader.ts';
import { isOwnHost, isOwnPage, readCookie, SECURITY_HEADERS } from './security.ts';
import { Sessions } from './sessions.ts';

export interface DoorOptions {
  /** Where the page is, such as `/ui/`. */
  readonly base: string;
  /** The API server, as the page names it. */
  readonly server: () => string;
  /** Names besides addresses and `localhost` under which it may be reached. */
  readonly names?: readonly string[];
  /** Cookies only over TLS. */
  readonly secure: boolean;
  /** The changes that the page offers are passed on. */
  readonly writes: boolean;
  readonly remote: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who sends a request with credentials of its own; they may ask for a login code. Absent: nobody. */
  readonly identify?: ((request: ApiRequest) => Promise<DashboardUser | undefined>) | undefined;
  /** The reader with this id: sessions know no more of them. Undefined: they have to log in again. */
  readonly readerOf: (id: string) => DashboardUser | undefined;
  /** People log in on the page itself, with a token that `identify` knows. */
  readonly byToken?: boolean;
  /** More different readers at a time are turned away: each costs a copy of what they see. */
  readonly maxReaders?: number;
  /** Signs sessions; whoever has it again after a restart knows them again. Default: one for this process. */
  readonly key?: Uint8Array | undefined;
}

export interface Door {
  readonly handle: ApiHandler;
  /** The path of a page that logs in as this reader, once. What follows `#` never leaves the browser. */
  loginPath(reader: DashboardUser): string;
  /** The reader has to log in again; what was open is closed. */
  turnAway(id: string): void;
  close(): void;
}

/** More than a server for one machine has. */
const MAX_READERS = 32;
/** Whoever tries tokens out must not make us a flood for the API server. */
const MAX_ASKING = 16;
const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const MAX_CODE_BYTES = 256;

export function createDoor(options: DoorOptions): Door {
  const door = new DashboardDoor(options);
  return {
    handle: (request) => door.handle(request),
    loginPath: (reader) => door.loginPath(reader),
    turnAway: (id) => door.turnAway(id),
    close: () => door.close(),
  };
}

class DashboardDoor {
  readonly #options: DoorOptions;
  readonly #sessions: Sessions;
  readonly #feeds = new Map<string, Feed>();
  readonly #cookieName: string;
  #asking = 0;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#sessions = new Sessions(options.clock, options.key);
    this.#cookieName = options.secure ? '__Secure-quorate-ui' : 'quorate-ui';
  }

  loginPath(reader: DashboardUser): string {
    return `${this.#options.base}#login=${this.#sessions.newCode(reader.id)}`;
  }

  turnAway(id: string): void {
    this.#feeds.get(id)?.stop();
  }

  close(): void {
    for (const feed of Array.from(this.#feeds.values())) feed.stop();
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    const { base, names } = this.#options;
    if (!isOwnHost(request, names)) return plain(421, 'This server is not known by that name.');
    const [pathname = '', query] = request.url.split('?', 2);
    if (!pathname.startsWith(base)) return plain(404, 'Open the link that was printed.');
    const path = pathname.slice(base.length);
    const file = READ_METHODS.has(request.method) ? servePage(path) : undefined;
    if (file !== undefined) return file;
    if (path === 'logins') return this.#answerLogins(request);
    if (!isOwnPage(request)) return plain(403, 'Only the dashboard itself may ask for this.');
    const secret = readCookie(request, this.#cookieName) ?? '';
    if (path === 'session') return this.#answerSession(request, secret);
    const reader = this.#readerIn(secret);
    if (reader === undefined) return plain(401, 'Not logged in.');
    return this.#answerReader(request, reader, query === undefined ? path : `${path}?${query}`);
  }

  async #answerLogins(request: ApiRequest): Promise<ApiResponse> {
    if (this.#asking >= MAX_ASKING) return plain(503, 'Too many log in at once. Try again.');
    this.#asking += 1;
    try {
      const reader = request.method === 'POST' ? await this.#options.identify?.(request) : undefined;
      if (reader === undefined) return plain(403, 'Only somebody with credentials can ask for a login link.');
      return json(201, { path: this.loginPath(reader) });
    } finally {
      this.#asking -= 1;
    }
  }

  async #answerSession(request: ApiRequest, secret: string): Promise<ApiResponse> {
    if (request.method === 'POST') return this.#logIn(request);
    if (request.method === 'DELETE') {
      this.#sessions.end(secret);
      return { ...plain(204, ''), headers: { ...TEXT, 'set-cookie': this.#cookie('', 0) } };
    }
    const reader = this.#readerIn(secret);
    const { byToken = false, server, writes } = this.#options;
    const info: SessionInfo | LoginInfo =
      reader === undefined ? { login: byToken ? 'Token' : 'Link' } : { user: reader.name, server: server(), writes };
    return json(200, info);
  }

  async #logIn(request: ApiRequest): Promise<ApiResponse> {
    const receiving = request.receive?.('system:anonymous');
    if (receiving !== undefined) await receiving;
    const { body } = request;
    const code = body === undefined || body.length > MAX_CODE_BYTES ? '' : Buffer.from(body).toString('utf8');
    const session = this.#sessions.redeem(code);
    if (session === undefined) return plain(401, 'This login link was used before, or is too old.');
    const cookie = this.#cookie(session.session, session.maxAgeSeconds);
    return { ...plain(204, ''), headers: { ...TEXT, 'set-cookie': cookie } };
  }

  #answerReader(request: ApiRequest, reader: DashboardUser, path: string): ApiResponse | Promise<ApiResponse> {
    if (path === 'stream') {
      const feed = this.#feedOf(reader);
      if (feed === undefined) return plain(503, 'Too many different users look at this server at once.');
      return { status: 200, headers: { ...SECURITY_HEADERS, 'content-type': 'application/x-ndjson' }, body: feed.open };
    }
    if (!path.startsWith('k8s/')) return plain(404, 'There is nothing here.');
    if (!READ_METHODS.has(request.method)) {
      if (!this.#options.writes) return plain(405, 'This dashboard only looks: start it with --allow-writes.');
      if (!isOffered(request.method, path)) return plain(405, 'The dashboard does not change that.');
    }
    return passOn(request, reader, path.slice('k8s'.length));
  }

  #feedOf(reader: DashboardUser): Feed | undefined {
    const known = this.#feeds.get(reader.id);
    if (known !== undefined && !known.ended) return known;
    if (this.#feeds.size >= (this.#options.maxReaders ?? MAX_READERS)) return undefined;
    const { clock, log, remote, server } = this.#options;
    const ended = (): void => void this.#feeds.delete(reader.id);
    const feed = new Feed({ reader, server: server(), remote, clock, log, ended });
    this.#feeds.set(reader.id, feed);
    return feed;
  }

  #readerIn(session: string): DashboardUser | undefined {
    const id = this.#sessions.find(session);
    return id === undefined ? undefined : this.#options.readerOf(id);
  }

  #cookie(secret: string, maxAgeSeconds: number): string {
    const { base, secure } = this.#options;
    const ends = secure ? '; Secure' : '';
    return `${this.#cookieName}=${secret}; Path=${base}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${ends}`;
  }
}

const { group, plural, version } = maintenanceType;
const MAINTENANCES = `k8s/apis/${group}/${version}/${plural}`;

/** The changes that the page offers. Whoever may make others does so elsewhere. */
function isOffered(method: string, path: string): boolean {
  if (method === 'POST') return path === MAINTENANCES;
  return method === 'PATCH' && [MAINTENANCES, 'k8s/api/v1/nodes'].some((of) => isOne(path, of));
}

const isOne = (path: string, of: string): boolean =>
  path.startsWith(`${of}/`) && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(path.slice(of.length + 1));

/** Only what the API needs to hear goes on; who asks is the session's business. */
async function passOn(request: ApiRequest, { name, transport }: DashboardUser, path: string): Promise<ApiResponse> {
  if (/[?&](watch|follow)=/.test(path)) return plain(400, 'Changes are on the stream.');
  const receiving = request.receive?.(name);
  if (receiving !== undefined) await receiving;
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'quorate-dashboard' };
  const type = request.headers['content-type'];
  if (type !== undefined) headers['content-type'] = type;
  const { body, method } = request;
  const answer = await transport({ method, path, headers, body, whole: true, deadlineMs: 30_000 });
  const bytes = await readBody(answer.body);
  return { status: answer.status, headers: { ...SECURITY_HEADERS, 'content-type': 'application/json' }, body: bytes };
}

const TEXT = { ...SECURITY_HEADERS, 'content-type': 'text/plain; charset=utf-8' };

const plain = (status: number, text: string): ApiResponse => ({
  status,
  headers: TEXT,
  body: Buffer.from(text, 'utf8'),
});

const json = (status: number, value: unknown): ApiResponse => ({
  status,
  headers: { ...SECURITY_HEADERS, 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value), 'utf8'),
});

function servePage(path: string): ApiResponse | undefined {
  const files = pageFiles();
  if (path === '' && files.size === 0) return plain(503, 'The dashboard has not been built: npm run build');
  const file = files.get(path === '' ? 'index.html' : path);
  if (file === undefined) return undefined;
  const cache = file.forever ? { 'cache-control': 'private, max-age=31536000, immutable' } : {};
  return { status: 200, headers: { ...SECURITY_HEADERS, 'content-type': file.type, ...cache }, body: file.bytes };
}
