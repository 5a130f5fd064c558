import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createHttpTransport, type HttpTransport } from './http-transport.ts';
import { startControlPlane } from '../../testkit/index.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import { readBody } from './transport.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(handle: RequestListener): Promise<HttpTransport> {
  server = createServer(handle);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return createHttpTransport({ server: `http://127.0.0.1:${port}`, namespace: 'default' });
}

async function text(transport: HttpTransport, method: string, path: string): Promise<string> {
  const { body } = await transport.send({ method, path, whole: true });
  return (await readBody(body)).toString();
}

test.each([
  ['whole', true],
  ['as a stream', false],
])('bodies of every method arrive, one after another on connections that are kept, answered %s', async (_, whole) => {
  const sockets = new Set<unknown>();
  const transport = await listen((request, response) => {
    sockets.add(request.socket);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.end(`${request.method} ${Buffer.concat(chunks).toString()}`));
  });
  const send = async (method: string, body?: string): Promise<string> => {
    const response = await transport.send({ method, path: '/', body, whole });
    return `${response.status} ${(await readBody(response.body)).toString()}`;
  };
  expect(await send('DELETE', '{"a":"ü"}')).toBe('200 DELETE {"a":"ü"}');
  expect(await send('DELETE', '{"b":1}')).toBe('200 DELETE {"b":1}');
  expect(await send('PATCH', '{"c":1}')).toBe('200 PATCH {"c":1}');
  expect(await send('GET')).toBe('200 GET ');
  // A connection rests for one turn of the event loop before it is used again.
  expect(sockets.size).toBeLessThanOrEqual(2);
  transport.close();
});

test('requests at once take a connection each, and none waits for ever', async () => {
  const transport = await listen((request, response) => {
    setImmediate(() => response.end(request.url));
  });
  const paths = Array.from({ length: 600 }, (_, index) => `/${index}`);
  expect(await Promise.all(paths.map((path) => text(transport, 'GET', path)))).toEqual(paths);
  transport.close();
});

test('reading is tried again on a new connection when the kept one is gone; writing is not', async () => {
  let dropping = false;
  const transport = await listen((request, response) => {
    if (dropping) {
      dropping = false;
      request.socket.destroy();
    } else {
      response.end('here');
    }
  });
  const send = (method: string) => text(transport, method, '/');
  await send('GET');
  dropping = true;
  expect(await send('GET')).toBe('here');
  dropping = true;
  await expect(send('POST')).rejects.toThrow('the API server closed the connection');
  expect(await send('POST')).toBe('here');
  transport.close();
});

test('nothing in a path or a header can begin another request', async () => {
  const transport = await listen((_, response) => response.end());
  await expect(transport.send({ method: 'GET', path: '/\r\nx: y', whole: true })).rejects.toThrow(
    'invalid request path',
  );
  const headers = { 'user-agent': 'a\r\nb: c' };
  await expect(transport.send({ method: 'GET', path: '/', headers, whole: true })).rejects.toThrow(
    'invalid user-agent header',
  );
  transport.close();
});

test('connections that resume the session of another are those of the same user', async () => {
  const plane = await startControlPlane({ port: 0 });
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const ask = async (): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}';
    const answer = await transport.send({ method: 'POST', path, headers, body, whole: true });
    const review = JSON.parse((await readBody(answer.body)).toString()) as {
      status?: { userInfo?: { username?: string } };
    };
    return review.status?.userInfo?.username;
  };
  const first = await ask();
  expect(first).toMatch(/./);
  expect(new Set(await Promise.all(Array.from({ length: 20 }, ask)))).toEqual(new Set([first]));
  transport.close();
  await plane.stop();
});

test('a server that is not there is named', async () => {
  const transport = await listen(() => {});
  const { port } = (server as Server).address() as AddressInfo;
  await new Promise((resolve) => server?.close(resolve));
  await expect(transport.send({ method: 'GET', path: '/', whole: true })).rejects.toThrow(
    `cannot reach the API server at 127.0.0.1:${port}: nothing listens there (ECONNREFUSED)`,
  );
});

test('what a watch sends in small pieces is gathered, and what comes later comes by itself', async () => {
  let sendMore = (): void => {};
  const transport = await listen((_, response) => {
    response.write('a');
    setImmediate(() => response.write('b'));
    sendMore = () => response.end('c');
  });
  const { body } = await transport.send({ method: 'GET', path: '/', gatherMs: 200 });
  const chunks = (body as AsyncGenerator<Buffer>)[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe('ab');
  sendMore();
  expect(String((await chunks.next()).value)).toBe('c');
  expect((await chunks.next()).done).toBe(true);
  transport.close();
});

test('a watch that sends much is not held up by gathering', async () => {
  const text = `${'x'.repeat(1023)}\n`.repeat(20_000);
  const transport = await listen((_, response) => response.end(text));
  // One wait for each part that arrives would be more than a minute.
  const { body } = await transport.send({ method: 'GET', path: '/', gatherMs: 100 });
  expect((await readBody(body)).toString()).toBe(text);
  transport.close();
});

test('a gathered watch that breaks off fails, and so does one that nobody wants any more', async () => {
  const transport = await listen((request, response) => {
    response.write('a');
    if (request.headers['x-break'] === 'yes') setImmediate(() => request.socket.destroy());
  });
  const headers = { 'x-break': 'yes' };
  const broken = await transport.send({ method: 'GET', path: '/', headers, gatherMs: 1 });
  await expect(readBody(broken.body)).rejects.toThrow('other side closed');
  const abort = new AbortController();
  const unwanted = await transport.send({ method: 'GET', path: '/', signal: abort.signal, gatherMs: 1 });
  const chunks = (unwanted.body as AsyncGenerator<Buffer>)[Symbol.asyncIterator]();
  await chunks.next();
  const next = chunks.next();
  abort.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  transport.close();
});

test('18.6: a request that is not answered in time fails by itself, and its connection is not used again', async () => {
  let stalled = true;
  const given = new Set<unknown>();
  let answering: unknown;
  const transport = await listen((request, response) => {
    if (stalled) given.add(request.socket);
    else {
      answering = request.socket;
      response.end('answered');
    }
  });
  const late = /no answer from the API server within 0\.05 s \(GET \/a\)/;
  for (const whole of [true, false]) {
    await expect(transport.send({ method: 'GET', path: '/a?b', whole, deadlineMs: 50 })).rejects.toThrow(late);
  }
  stalled = false;
  expect(await text(transport, 'GET', '/a')).toBe('answered');
  // On a busy machine a deadline may pass before the server has seen the connection: those it saw are not used again.
  expect(given.has(answering)).toBe(false);
  transport.close();
});

test('18.6: requests that wait for a connection have a deadline too, and leave room for those that come later', async () => {
  let stalled = true;
  const transport = await listen((_request, response) => {
    if (!stalled) response.end('answered');
  });
  const asked = Array.from({ length: 300 }, () =>
    transport.send({ method: 'GET', path: '/', whole: true, deadlineMs: 300 }),
  );
  const failed = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
  expect(failed).toHaveLength(300);
  stalled = false;
  expect(await text(transport, 'GET', '/')).toBe('answered');
  transport.close();
});

test('a server that goes while it is asked is named too', async () => {
  const transport = await listen(({ socket }) => {
    server?.close();
    socket.resetAndDestroy();
  });
  const { port } = (server as Server).address() as AddressInfo;
  await expect(transport.send({ method: 'GET', path: '/', whole: true })).rejects.toThrow(
    `cannot reach the API server at 127.0.0.1:${port}: nothing listens there (ECONNREFUSED)`,
  );
});
