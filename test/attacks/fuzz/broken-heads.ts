/** Bytes that are no sound HTTP, and HTTP/2 used against its rules. Only that the server lives is asked of them. */
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import type { Dice } from './dice.ts';

const HEADS = [
  'GET / HTTP/1.1\r\n\r\n',
  'GET /api/v1/pods HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n',
  'POST /api/v1/namespaces HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\ncontent-length: 20\r\n\r\n{}',
  'POST /api/v1/namespaces HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n0\r\n\r\n',
  'POST /api/v1/namespaces HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n',
  'POST /api/v1/namespaces HTTP/1.1\r\nhost: a\r\ncontent-length: 999999999999\r\n\r\n{}',
  'POST /api/v1/namespaces HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n{}',
  'GET /api/v1/pods HTTP/9.9\r\nhost: a\r\n\r\n',
  'GET  /api HTTP/1.1\r\nhost: a\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET * HTTP/1.1\r\nhost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET http://x/api HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /api HTTP/1.1\r\nhost: a\r\nx: \0\r\n\r\n',
  'GET /api HTTP/1.1\r\nhost: a\r\n folded: x\r\n\r\n',
  'GET /api HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  'GET /api HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n',
  `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: a\r\n${'x: y\r\n'.repeat(3000)}\r\n`,
  'GET /api/v1/n\u00f1\u0000 HTTP/1.1\r\nhost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01',
];

export async function sendBrokenHead(dice: Dice, host: string, port: number): Promise<void> {
  if (dice.chance(0.4)) return misuseHttp2(dice, host, port);
  const head = Buffer.from(dice.pick(HEADS), 'latin1');
  if (dice.chance(0.2)) head[dice.number(head.length)] = dice.number(256);
  const cut = dice.chance(0.2) ? dice.number(head.length) : head.length;
  await new Promise<void>((resolve) => {
    const socket = connectTls({ host, port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    const leave = setTimeout(() => socket.destroy(), 100);
    socket.on('error', () => {});
    socket.once('data', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(leave);
      resolve();
    });
    // In two parts: what reads the head of a request must not rely on its coming at once.
    const middle = dice.number(cut + 1);
    socket.write(head.subarray(0, middle), () => socket.write(head.subarray(middle, cut)));
  });
}

const MISUSES: readonly Record<string, string>[] = [
  { ':method': 'CONNECT', ':authority': 'a:1' },
  { ':method': 'GET', ':path': '*' },
  { ':method': 'OPTIONS', ':path': '*' },
  { ':method': 'GET', ':path': '/api/v1/\u00f1' },
  { ':method': 'POST', ':path': '/api/v1/namespaces', 'content-length': '5' },
  { ':method': 'POST', ':path': '/api/v1/namespaces', 'content-type': '\u00ff' },
  { ':method': 'GET', ':path': '', cookie: 'a=b' },
  { ':method': 'GET', ':path': '/', ':scheme': 'nothing' },
  { ':method': '', ':path': '/' },
];

function misuseHttp2(dice: Dice, host: string, port: number): Promise<void> {
  return new Promise((resolve) => {
    const session = connectHttp2(`https://${host}:${port}`, { rejectUnauthorized: false });
    const leave = setTimeout(() => session.destroy(), 200);
    session.on('error', () => {});
    session.once('close', () => {
      clearTimeout(leave);
      resolve();
    });
    session.once('connect', () => {
      try {
        const stream = session.request(dice.pick(MISUSES), { endStream: false });
        stream.on('error', () => {});
        stream.once('close', () => session.destroy());
        stream.resume();
        if (dice.chance(0.3)) stream.close(dice.pick([constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR]));
        else if (dice.chance(0.5)) stream.end('{"a":1}');
        else stream.write('{');
      } catch {
        // Node itself refuses to send some of these.
        session.destroy();
      }
    });
  });
}
