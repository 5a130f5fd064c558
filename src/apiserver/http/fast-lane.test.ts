import { type AddressInfo, connect, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiHandler } from '../exchange.ts';
import { serveFastLane } from './fast-lane.ts';
import { SimpleRequestReader } from './simple-request.ts';

const HOST = 'host: x\r\n';
const simple = (text: string) => new SimpleRequestReader().read(Buffer.from(text, 'latin1'));

test('a whole request is read with its headers, its body and what follows', () => {
  const read = simple(`POST /a?b=c HTTP/1.1\r\n${HOST}Content-Length: 2\r\nX-Y:  z \r\n\r\nokGET`);
  expect(read).toMatchObject({
    method: 'POST',
    url: '/a?b=c',
    headers: { host: 'x', 'content-length': '2', 'x-y': 'z' },
  });
  expect([read?.body?.toString(), read?.rest?.toString()]).toEqual(['ok', 'GET']);
});

test('a head that came before is read like the first, with the body that comes with it now', () => {
  const reader = new SimpleRequestReader();
  const head = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
  const read = (text: string) => {
    const request = reader.read(Buffer.from(text));
    return request && `${request.url} ${request.body?.toString() ?? '-'} ${request.rest?.toString() ?? '-'}`;
  };
  expect(read(`${head('/a', 3)}one`)).toBe('/a one -');
  expect(read(`${head('/a', 3)}two${head('/a', 3)}`)).toBe(`/a two ${head('/a', 3)}`);
  expect(read(`${head('/a', 3)}12`)).toBeUndefined();
  expect(read(head('/a', 3).slice(0, -2))).toBeUndefined();
  expect(read(`${head('/a', 4)}four`)).toBe('/a four -');
  expect(read(`${head('/b', 4)}four`)).toBe('/b four -');
  expect(read('GET /c HTTP/1.1\r\nhost: x\r\n\r\n')).toBe('/c - -');
  expect(read(`${head('/b', 4)}five`)).toBe('/b five -');
});

const unusual = {
  'no host': 'GET / HTTP/1.1\r\naccept: a\r\n\r\n',
  'no headers': 'GET / HTTP/1.1\r\n\r\n',
  'an older version': `GET / HTTP/1.0\r\n${HOST}\r\n`,
  'another method': `HEAD / HTTP/1.1\r\n${HOST}\r\n`,
  'an absolute URL': `GET http://x/ HTTP/1.1\r\n${HOST}\r\n`,
  'a repeated header': `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`,
  'a folded header': `GET / HTTP/1.1\r\n${HOST}a: b\r\n c\r\n\r\n`,
  'a space before the colon': `GET / HTTP/1.1\r\n${HOST}a : b\r\n\r\n`,
  'bare line feeds': `GET / HTTP/1.1\nhost: x\n\n`,
  'a control character': `GET / HTTP/1.1\r\n${HOST}a: b\0\r\n\r\n`,
  chunks: `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks and a length': `POST / HTTP/1.1\r\n${HOST}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\na`,
  'two lengths': `POST / HTTP/1.1\r\n${HOST}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
  'a signed length': `POST / HTTP/1.1\r\n${HOST}content-length: +1\r\n\r\na`,
  'a length too large': `POST / HTTP/1.1\r\n${HOST}content-length: 99999999\r\n\r\na`,
  'half a body': `POST / HTTP/1.1\r\n${HOST}content-length: 9\r\n\r\na`,
  'half a head': `GET / HTTP/1.1\r\n${HOST}`,
  'a body on GET': `GET / HTTP/1.1\r\n${HOST}content-length: 1\r\n\r\na`,
  'a wish to go on': `POST / HTTP/1.1\r\n${HOST}expect: 100-continue\r\ncontent-length: 1\r\n\r\na`,
  'another protocol': `GET / HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  'the last request': `GET / HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`,
  'a watch': `GET /api/v1/pods?watch=true HTTP/1.1\r\n${HOST}\r\n`,
  'a log': `GET /api/v1/namespaces/a/pods/b/log HTTP/1.1\r\n${HOST}\r\n`,
};
for (const [name, text] of Object.entries(unusual)) {
  test(`a request with ${name} is left to Node`, () => expect(simple(text)).toBeUndefined());
}

let server: Server;
const byNode: string[] = [];
const handle: ApiHandler = ({ method, url, body }) =>
  Promise.resolve({
    status: 200,
    headers: { 'x-odd': 'a\r\nb: c', many: ['1', '2'] },
    body:
      url === '/large'
        ? [Buffer.alloc(70_000, 'l'), Buffer.from('!')]
        : Buffer.from(`${method} ${url} ${String(body ?? '')};`),
  });

beforeAll(async () => {
  const node = createServer((request, response) => {
    byNode.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.end('by node;'));
  });
  server = createNetServer((socket) => serveFastLane(handle, socket, () => node.emit('connection', socket)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());

async function exchange(send: (socket: Socket) => void, until: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => send(socket));
  let text = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.endsWith(until)) resolve();
    });
  });
  socket.destroy();
  return text;
}

test('requests sent one after the other without waiting are answered in order', async () => {
  const text = await exchange((socket) => {
    socket.write(
      `GET /1 HTTP/1.1\r\n${HOST}\r\nPOST /2 HTTP/1.1\r\n${HOST}content-length: 2\r\n\r\nhiGET /3 HTTP/1.1\r\n${HOST}\r\n`,
    );
  }, 'GET /3 ;');
  expect(text.match(/(GET|POST) \/\d [a-z]*;/g)).toEqual(['GET /1 ;', 'POST /2 hi;', 'GET /3 ;']);
});

test('a header value cannot start a header of its own', async () => {
  const text = await exchange((socket) => socket.write(`GET /1 HTTP/1.1\r\n${HOST}\r\n`), ';');
  expect(text).toContain('x-odd: a??b: c\r\nmany: 1\r\nmany: 2\r\n');
});

test('a large answer comes whole and leaves the connection usable', async () => {
  const text = await exchange((socket) => {
    socket.write(`GET /large HTTP/1.1\r\n${HOST}\r\n`);
    socket.write(`GET /after HTTP/1.1\r\n${HOST}\r\n`);
  }, 'GET /after ;');
  expect(text).toContain('content-length: 70001\r\n');
  expect(text).toContain('ll!HTTP/1.1 200 OK');
});

test('an unusual request after simple ones takes the connection to Node with nothing lost', async () => {
  const text = await exchange((socket) => {
    socket.write(
      `GET /1 HTTP/1.1\r\n${HOST}\r\nPOST /chunked HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    );
  }, 'by node;');
  expect(text).toContain('GET /1 ;');
  expect(byNode).toEqual(['POST /chunked']);
});
