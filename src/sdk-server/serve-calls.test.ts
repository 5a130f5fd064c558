import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { serveCalls } from './index.ts';

test('serveCalls() outlives a caller that goes in the middle of its body', async () => {
  const failures: unknown[] = [];
  const note = (error: unknown): void => void failures.push(error);
  process.on('unhandledRejection', note);
  const { handler } = serveCalls({ auth: undefined, maxRequestBytes: 100, answer: () => ({ status: 200, body: {} }) });
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const asked = once(server, 'request');
    const caller = connect(port, '127.0.0.1');
    caller.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\nhalf');
    const [request] = (await asked) as [NodeJS.ReadableStream];
    const closed = once(request, 'close').catch(() => undefined);
    caller.destroy();
    await closed;
    await turn();
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' });
    expect(response.status).toBe(200);
  } finally {
    server.close();
    server.closeAllConnections();
    process.off('unhandledRejection', note);
  }
  expect(failures).toEqual([]);
});
