import { connect as connectPlain, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { ResponseReader, type WholeResponse } from './response-reader.ts';

export interface KeptConnectionsOptions {
  readonly host: string;
  readonly port: number;
  /** Absent: no TLS. */
  readonly tls?: ConnectionOptions | undefined;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
}

export interface WholeRequest {
  readonly method: string;
  readonly path: string;
  /** A name with several values goes out once for each. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | undefined;
  readonly deadlineMs?: number | undefined;
}

/** A request that had no answer in time; what became of it is not known. */
export class DeadlineError extends Error {
  override name = 'DeadlineError';
  readonly code = 'ETIMEDOUT';

  constructor({ deadlineMs = 0, method, path }: Pick<WholeRequest, 'deadlineMs' | 'method' | 'path'>) {
    super(`no answer from the API server within ${deadlineMs / 1000} s (${method} ${path.split('?')[0]})`);
  }
}

/** A connection idle for longer is not trusted with a request: what lies between may have dropped it unsaid. */
const MAX_IDLE_MS = 60_000;
/** After so long without traffic the kernel asks whether the other side is still there. */
const PROBE_AFTER_MS = 1000;

/**
 * Requests whose answers are wanted whole, over connections that are kept: node's client takes a request through many
 * streams and events, which costs several times what sending it and finding the end of its answer does.
 */
export class KeptConnections {
  readonly #options: KeptConnectionsOptions;
  readonly #host: string;
  /** The one used last is used next, so that the others may grow old. */
  readonly #idle: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #open = 0;
  #closed = false;
  /** Of the last connection: the next one resumes it, which spares both sides the certificates. */
  #session: Buffer | undefined;

  constructor(options: KeptConnectionsOptions) {
    this.#options = options;
    const name = options.host.includes(':') ? `[${options.host}]` : options.host;
    this.#host = `${name}:${options.port}`;
  }

  /**
   * A connection on which a request had no answer in time is closed at once: whatever still came on it would be taken for
   * the answer to the next. So a server that accepts and never answers cannot use the connections up.
   */
  async send(request: WholeRequest): Promise<WholeResponse> {
    const text = this.#text(request);
    const wait = new Wait(request);
    let connection: Connection | undefined;
    let reusable = false;
    try {
      connection = await this.#take(wait);
      wait.onEnd = (error) => connection?.destroy(error);
      const response = await connection.exchange(text);
      ({ reusable } = response);
      return response;
    } finally {
      wait.over();
      if (connection !== undefined) this.#giveBack(connection, reusable);
    }
  }

  /** Closes idle connections; one with a request under way closes when it is answered. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  #text({ body, headers, method, path }: WholeRequest): string | Buffer {
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
    for (const name in headers) {
      const value = headers[name] as string | readonly string[];
      if (typeof value === 'string') head += `${name}: ${value}\r\n`;
      else for (const one of value) head += `${name}: ${one}\r\n`;
    }
    // Nothing from outside may end a line and begin another.
    if (hasStrayLineEnd(path) || Object.values(headers).flat().some(hasStrayLineEnd)) {
      throw new TypeError('a request must not carry line ends in its path or headers');
    }
    if (body === undefined) return `${head}\r\n`;
    if (typeof body === 'string') return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return Buffer.concat([Buffer.from(`${head}content-length: ${body.byteLength}\r\n\r\n`), body]);
  }

  async #take(wait: Wait): Promise<Connection> {
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.usable && performance.now() - kept.idleSince < MAX_IDLE_MS) return kept;
      kept.destroy();
      this.#open -= 1;
    }
    if (this.#open >= this.#options.maxConnections) {
      return new Promise((resolve, reject) => {
        this.#waiting.push(resolve);
        wait.onEnd = (error) => {
          this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
          reject(error);
        };
      });
    }
    this.#open += 1;
    return this.#connect();
  }

  #connect(): Connection {
    const connection = new Connection(this.#options, this.#session);
    connection.onSession = (session) => {
      this.#session = session;
    };
    return connection;
  }

  #giveBack(connection: Connection, reusable: boolean): void {
    let next: Connection | undefined = connection;
    if (!reusable || !connection.usable || this.#closed) {
      connection.destroy();
      next = undefined;
    }
    const waiter = this.#waiting.shift();
    if (waiter !== undefined) {
      waiter(next ?? this.#connect());
    } else if (next !== undefined) {
      next.rest();
      this.#idle.push(next);
    } else {
      this.#open -= 1;
    }
  }
}

/** The time a request has, from before it gets a connection. */
class Wait {
  readonly #timer: NodeJS.Timeout | undefined;
  onEnd: (error: Error) => void = () => {};

  constructor(request: WholeRequest) {
    const { deadlineMs } = request;
    if (deadlineMs === undefined) return;
    this.#timer = setTimeout(() => this.onEnd(new DeadlineError(request)), deadlineMs);
  }

  over(): void {
    clearTimeout(this.#timer);
  }
}

function hasStrayLineEnd(text: string): boolean {
  return text.includes('\r') || text.includes('\n');
}

interface Call {
  readonly resolve: (response: WholeResponse) => void;
  readonly reject: (error: Error) => void;
}

class Connection {
  readonly #socket: Socket;
  readonly #reader = new ResponseReader();
  #call: Call | undefined;
  #broken: Error | undefined;
  #ready = false;
  idleSince = 0;
  onSession: (session: Buffer | undefined) => void = () => {};

  constructor({ connectTimeoutMs, host, port, tls }: KeptConnectionsOptions, session: Buffer | undefined) {
    const socket =
      tls === undefined
        ? connectPlain({ host, port })
        : connectTls({ ...tls, host, port, ...(session && { session }) });
    this.#socket = socket;
    socket.on('session', (given: Buffer) => this.onSession(given));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, PROBE_AFTER_MS);
    socket.setTimeout(connectTimeoutMs, () => socket.destroy(new Error(`no answer from ${host}:${port}`)));
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      this.#ready = true;
      socket.setTimeout(0);
    });
    socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
  }

  get usable(): boolean {
    return this.#broken === undefined && !this.#socket.destroyed;
  }

  exchange(text: string | Buffer): Promise<WholeResponse> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) {
        reject(this.#broken);
        return;
      }
      this.#call = { resolve, reject };
      this.#socket.ref();
      this.#socket.write(text);
    });
  }

  /** An idle connection does not keep the process. */
  rest(): void {
    this.idleSince = performance.now();
    this.#socket.unref();
  }

  destroy(error = new Error('the connection was closed')): void {
    this.#fail(error);
    this.#socket.destroy();
  }

  #hear(chunk: Buffer): void {
    // Nothing was asked: such as a proxy that says why it hangs up.
    if (this.#call === undefined) {
      this.destroy();
      return;
    }
    try {
      const response = this.#reader.read(chunk);
      if (response !== undefined) this.#settle((call) => call.resolve(response));
    } catch (error) {
      this.#fail(error as Error);
      this.#socket.destroy();
    }
  }

  #end(): void {
    const response = this.#reader.close();
    if (response !== undefined) this.#settle((call) => call.resolve(response));
    this.#fail(Object.assign(new Error('the API server closed the connection'), { code: 'ECONNRESET' }));
  }

  #fail(error: Error): void {
    this.#broken ??= error;
    // It may be the session that the server did not like.
    if (!this.#ready) this.onSession(undefined);
    this.#settle((call) => call.reject(error));
  }

  #settle(how: (call: Call) => void): void {
    const call = this.#call;
    this.#call = undefined;
    if (call !== undefined) how(call);
  }
}
