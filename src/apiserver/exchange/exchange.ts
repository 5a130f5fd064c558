/**
 * One request and its answer, free of HTTP. The HTTP layer and the in-process client both speak this, so a test or a
 * controller in the same process takes the whole path of a remote client except the socket.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SharedEvent } from '../../machinery/runtime/index.ts';
import type { UserInfo } from './user.ts';

export interface Peer {
  readonly address?: string;
  /** Subject of a client certificate that was verified against our CA. */
  readonly certificate?: { readonly commonName: string; readonly organizations: readonly string[] };
  /** A client certificate was shown that our CA did not sign, or that is not valid now. */
  readonly certificateRefused?: boolean;
  /** Set by in-process callers, who are trusted to say who they are. */
  readonly user?: UserInfo;
}

export interface ApiRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** What a caller in this process brought, or what `receive` read. */
  readonly body: Uint8Array | undefined;
  /**
   * Reads the body on behalf of this user; undefined, or absent, where there is nothing to wait for. The server asks when it knows
   * that the user may send one, so that nobody else can make it keep anything. Throws 413 and 429.
   */
  receive?(user: string): Promise<void> | undefined;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  readonly peer: Peer;
  /** The caller is in this process and takes shared objects where there are any, never to change them. */
  readonly shared?: boolean;
}

/**
 * A request whose signal is made when someone asks: few do, and it is dear. A class, because a literal with a getter
 * would give every request a layout of its own, and V8 would look up each of its members the slow way.
 */
export class IncomingRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: ApiRequest['headers'];
  readonly peer: Peer;
  readonly shared: boolean;
  readonly #signalOf: () => AbortSignal;
  readonly #readBody: ((user: string) => Promise<Uint8Array | undefined>) | undefined;
  #body: Uint8Array | undefined;

  constructor(
    { method, url, headers, body, peer, shared = false }: Omit<ApiRequest, 'signal' | 'receive'>,
    signalOf: () => AbortSignal,
    readBody?: (user: string) => Promise<Uint8Array | undefined>,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.#body = body;
    this.#readBody = readBody;
    this.peer = peer;
    this.shared = shared;
    this.#signalOf = signalOf;
  }

  get signal(): AbortSignal {
    return this.#signalOf();
  }

  get body(): Uint8Array | undefined {
    return this.#body;
  }

  receive(user: string): Promise<void> | undefined {
    return this.#readBody?.(user).then((bytes) => {
      this.#body = bytes;
    });
  }
}

/** Where a stream is written. `write` never blocks; a sink whose reader falls too far behind closes itself. */
export interface StreamSink {
  write(chunk: Uint8Array): void;
  /** Takes the place of `write` for a reader that asked for shared objects. */
  readonly events?: ((events: readonly SharedEvent[]) => void) | undefined;
  /** Undefined while the reader keeps up; otherwise resolves when it has, or is gone. */
  ready(): Promise<void> | undefined;
  end(): void;
}

/** Starts producing into the sink and returns how to stop; stopping twice is harmless. */
export type StreamBody = (sink: StreamSink) => () => void;

/** A connection that a client asked to use for another protocol, with what it has sent of that already. */
export interface RawConnection {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Chunks are written in order; the array form lets a list share the bytes of stored objects. */
  readonly body: Uint8Array | readonly Uint8Array[] | StreamBody;
  /** Instead of a body, for a caller that asked for shared objects. */
  readonly document?: unknown;
  /** Instead of an answer: takes the connection over, and answers on it. */
  readonly upgrade?: (connection: RawConnection) => void;
}

export type ApiHandler = (request: ApiRequest) => Promise<ApiResponse>;
