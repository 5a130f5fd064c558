import type { IncomingMessage, ServerResponse } from 'node:http';
import { peerOf } from './peer.ts';
import { throwAway } from './throw-away.ts';
import { flatten, type Wire } from './wire.ts';
import type { WireHeaders } from './wire-headers.ts';

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
