/** Bytes on a connection of the API server: it answers them or ends the connection, and goes on serving. */
import { connect, type TLSSocket } from 'node:tls';
import { type Edge, startEdge } from '../../src/apiserver/http/edge.fixture.ts';
import { Broken, type Subject } from './subject.ts';

const WORDS = [
  '\r\n',
  '\r\n\r\n',
  'GET ',
  'POST ',
  ' HTTP/1.1',
  ' HTTP/1.0',
  'PRI * HTTP/2.0',
  '/version',
  'host: x\r\n',
  'content-length: 3\r\n',
  'content-length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  '3\r\nabc\r\n',
  '0\r\n\r\n',
  'expect: 100-continue\r\n',
  'connection: close\r\n',
  'upgrade: websocket\r\n',
  '\0',
  ':',
  '%00',
  '\xff',
];

/** What asks for an answer whatever came before it, unless that took it for its own body. */
const SOUND = 'GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

export async function httpSubject(): Promise<Subject> {
  const edge = await startEdge();
  let session: Buffer | undefined;
  return {
    name: 'http-framing',
    weight: 0.05,
    words: WORDS,
    async attempt(input) {
      const { statuses, next } = await exchange(edge, input, session);
      session = next;
      const sound = await exchange(edge, Buffer.from(SOUND), session);
      if (sound.statuses.join() !== '200') throw new Broken(`a sound request after it: ${sound.statuses.join()}`);
      return `answered: ${[...new Set(statuses)].join(' ')}`;
    },
    stop: () => edge.stop(),
  };
}

/** Sends everything and closes its side; resolves to the statuses of the answers when the server has closed its own. */
function exchange({ port }: Edge, bytes: Buffer, session: Buffer | undefined) {
  return new Promise<{ statuses: string[]; next: Buffer | undefined }>((resolve) => {
    let text = '';
    let next = session;
    const socket: TLSSocket = connect(
      { host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...(session && { session }) },
      () => socket.end(bytes),
    );
    socket.on('session', (given: Buffer) => (next = given));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => {
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status);
      resolve({ statuses: statuses.slice(0, 8), next });
    });
  });
}
