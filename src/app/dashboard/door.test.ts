import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UI_HEADER } from '../../api/ui/stream.ts';
import { builtinType } from '../../api/registry.ts';
import type { ApiRequest, ApiResponse, StreamBody } from '../../apiserver/index.ts';
import { ManualClock, silentLogger } from '../../machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';
import { createEmbeddedDashboard, type EmbeddedDashboard } from './embedded.ts';
import { Sessions } from './sessions.ts';

let plane: ControlPlane;
let dashboard: EmbeddedDashboard;
beforeAll(async () => {
  plane = await startControlPlane();
  dashboard = createEmbeddedDashboard({
    api: plane.server.handle,
    client: plane.client,
    url: () => 'https://127.0.0.1:6443',
    names: ['plane.example'],
    clock: plane.clock,
    log: silentLogger,
  });
});
afterAll(async () => {
  dashboard.close();
  await plane.stop();
});

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly cookie?: string;
}

const OWN = { host: '127.0.0.1:6443', [UI_HEADER]: '1', 'sec-fetch-site': 'same-origin' };

function ask(url: string, { body, cookie, headers = {}, method = 'GET' }: Asked = {}): Promise<ApiResponse> {
  const request: ApiRequest = {
    method,
    url,
    headers: { ...OWN, ...(cookie !== undefined && { cookie }), ...headers },
    body: body === undefined ? undefined : Buffer.from(body),
    signal: new AbortController().signal,
    peer: {},
  };
  return dashboard.handle(request);
}

const codeOf = (path: string): string => path.slice(path.indexOf('#login=') + '#login='.length);
const logIn = async (path = dashboard.loginPath()): Promise<string> => {
  const answer = await ask('/ui/session', { method: 'POST', body: codeOf(path) });
  return String(answer.headers['set-cookie']).split(';', 1)[0] as string;
};

describe('sessions', () => {
  test('a login link works once', async () => {
    const code = codeOf(dashboard.loginPath());
    expect((await ask('/ui/session', { method: 'POST', body: code })).status).toBe(204);
    expect((await ask('/ui/session', { method: 'POST', body: code })).status).toBe(401);
  });

  test('a login link is void after ten minutes, a session after twelve hours', async () => {
    const clock = new ManualClock();
    const sessions = new Sessions(clock);
    const code = sessions.newCode('alice');
    const late = sessions.newCode('alice');
    const { session = '' } = sessions.redeem(code) ?? {};
    await clock.advance(10 * 60_000);
    expect(sessions.redeem(late)).toBeUndefined();
    expect(sessions.find(session)).toBe('alice');
    await clock.advance(12 * 60 * 60_000);
    expect(sessions.find(session)).toBeUndefined();
  });

  test('a session is known again by a server with the same key, and by no other', () => {
    const clock = new ManualClock();
    const key = Buffer.from('kept with the data');
    const first = new Sessions(clock, key);
    const { session = '' } = first.redeem(first.newCode('alice')) ?? {};
    expect(new Sessions(clock, key).find(session)).toBe('alice');
    expect(new Sessions(clock).find(session)).toBeUndefined();
    const [text = '', signature = ''] = session.split('.');
    const forged = Buffer.from(Buffer.from(text, 'base64url').toString('utf8').replace('alice', 'admin'));
    expect(new Sessions(clock, key).find(`${forged.toString('base64url')}.${signature}`)).toBeUndefined();
    expect(new Sessions(clock, key).find('')).toBeUndefined();
  });

  test('the cookie is out of reach of scripts, of other sites and of plain HTTP, and only for the page', async () => {
    const answer = await ask('/ui/session', { method: 'POST', body: codeOf(dashboard.loginPath()) });
    expect(answer.headers['set-cookie']).toMatch(
      /^__Secure-quorate-ui=[\w.-]+; Path=\/ui\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  test('without one nothing is told, and the API of the server does not look at it', async () => {
    expect((await ask('/ui/stream')).status).toBe(401);
    expect((await ask('/ui/k8s/api/v1/pods')).status).toBe(401);
    const cookie = await logIn();
    expect((await ask('/ui/k8s/api/v1/pods', { cookie })).status).toBe(200);
    expect((await ask('/ui/session', { cookie, method: 'DELETE' })).status).toBe(204);
    expect((await ask('/ui/k8s/api/v1/pods', { cookie })).status).toBe(401);
  });
});

describe('who is heard', () => {
  const cases = [
    { name: 'another site', headers: { 'sec-fetch-site': 'cross-site' }, want: 403 },
    { name: 'another port of this host', headers: { 'sec-fetch-site': 'same-site' }, want: 403 },
    { name: 'another origin', headers: { origin: 'https://evil.example' }, want: 403 },
    { name: 'another port, by its origin', headers: { origin: 'https://127.0.0.1:8443' }, want: 403 },
    { name: 'an origin that is none', headers: { origin: 'null' }, want: 403 },
    { name: 'a name that was made to point here', headers: { host: 'evil.example' }, want: 421 },
    { name: 'the same over HTTP/2', headers: { ':authority': 'evil.example:6443' }, want: 421 },
    { name: 'our own origin', headers: { origin: 'https://127.0.0.1:6443' }, want: 200 },
    { name: 'localhost', headers: { host: 'localhost:6443' }, want: 200 },
    { name: 'an address of version 6', headers: { host: '[::1]:6443' }, want: 200 },
    { name: 'a name the server has', headers: { host: 'plane.example' }, want: 200 },
  ];
  for (const { headers, name, want } of cases) {
    test(`${name}: ${want}`, async () => {
      const cookie = await logIn();
      const answer = await ask('/ui/k8s/api/v1/pods', { cookie, headers: headers as Record<string, string> });
      expect(answer.status).toBe(want);
    });
  }

  test('a request without our header, as a form or a picture sends it, is refused', async () => {
    const cookie = await logIn();
    const { [UI_HEADER]: _, ...headers } = OWN;
    const request = { method: 'GET', url: '/ui/k8s/api/v1/pods', headers: { ...headers, cookie }, body: undefined };
    const answer = await dashboard.handle({ ...request, signal: new AbortController().signal, peer: {} });
    expect(answer.status).toBe(403);
  });
});

test('where nobody is logged in the page is told how somebody can, and nothing else', async () => {
  const { body, status } = await ask('/ui/session');
  expect(status).toBe(200);
  expect(JSON.parse(Buffer.from(body as Uint8Array).toString('utf8'))).toEqual({ login: 'Link' });
});

test('nothing is written, and no watch goes past the stream', async () => {
  const cookie = await logIn();
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    expect((await ask('/ui/k8s/api/v1/namespaces/default/pods', { cookie, method })).status).toBe(405);
  }
  expect((await ask('/ui/k8s/api/v1/pods?watch=1', { cookie })).status).toBe(400);
});

test('every answer forbids framing, sniffing, inline code and keeping', async () => {
  for (const path of ['/ui/', '/ui/session', '/ui/nothing']) {
    const { headers } = await ask(path);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' });
  }
});

test('the API beside it is untouched', async () => {
  expect((await ask('/version')).status).toBe(200);
  expect((await ask('/ui')).headers).toMatchObject({ location: '/ui/' });
});

test('the stream tells what there is, then every change', async () => {
  const pods = builtinType('Pod');
  await plane.client.create(builtinType('Node'), { metadata: { name: 'node-a' } });
  const cookie = await logIn();
  const { body } = await ask('/ui/stream', { cookie });
  const lines = follow(body as StreamBody);
  await lines.until((all) => all.some((line) => 'ready' in line));
  expect(lines.all[0]).toMatchObject({ hello: { user: 'system:admin', server: 'https://127.0.0.1:6443' } });
  expect(lines.all).toContainEqual({ known: 'PodGroup', how: 'Known' });
  expect(lines.all.filter((line) => line['set'] === 'Node')).toHaveLength(1);
  const metadata = { name: 'a', namespace: 'default' };
  const spec = { containers: [{ name: 'c', image: 'i', env: [{ name: 'PASSWORD', value: 'hunter2' }] }] };
  await plane.client.create(pods, { metadata, spec } as never);
  await lines.until((all) => all.some((line) => line['set'] === 'Pod'));
  expect(JSON.stringify(lines.all)).not.toContain('hunter2');
  await plane.client.delete(pods, metadata, { gracePeriodSeconds: 0 });
  await lines.until((all) => all.some((line) => line['delete'] === 'Pod'));
  lines.stop();
});

test('22: what an object was for a moment is not sent; what it is at last is', async () => {
  const pods = builtinType('Pod');
  const cookie = await logIn();
  const { body } = await ask('/ui/stream', { cookie });
  const lines = follow(body as StreamBody);
  await lines.until((all) => all.some((line) => 'ready' in line));
  const told = (name: string) => lines.all.filter((line) => JSON.stringify(line).includes(`"name":"${name}"`));
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  for (const name of ['brief', 'stays']) {
    await plane.client.create(pods, { metadata: { name, namespace: 'default' }, spec } as never);
  }
  for (const value of ['one', 'two']) {
    const body = { metadata: { labels: { value } } };
    await plane.client.patch(pods, { name: 'stays', namespace: 'default' }, { type: 'merge', body });
  }
  await plane.client.delete(pods, { name: 'brief', namespace: 'default' }, { gracePeriodSeconds: 0 });
  await plane.settle();
  await lines.until((all) => all.some((line) => JSON.stringify(line).includes('"value":"two"')));
  expect(told('brief')).toEqual([{ delete: 'Pod', namespace: 'default', name: 'brief' }]);
  expect(told('stays')).toMatchObject([{ set: 'Pod', object: { metadata: { labels: { value: 'two' } } } }]);
  lines.stop();
});

/** Reads a stream; time is moved by hand, and the stream gathers for a moment. */
function follow(start: StreamBody) {
  const all: Record<string, unknown>[] = [];
  let heard = (): void => {};
  const stop = start({
    write(chunk) {
      for (const text of Buffer.from(chunk).toString('utf8').trim().split('\n')) all.push(JSON.parse(text));
      heard();
    },
    ready: () => undefined,
    end: () => {},
  });
  return {
    all,
    stop,
    async until(isSo: (lines: typeof all) => boolean): Promise<void> {
      while (!isSo(all)) {
        await plane.settle();
        await plane.clock.advance(20);
        await new Promise<void>((resolve) => {
          heard = resolve;
          setImmediate(resolve);
        });
      }
    },
  };
}
