/**
 * `portforward` of a simulated pod: every port gives back what it is sent; what looks like an HTTP request is answered with
 * itself. Over SPDY as such, or inside a WebSocket as kubectl does since 1.31.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { RawConnection } from '../exchange/exchange.ts';
import type { Keep } from './remote-command.ts';
import { serveSpdy, type SpdyStream } from './spdy/connection.ts';

const PROTOCOL = 'portforward.k8s.io';
const TUNNELED = `SPDY/3.1+${PROTOCOL}`;
const HTTP = /^[A-Z]{3,7} [^ ]+ HTTP\/1\.[01]\r\n/;

const server = new WebSocketServer({
  noServer: true,
  maxPayload: 1024 * 1024,
  perMessageDeflate: false,
  handleProtocols: (offered) => offered.has(TUNNELED) && TUNNELED,
});

/** Whether a client offers a way of forwarding that is spoken here. */
export function speaksPortForward(headers: Readonly<Record<string, string | undefined>>): boolean {
  const upgrade = headers['upgrade']?.toLowerCase();
  const offered = (headers[upgrade === 'websocket' ? 'sec-websocket-protocol' : 'x-stream-protocol-version'] ?? '')
    .split(',')
    .map((one) => one.trim());
  return upgrade === 'websocket'
    ? offered.includes(TUNNELED)
    : upgrade === 'spdy/3.1' && (offered.includes(PROTOCOL) || offered[0] === '');
}

export function servePortForward(connection: RawConnection, keep: Keep): void {
  const { head, headers, method, socket, url } = connection;
  if (headers.upgrade?.toLowerCase() === 'websocket') {
    server.handleUpgrade({ headers, method, url } as IncomingMessage, socket, head, (client) =>
      forward(createWebSocketStream(client), keep),
    );
    return;
  }
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${PROTOCOL}\r\n\r\n`,
  );
  if (head.length > 0) socket.unshift(head);
  forward(socket, keep);
}

function forward(wire: Duplex, keep: Keep): void {
  wire.on('error', () => {});
  wire.on(
    'close',
    keep(() => wire.destroy()),
  );
  /** Streams of errors, of which nothing goes wrong, by connection: they end with it. */
  const errors = new Map<string, SpdyStream>();
  void serveSpdy(wire, (stream) => {
    const id = stream.headers.get('requestid') ?? '';
    if (stream.headers.get('streamtype') === 'error') errors.set(id, stream);
    else {
      echo(stream, () => {
        errors.get(id)?.end();
        errors.delete(id);
      });
    }
  });
}

function echo(stream: SpdyStream, ended: () => void): void {
  const end = (): void => {
    stream.end();
    ended();
  };
  let isFirst = true;
  stream.onData = (chunk) => {
    const text = isFirst ? chunk.toString('latin1') : '';
    isFirst = false;
    if (!HTTP.test(text)) return stream.write(chunk);
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${chunk.length}\r\nConnection: close\r\n\r\n`;
    stream.write(Buffer.concat([Buffer.from(head), chunk]));
    end();
  };
  stream.onEnd = end;
}
