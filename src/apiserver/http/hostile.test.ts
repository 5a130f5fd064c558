import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, sendHttp2, startEdge, warningsOf } from './edge.fixture.ts';

/** Machines may be busy. */
const PATIENCE = { timeout: 60_000 };
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PROTOCOLS = ['http1', 'http2'] as const;

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ limits: { bodyBytesInFlight: 3_000_000, bodyBytesInFlightPerUser: 2_000_000 } });
});
afterAll(() => edge.stop());

const isAlive = async (): Promise<void> => {
  for (const protocol of PROTOCOLS) {
    expect((await edge[protocol]({ method: 'GET', path: '/livez' })).status).toBe(200);
  }
};

for (const protocol of PROTOCOLS) {
  describe(protocol, () => {
    it('17.1: CONNECT without a path and without credentials is 403', async () => {
      const answer = await edge[protocol]({ method: 'CONNECT', path: 'example.com:443' });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body)).toMatchObject({ kind: 'Status', code: 403, reason: 'Forbidden' });
      await isAlive();
    });

    it('17.2: warnings with characters above Latin-1 go out as UTF-8', async () => {
      const body = JSON.stringify({ metadata: { name: `above-${protocol}` }, 'ключ😀': 1 });
      const headers = { ...edge.admin, 'content-type': 'application/json' };
      const answer = await edge[protocol]({ method: 'POST', path: CONFIG_MAPS, headers, pieces: ['', body] });
      expect(answer.status).toBe(201);
      expect(warningsOf(answer)).toEqual(['unknown field "ключ😀"']);
      await isAlive();
    });

    it('17.3: warnings are 4 KB in all, however many there are and however long', async () => {
      const fields = Array.from({ length: 200 }, (_, at) => `"${'k'.repeat(2000)}${at}":1`).join(',');
      const body = `{"metadata":{"name":"many-${protocol}"},${fields}}`;
      const headers = { ...edge.admin, 'content-type': 'application/json' };
      const answer = await edge[protocol]({ method: 'POST', path: CONFIG_MAPS, headers, pieces: [body] });
      expect(answer.status).toBe(201);
      const warnings = warningsOf(answer);
      expect(warnings.length).toBeGreaterThan(0);
      expect(warnings.join('').length).toBeLessThanOrEqual(4096 + 256);
      for (const warning of warnings) expect(warning.length).toBeLessThanOrEqual(256);
      await isAlive();
    });

    it('17.10: who may not send a body is answered before it comes', async () => {
      const answer = await edge[protocol]({ method: 'POST', path: CONFIG_MAPS, pieces: ['{'], unfinished: true });
      expect(answer.status).toBe(403);
      const wrong = { authorization: 'Bearer nonsense' };
      const refused = await edge[protocol]({ method: 'POST', path: CONFIG_MAPS, headers: wrong, unfinished: true });
      expect(refused.status).toBe(401);
    });

    if (protocol === 'http2') {
      it('17.10: bodies that are refused unread leave the window of their connection to others', async () => {
        const session = edge.session();
        for (const bytes of [42_000, 70_000, 70_000]) {
          const refused = { method: 'POST', path: CONFIG_MAPS, pieces: ['x'.repeat(bytes)] };
          const answers = await Promise.all(Array.from({ length: 60 }, () => sendHttp2(session, refused, false)));
          expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
        }
        const large = JSON.stringify({ metadata: { name: 'after-refusals' }, data: { a: 'y'.repeat(500_000) } });
        const headers = { ...edge.admin, 'content-type': 'application/json' };
        const path = `${CONFIG_MAPS}?dryRun=All`;
        expect((await sendHttp2(session, { method: 'POST', path, headers, pieces: [large] })).status).toBe(201);
      });
    }

    it('17.10: bodies in flight are bounded in sum, and what was held is free again afterwards', async () => {
      const headers = { ...edge.admin, 'content-type': 'application/json' };
      const unfinished = {
        method: 'POST',
        path: CONFIG_MAPS,
        headers,
        pieces: ['x'.repeat(900_000)],
        unfinished: true,
      };
      const session = edge.session();
      const sockets = await Promise.all([1, 2].map(() => edge.socket('http/1.1')));
      const held = protocol === 'http2' ? [1, 2].map(() => sendHttp2(session, unfinished, false)) : [];
      if (protocol === 'http1') {
        for (const socket of sockets) {
          const head = `POST ${CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: ${headers.authorization}\r\n`;
          socket.write(`${head}content-length: 900001\r\n\r\n${'x'.repeat(900_000)}`);
        }
      }
      const large = JSON.stringify({ metadata: { name: `large-${protocol}` }, data: { a: 'y'.repeat(500_000) } });
      const create = () =>
        edge[protocol]({ method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, headers, pieces: [large] });
      await expect.poll(() => edge.bodyBytesInFlight(), PATIENCE).toBeGreaterThanOrEqual(1_800_000);
      const answer = await create();
      expect(answer.status).toBe(429);
      expect(JSON.parse(answer.body)).toMatchObject({
        kind: 'Status',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
      });
      expect([answer.headers['retry-after']].flat()).toEqual(['1']);
      session.destroy();
      for (const socket of sockets) socket.destroy();
      await Promise.all(held);
      await expect.poll(() => edge.bodyBytesInFlight(), PATIENCE).toBe(0);
      expect((await create()).status).toBe(201);
    });

    it('a body over the limit is 413, also for a client that waits for 100 Continue', async () => {
      const headers = { ...edge.admin, 'content-length': '4000000', expect: '100-continue' };
      const answer = await edge[protocol]({ method: 'POST', path: CONFIG_MAPS, headers, unfinished: true });
      expect(answer.status).toBe(413);
    });

    const odd = [
      '/%',
      '/api/v1/%zz',
      '/api/v1/namespaces/%00/pods',
      '/api/v1/namespaces/default/pods/%ff',
      '/api/v1/pods/%2e%2e',
      `/${'a'.repeat(50_000)}`,
      `/api/v1/namespaces/${'n'.repeat(50_000)}/pods/x`,
      '/apis/////',
      '//',
      '/?%',
      '/api/v1/pods?limit=%',
      '/api/v1/pods?labelSelector=%00',
      '/api/v1/pods?fieldSelector=%ff%fe',
      '/api/v1/pods?continue=%00',
      ...(protocol === 'http1' ? ['*'] : []),
      '/api/v1/pods?resourceVersion=%F0%9F%98%80',
      '/apis/apps/v1/namespaces/a/__proto__',
      '/api/v1/constructor/x',
    ];
    for (const path of odd) {
      it(`answers ${path.slice(0, 60)} with something below 500`, async () => {
        const answer = await edge[protocol]({ method: 'GET', path, headers: edge.admin });
        expect(answer.status).toBeGreaterThanOrEqual(200);
        expect(answer.status).toBeLessThan(500);
      });
    }
  });
}
