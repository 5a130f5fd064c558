import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { peerOf } from './peer.ts';
import { throwAway } from './throw-away.ts';
import { flatten, type Wire } from './wire.ts';
import type { WireHeaders } from './wire-headers.ts';

export function http2Wire(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, headerCount: number): Wire {
  const waits = headers['expect'] === '100-continue';
  return {
    method: String(headers[':method']),
    url: String(headers[':path'] ?? ''),
    headers: flatten(headers),
    headerCount,
    peer: stream.session === undefined ? {} : peerOf(stream.session.socket as Socket),
    incoming: stream.endAfterHeaders ? undefined : stream,
    out: stream,
    isGone: () => stream.destroyed || stream.closed,
    isHeadSent: () => stream.headersSent,
    proceed() {
      if (waits && !stream.headersSent) stream.additionalHeaders({ ':status': 100 });
    },
    sendHead(status: number, more: WireHeaders) {
      stream.respond({ ':status': status, ...more });
    },
    endUnread() {
      stream.end();
      // What the client sent before it has read the answer still comes; only then is the rest of the request refused.
      throwAway(stream, () => stream.close(constants.NGHTTP2_NO_ERROR));
    },
    cut: () => stream.destroy(),
  };
}
