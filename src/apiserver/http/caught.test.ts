/** The class of issue 17: whatever an exchange throws, its client hears of it and nobody else does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiHandler, ApiResponse } from '../exchange/exchange.ts';
import { type Edge, startEdge } from './edge.fixture.ts';

const answer = (over: Partial<ApiResponse>): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from('ok'),
  ...over,
});

const handlers: Readonly<Record<string, ApiHandler>> = {
  '/throws': () => {
    throw new TypeError('thrown at once');
  },
  '/rejects': () => Promise.reject(new RangeError('rejected')),
  '/no-error': () => Promise.reject(Object.create(null) as Error),
  '/no-answer': () => Promise.resolve(undefined as unknown as ApiResponse),
  '/no-status': () => Promise.resolve(answer({ status: 0, body: Buffer.from('ok') })),
  '/odd-headers': () =>
    Promise.resolve(
      answer({
        headers: {
          'x-split': 'a\r\nset-cookie: b',
          'x-above': 'ключ',
          'bad name': 'x',
          '': 'x',
          connection: 'upgrade',
          'content-length': '7',
          ':status': '200',
          'x-huge': 'h'.repeat(1_000_000),
          'x-many': Array.from({ length: 10_000 }, (_, at) => `value ${at}`),
        },
      }),
    ),
  '/stream-throws': () =>
    Promise.resolve(
      answer({
        body: () => {
          throw new Error('the stream cannot start');
        },
      }),
    ),
  '/fine': () => Promise.resolve(answer({})),
};

let edge: Edge;
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(async () => {
  process.on('unhandledRejection', note);
  edge = await startEdge({
    handle: (request) => (handlers[request.url] ?? (handlers['/fine'] as ApiHandler))(request),
  });
});
afterAll(async () => {
  await edge.stop();
  process.removeListener('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

for (const protocol of ['http1', 'http2'] as const) {
  describe(protocol, () => {
    for (const path of ['/throws', '/rejects', '/no-error', '/no-answer']) {
      it(`17, the class: ${path.slice(1)} is a 500 Status`, async () => {
        const got = await edge[protocol]({ method: 'POST', path, pieces: ['body'] });
        expect(got.status).toBe(500);
        expect(JSON.parse(got.body)).toMatchObject({ kind: 'Status', reason: 'InternalError', code: 500 });
        expect((await edge[protocol]({ method: 'GET', path: '/fine' })).body).toBe('ok');
      });
    }

    it('a status that is none is 500', async () => {
      expect((await edge[protocol]({ method: 'GET', path: '/no-status' })).status).toBe(500);
    });

    it('whatever headers a handler gives, those that go out are legal and few', async () => {
      const got = await edge[protocol]({ method: 'GET', path: '/odd-headers' });
      expect(got.status).toBe(200);
      expect(got.body).toBe('ok');
      expect([got.headers['x-split']].flat()).toEqual(['a  set-cookie: b']);
      expect(got.headers['set-cookie']).toBeUndefined();
      expect(Buffer.from(String(got.headers['x-above']), 'latin1').toString('utf8')).toBe('ключ');
      expect(JSON.stringify(got.headers).length).toBeLessThan(40_000);
    });

    it('a stream that fails after the head is cut off', async () => {
      const got = await edge[protocol]({ method: 'GET', path: '/stream-throws' });
      expect(got.body).toBe('');
      expect((await edge[protocol]({ method: 'GET', path: '/fine' })).body).toBe('ok');
    });
  });
}
