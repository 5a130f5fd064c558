import { afterEach, expect, test } from 'vitest';
import { createResponder, type ListeningResponder, type Prepare, type ResponderOptions } from './index.ts';

const open: ListeningResponder[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const notice = (action = 'Notify', id = 'n1'): string =>
  JSON.stringify({
    apiVersion: 'notice.quorate.dev/v1',
    id,
    action,
    attempt: 1,
    group: { namespace: 'ml', kind: 'PodGroup', name: 'trainer' },
    members: [{ name: 'trainer-0', uid: 'u0', node: 'node-0' }],
    reason: 'kernel',
    startedAt: '2026-11-17T10:00:00.000000Z',
    deadline: '2026-11-17T10:10:00.000000Z',
  });

async function serve(prepare: Prepare, options: ResponderOptions = {}) {
  const responder = await createResponder(prepare, options).listen({ port: 0, host: '127.0.0.1' });
  open.push(responder);
  return async (body: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${responder.port}/`, { method: 'POST', body, ...init });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

test('createResponder() acknowledges when the work is done, and begins it once', async () => {
  let begun = 0;
  let finish = (): void => {};
  const ask = await serve(({ group }, { progress }) => {
    begun += 1;
    progress(`saving ${group.name}`, new Date('2026-11-17T10:01:00Z'));
    return new Promise((resolve) => (finish = resolve));
  });
  const working = { state: 'Working', message: 'saving trainer', expectedAt: '2026-11-17T10:01:00.000Z' };
  expect(await ask(notice())).toEqual({ status: 200, body: working });
  expect((await ask(notice())).body).toEqual(working);
  finish();
  expect((await ask(notice())).body).toEqual({ state: 'Acknowledged' });
  expect(begun).toBe(1);
  await ask(notice('Notify', 'n2'));
  expect(begun).toBe(2);
});

test('createResponder() stops the work when the notice is withdrawn', async () => {
  let stopped = false;
  const ask = await serve(
    (_notice, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(new Error('withdrawn'));
        });
      }),
  );
  await ask(notice());
  expect((await ask(notice('Withdraw'))).status).toBe(200);
  expect(stopped).toBe(true);
});

test('createResponder() says nothing about a failure but that there was one, and begins again', async () => {
  const errors: unknown[] = [];
  let tries = 0;
  const ask = await serve(
    () => {
      tries += 1;
      return tries === 1 ? Promise.reject(new Error('disk password is hunter2')) : undefined;
    },
    { onError: (error) => errors.push(error) },
  );
  await ask(notice());
  const failed = await ask(notice());
  expect(failed.status).toBe(500);
  expect(JSON.stringify(failed.body)).not.toContain('hunter2');
  expect((await ask(notice())).body).toEqual({ state: 'Acknowledged' });
  expect([errors.length, tries]).toEqual([1, 2]);
});

test.each(['', 'x', '[]', '{}', '{"apiVersion":"notice.quorate.dev/v2","action":"Notify","id":"a"}'])(
  'createResponder() refuses %j',
  async (body) => {
    const ask = await serve(() => undefined);
    expect((await ask(body)).status).toBe(400);
  },
);

test('createResponder() asks callers for their secret, and answers only POST', async () => {
  const ask = await serve(() => undefined, { auth: { header: 'X-Token', value: 'secret' } });
  expect((await ask(notice())).status).toBe(401);
  expect((await ask(notice(), { headers: { 'x-token': 'secret' } })).status).toBe(200);
  expect((await ask(notice(), { method: 'PUT', headers: { 'x-token': 'secret' } })).status).toBe(405);
});
