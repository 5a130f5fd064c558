import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { peerOf } from './peer.ts';
import { throwAway } from './throw-away.ts';
import { flatten, type Wire } from './wire.ts';
import type { WireHeaders } from './wire-headers.ts';

export interface Http1Options {
  /** The client waits for `100 Continue` before it sends its body. */
  readonly waits?: boolean;
  /** The client wants another protocol on this connection; nothing after the head of its request was read as HTTP. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer };
}

export function http1Wire(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { upgrade, waits = false }: Http1Options,
): Wire {
  const { headers, method = 'GET', url = '' } = incoming;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const isComing = upgrade === undefined && hasBody && headers['content-length'] !== '0';
  let asked = !waits;
  return {
    method,
    url: method === 'CONNECT' ? '' : url,
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
    ...(upgrade && {
      takeOver() {
        outgoing.detachSocket(incoming.socket);
        return { method, url, headers, ...upgrade };
      },
    }),
  };
}
