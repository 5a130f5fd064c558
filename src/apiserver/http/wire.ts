/** One request on a connection and the way its answer goes: what HTTP/1.1 and HTTP/2 have in common. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Peer, RawConnection } from '../exchange/exchange.ts';
import type { WireHeaders } from './wire-headers.ts';

export interface Wire {
  readonly method: string;
  /** Path and query; empty for a CONNECT, which has neither. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly headerCount: number;
  readonly peer: Peer;
  /** The body; undefined when none comes. */
  readonly incoming: Readable | undefined;
  readonly out: Writable;
  /** Nobody is there to be answered. */
  isGone(): boolean;
  isHeadSent(): boolean;
  /** Tells a client that waits for it to send its body. */
  proceed(): void;
  sendHead(status: number, headers: WireHeaders): void;
  /** Hands over the connection where the client asked for another protocol on it; undefined where it did not. */
  takeOver?(): RawConnection;
  /** Ends an answer that was sent whole while the body of the request was not; the rest of that is thrown away. */
  endUnread(): void;
  /** Breaks off where no answer can be given any more. Harmless at any time. */
  cut(): void;
}

/** Node joins what was sent more than once, but for cookies, which nobody here reads. */
export function flatten(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  if (headers['set-cookie'] !== undefined) delete headers['set-cookie'];
  return headers as Record<string, string | undefined>;
}
