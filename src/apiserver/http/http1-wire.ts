import type { IncomingMessage, ServerResponse } from 'node:http';
import { peerOf } from './peer.ts';
import { flatten, type Wire } from './wire.ts';
import type { WireHeaders } from './wire-headers.ts';

/** What is thrown away of a body nobody reads, so that the client gets to read its answer before the line is cut. */
const MAX_THROWN_AWAY_BYTES = 8 * 1024 * 1024;
const MAX_THROWING_AWAY_MS = 2000;

export interface Http1Options {
  /** The client waits for `100 Continue` before it sends its body. */
  readonly waits?: boolean;
}

export function http1Wire(incoming: IncomingMessage, outgoing: ServerResponse, { waits = false }: Http1Options): Wire {
  const { headers } = incoming;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const isComing = hasBody && headers['content-length'] !== '0';
  let asked = !waits;
  return {
    method: incoming.method ?? 'GET',
    url: incoming.method === 'CONNECT' ? '' : (incoming.url ?? ''),
    headers: flatten(headers),
    headerCount: incoming.rawHeaders.length / 2,
    peer: peerOf(incoming.socket),
    incoming: isComing ? incoming : undefined,
    out: outgoing,
    isGone: () => outgoing.destroyed || incoming.socket.destroyed,
    isHeadSent: () => outgoing.headersSent,
    proceed() {
      if (asked) return;
      asked = true;
      outgoing.writeContinue();
    },
    sendHead(status: number, more: WireHeaders) {
      // A body that is still coming would be taken for the next request.
      if (isComing && !incoming.complete) outgoing.shouldKeepAlive = false;
      outgoing.writeHead(status, more);
      if (typeof more['content-length'] !== 'string') outgoing.flushHeaders();
    },
    endUnread() {
      // A client that waits for `100 Continue` has its answer and sends nothing more.
      if (!asked) outgoing.end();
      else throwAway(incoming, () => outgoing.end());
    },
    cut: () => void incoming.socket.destroy(),
  };
}

/** Reads on without keeping anything, until the end, the limit or the time is reached. */
function throwAway(incoming: IncomingMessage, done: () => void): void {
  let bytes = 0;
  const finish = (): void => {
    clearTimeout(timer);
    incoming.removeListener('data', onData);
    incoming.removeListener('end', finish);
    incoming.removeListener('close', finish);
    done();
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_THROWN_AWAY_BYTES) finish();
  };
  const timer = setTimeout(finish, MAX_THROWING_AWAY_MS);
  incoming.on('data', onData);
  incoming.once('end', finish);
  incoming.once('close', finish);
  incoming.resume();
}
