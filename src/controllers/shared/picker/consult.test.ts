import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { DownscalePodPicker, HTTPPodPicker } from '../../../api/generated/apps-v1.ts';
import {
  type Clock,
  createClient,
  ManualClock,
  Metrics,
  settle,
  systemClock,
  type Transport,
} from '../../../machinery/runtime/index.ts';
import { createAddressPolicy, consultPicker, createHttpProtocol, MAX_ANSWER_BYTES, type Resolve } from './index.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Seen {
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: string[];
  readonly url: string;
  readonly body: string;
}

type Reply = (response: ServerResponse, attempt: number) => void;

/** A picker on loopback that records what it was asked. */
async function listen(reply: Reply): Promise<{ port: number; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      seen.push({ headers: request.headers, rawHeaders: request.rawHeaders, url: request.url ?? '', body });
      reply(response, seen.length);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, seen };
}

const secrets: Record<string, Record<string, string>> = {
  token: { key: Buffer.from('s3cr3t').toString('base64'), bad: Buffer.from('a\nb').toString('base64') },
};

/** An API that knows a few secrets of namespace `default` and nothing else. */
const transport: Transport = async ({ path }) => {
  const name = /^\/api\/v1\/namespaces\/default\/secrets\/(.+)$/.exec(path)?.[1] ?? '';
  const data = secrets[name];
  const body =
    data === undefined
      ? { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message: `secrets "${name}" not found` }
      : { metadata: { name }, data };
  return { status: data === undefined ? 404 : 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
};

interface Asking {
  readonly http: Partial<HTTPPodPicker> & { port: number | string };
  readonly picker?: Partial<DownscalePodPicker>;
  readonly clock?: Clock;
  readonly resolve?: Resolve;
  readonly allow?: readonly string[];
  readonly shutdown?: AbortSignal;
  readonly metrics?: Metrics;
}

function ask(asking: Asking) {
  const {
    allow = ['127.0.0.0/8'],
    clock = systemClock,
    http,
    metrics = new Metrics(),
    picker,
    resolve,
    shutdown,
  } = asking;
  const protocol = createHttpProtocol({
    client: createClient({ transport, userAgent: 'test' }),
    addresses: createAddressPolicy({ allow }),
    resolve,
  });
  return consultPicker(
    {
      namespace: 'default',
      picker: { timeoutSeconds: 20, maxRetries: 3, ...picker, http: { host: '127.0.0.1', ...http } },
      question: { count: 2, candidates: ['web-a', 'web-b', 'web-c'] },
    },
    { protocols: [protocol], clock, metrics, shutdown: shutdown ?? new AbortController().signal },
  );
}

const json =
  (body: unknown): Reply =>
  (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  };
const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(code, headers);
    response.end('{"chosen_pods":["secret body"]}');
  };

test('consultPicker() sends the documented request and reads the answer', async () => {
  const { port, seen } = await listen(json({ chosen_pods: ['web-b'], tied_pods: ['web-a'], more: 1 }));
  const headers = [{ name: 'X-A', value: '1' }, { name: 'x-a', value: '2' }, { name: 'X-Empty' }];
  expect(await ask({ http: { port, path: '/pick?zone=1', httpHeaders: headers } })).toEqual({
    ok: true,
    attempts: 1,
    answer: { chosen: ['web-b'], tied: ['web-a'] },
  });
  const [request] = seen;
  expect(request?.url).toBe('/pick?zone=1');
  expect(JSON.parse(request?.body ?? '')).toEqual({
    number_of_pods_requested: 2,
    candidate_pods: ['web-a', 'web-b', 'web-c'],
  });
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    host: `127.0.0.1:${port}`,
    'x-a': '1, 2',
    'x-empty': '',
  });
});

test('K7 no answer within the time ends the consultation at its deadline', async () => {
  const clock = new ManualClock();
  const { port, seen } = await listen(() => {});
  const asked = ask({ http: { port }, picker: { timeoutSeconds: 1 }, clock });
  while (seen.length === 0) await settle(1);
  await clock.advance(999);
  let over = false;
  void asked.then(() => {
    over = true;
  });
  await settle();
  expect(over).toBe(false);
  await clock.advance(1);
  expect(await asked).toEqual({ ok: false, reason: 'DeadlineExceeded', status: undefined, attempts: 1 });
});

test('K7 a body that never ends falls under the same deadline', async () => {
  const clock = new ManualClock();
  const { port, seen } = await listen((response) => {
    response.writeHead(200);
    response.write('{"chosen_pods":');
  });
  const asked = ask({ http: { port }, picker: { timeoutSeconds: 1 }, clock });
  while (seen.length === 0) await settle(1);
  await clock.advance(1000);
  expect(await asked).toMatchObject({ ok: false, reason: 'DeadlineExceeded' });
});

test('K8 a refused connection is tried four times with maxRetries 3', async () => {
  const { port } = await listen(json({}));
  servers.pop()?.close();
  expect(await ask({ http: { port } })).toMatchObject({ ok: false, reason: 'ConnectionFailed', attempts: 4 });
});

test('K8 waits double from 50 ms between attempts', async () => {
  const clock = new ManualClock();
  const asked = ask({
    http: { host: 'nowhere.example', port: 1 },
    picker: { maxRetries: 2 },
    resolve: () => Promise.reject(new Error('no such host')),
    clock,
  });
  const waits: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    await settle();
    waits.push((clock.nextDue as number) - clock.now());
    await clock.advance(waits[round] as number);
  }
  expect(waits).toEqual([50, 100]);
  expect(await asked).toMatchObject({ ok: false, reason: 'ConnectionFailed', attempts: 3 });
});

test('K9 503, 503, then a valid answer: the third attempt counts', async () => {
  const { port, seen } = await listen((response, attempt) =>
    attempt < 3 ? status(503)(response, attempt) : json({ chosen_pods: ['web-a'] })(response, attempt),
  );
  expect(await ask({ http: { port } })).toMatchObject({
    ok: true,
    attempts: 3,
    answer: { chosen: ['web-a'], tied: [] },
  });
  expect(seen).toHaveLength(3);
});

test.each([
  [401, 'Refused'],
  [404, 'Refused'],
  [302, 'Redirected'],
  [304, 'Redirected'],
] as const)('K10 status %i is final', async (code, reason) => {
  const elsewhere = await listen(json({ chosen_pods: [] }));
  const { port, seen } = await listen(status(code, { location: `http://127.0.0.1:${elsewhere.port}/` }));
  expect(await ask({ http: { port } })).toEqual({ ok: false, reason, status: code, attempts: 1 });
  expect(seen).toHaveLength(1);
  expect(elsewhere.seen).toHaveLength(0);
});

test.each([408, 425, 429, 500, 599])('F3 status %i is tried again', async (code) => {
  const { port } = await listen(status(code));
  expect(await ask({ http: { port }, picker: { maxRetries: 1 } })).toEqual({
    ok: false,
    reason: 'ServerError',
    status: code,
    attempts: 2,
  });
});

const padded = (bytes: number): string => {
  const frame = '{"chosen_pods":["web-a"],"pad":""}';
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
};

test('K11 an answer of exactly 1 MiB is read', async () => {
  const { port } = await listen((response) => response.end(padded(MAX_ANSWER_BYTES)));
  expect(await ask({ http: { port } })).toMatchObject({ ok: true, attempts: 1 });
});

test.each(['with', 'without'])('K11 one byte more %s a length is refused without another try', async (how) => {
  const { port, seen } = await listen((response) => {
    if (how === 'without') response.flushHeaders();
    response.end(padded(MAX_ANSWER_BYTES + 1));
  });
  expect(await ask({ http: { port } })).toMatchObject({ ok: false, reason: 'AnswerTooLarge', attempts: 1 });
  expect(seen).toHaveLength(1);
});

test.each(['[]', '{}', '{"chosen_pods":"x"}', '{"chosen_pods":[1]}', '{"chosen_pods":["a"', '', '"x"', 'null', '\xff'])(
  'K12 the body %j is malformed and tried again',
  async (body) => {
    const { port } = await listen((response) => response.end(Buffer.from(body, 'latin1')));
    expect(await ask({ http: { port }, picker: { maxRetries: 1 } })).toMatchObject({
      ok: false,
      reason: 'MalformedAnswer',
      attempts: 2,
    });
  },
);

test.each([{ chosen_pods: [], tied_pods: [] }, { chosen_pods: null, tied_pods: [] }, { tied_pods: [] }])(
  'K13 %j reads as two empty lists',
  async (body) => {
    const { port } = await listen(json(body));
    expect(await ask({ http: { port } })).toMatchObject({ ok: true, answer: { chosen: [], tied: [] } });
  },
);

const secretHeader = (name: string, key: string, optional?: boolean) => [
  {
    name: 'Authorization',
    valueFrom: { secretKeyRef: { name, key, ...(optional === undefined ? {} : { optional }) } },
  },
];

test('K17 a header takes its value from a secret', async () => {
  const { port, seen } = await listen(json({ chosen_pods: [] }));
  expect(await ask({ http: { port, httpHeaders: secretHeader('token', 'key') } })).toMatchObject({ ok: true });
  expect(seen[0]?.headers.authorization).toBe('s3cr3t');
});

test.each([
  ['token', 'missing'],
  ['absent', 'key'],
  ['token', 'bad'],
])('K17 secret %s, key %s, not optional: no call', async (name, key) => {
  const { port, seen } = await listen(json({ chosen_pods: [] }));
  expect(await ask({ http: { port, httpHeaders: secretHeader(name, key) } })).toEqual({
    ok: false,
    reason: 'SecretUnusable',
    status: undefined,
    attempts: 0,
  });
  expect(seen).toHaveLength(0);
});

test.each([
  ['token', 'missing'],
  ['absent', 'key'],
])('K17 secret %s, key %s, optional: the header is left out', async (name, key) => {
  const { port, seen } = await listen(json({ chosen_pods: [] }));
  expect(await ask({ http: { port, httpHeaders: secretHeader(name, key, true) } })).toMatchObject({ ok: true });
  expect(seen[0]?.headers).not.toHaveProperty('authorization');
});

test.each(['127.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', '0.0.0.0', '::1', '64:ff9b::7f00:1', 'fe80::1%eth0'])(
  'K18 a host that resolves to %s is not called',
  async (address) => {
    const { port, seen } = await listen(json({ chosen_pods: [] }));
    const asked = await ask({
      http: { host: 'picker.example', port },
      resolve: () => Promise.resolve(['203.0.113.7', address]),
      allow: [],
    });
    expect(asked).toEqual({ ok: false, reason: 'AddressForbidden', status: undefined, attempts: 0 });
    expect(seen).toHaveLength(0);
  },
);

test('K18 an explicit deny beats an explicit allow', () => {
  const policy = createAddressPolicy({ allow: ['10.0.0.0/8', 'ok.example'], deny: ['10.1.0.0/16', 'bad.example'] });
  expect(policy.permits('a.example', ['10.2.0.1'])).toBe(true);
  expect(policy.permits('a.example', ['10.1.0.1'])).toBe(false);
  expect(policy.permits('bad.example', ['10.2.0.1'])).toBe(false);
  expect(policy.permits('OK.example', ['127.0.0.1'])).toBe(true);
  expect(policy.permits('a.example', [])).toBe(false);
});

test('K19 the name is resolved once and the checked address is the one connected to', async () => {
  const { port, seen } = await listen((response, attempt) =>
    attempt === 1 ? status(503)(response, attempt) : json({ chosen_pods: ['web-a'] })(response, attempt),
  );
  const answers = [['127.0.0.1'], ['127.0.0.2']];
  let lookups = 0;
  const asked = await ask({
    http: { host: 'picker.example', port },
    resolve: () => Promise.resolve(answers[lookups++] ?? []),
    allow: ['127.0.0.1'],
  });
  expect(asked).toMatchObject({ ok: true, attempts: 2 });
  expect(lookups).toBe(1);
  expect(seen[0]?.headers.host).toBe(`picker.example:${port}`);
});

test('F2 a socket closed without an answer is tried again', async () => {
  const { port } = await listen((response) => response.destroy());
  expect(await ask({ http: { port }, picker: { maxRetries: 1 } })).toMatchObject({
    ok: false,
    reason: 'ConnectionFailed',
    attempts: 2,
  });
});

test('F6 a compressed answer is refused', async () => {
  const { port } = await listen((response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end('x');
  });
  expect(await ask({ http: { port }, picker: { maxRetries: 0 } })).toMatchObject({ reason: 'MalformedAnswer' });
});

test('F18 a shutdown during the call throws instead of answering', async () => {
  const shutdown = new AbortController();
  const { port, seen } = await listen(() => {});
  const asked = ask({ http: { port }, shutdown: shutdown.signal });
  while (seen.length === 0) await settle(1);
  shutdown.abort(new Error('stopping'));
  await expect(asked).rejects.toThrow('stopping');
});

test('consultPicker() counts results by class', async () => {
  const metrics = new Metrics();
  const { port } = await listen(status(401));
  await ask({ http: { port }, metrics });
  expect(await metrics.registry.metrics()).toContain('quorate_downscale_picker_calls_total{result="Refused"} 1');
});
