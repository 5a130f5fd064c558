import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createHttpTransport } from './http-transport.ts';
import { readBody } from './transport.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

test('bodies of every method arrive whole, one after another on one connection', async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.end(`${request.method} ${Buffer.concat(chunks).toString()}`));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const transport = createHttpTransport({ server: `http://127.0.0.1:${port}`, namespace: 'default' });
  const send = async (method: string, body?: string): Promise<string> => {
    const response = await transport.send({ method, path: '/', body });
    return `${response.status} ${(await readBody(response.body)).toString()}`;
  };
  expect(await send('DELETE', '{"a":"ü"}')).toBe('200 DELETE {"a":"ü"}');
  expect(await send('DELETE', '{"b":1}')).toBe('200 DELETE {"b":1}');
  expect(await send('PATCH', '{"c":1}')).toBe('200 PATCH {"c":1}');
  expect(await send('GET')).toBe('200 GET ');
  transport.close();
});
