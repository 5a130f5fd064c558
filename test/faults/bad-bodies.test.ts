import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane();
  for (const name of ['a', 'b']) {
    await send('POST', MAPS, 'application/json', JSON.stringify({ metadata: { name }, data: { k: 'v' } }));
    await send('POST', DEPLOYMENTS, 'application/json', JSON.stringify(deployment(name)));
  }
});

afterAll(() => plane?.stop());

const MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const deployment = (name: string): object => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

async function send(method: string, url: string, type: string, body: string | Uint8Array): Promise<[number, unknown]> {
  const response = await plane.server.handle({
    method,
    url,
    headers: { 'content-type': type, accept: 'application/json' },
    body: typeof body === 'string' ? Buffer.from(body) : body,
    signal: new AbortController().signal,
    peer: { user: { username: 'admin', groups: ['system:masters'] } },
  });
  if (typeof response.body === 'function') throw new Error('a stream was not asked for');
  const bytes = response.body instanceof Uint8Array ? response.body : Buffer.concat(response.body);
  return [response.status, JSON.parse(Buffer.from(bytes).toString('utf8'))];
}

const BODY_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

/** Half-sensible JSON: right names in wrong places, directives, nulls, and everything fast-check can think of. */
const NAMES = ['apiVersion', 'kind', 'metadata', 'name', 'spec', 'data', 'replicas', 'template', 'containers', 'labels']
  .concat(['selector', 'matchLabels', 'finalizers', 'managedFields', '$patch', '$retainKeys', 'op', 'path', 'value'])
  .concat([
    '$setElementOrder/containers',
    '$deleteFromPrimitiveList/finalizers',
    'ownerReferences',
    'uid',
    '__proto__',
  ]);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(
      'a',
      'v1',
      'apps/v1',
      'Deployment',
      'ConfigMap',
      '',
      0,
      -1,
      1e30,
      true,
      null,
      'replace',
      '/data/k',
    ),
    fc.string(),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('json'), { maxKeys: 5 }),
  ),
}));
const bodies = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  fc.string(),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.concat([Buffer.from('6b387300', 'hex'), bytes])),
  fc.uint8Array({ maxLength: 60 }),
);

/** The real server calls some broken patches internal errors of its own, with these words. */
const KNOWN_INTERNAL =
  /typed patch object|merge key|patch type|setElementOrder|list element types|without merge key|resourceVersion/;

function check(status: number, answer: unknown): void {
  const { message = '' } = answer as { message?: string };
  if (status >= 500) expect(message).toMatch(KNOWN_INTERNAL);
  if (status >= 400) expect(answer).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
}

test('whatever a client sends as an object, the answer is a Status that blames the client', async () => {
  const request = fc.tuple(fc.constantFrom(MAPS, DEPLOYMENTS), fc.constantFrom(...BODY_TYPES), bodies, fc.boolean());
  await fc.assert(
    fc.asyncProperty(request, async ([path, type, body, update]) => {
      check(...(await send(update ? 'PUT' : 'POST', update ? `${path}/a` : path, type, body)));
    }),
    { numRuns: 600 },
  );
});

test('whatever a client sends as a patch, the answer is a Status that blames the client', async () => {
  const request = fc.tuple(fc.constantFrom(MAPS, DEPLOYMENTS), fc.constantFrom(...PATCH_TYPES), bodies);
  await fc.assert(
    fc.asyncProperty(request, async ([path, type, body]) => {
      const query = type.includes('apply') ? '?fieldManager=m&force=true' : '';
      check(...(await send('PATCH', `${path}/b${query}`, type, body)));
    }),
    { numRuns: 800 },
  );
});

test.each([
  ['nested lists', 'application/json', '['.repeat(200_000)],
  ['nested objects', 'application/json', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['nested YAML', 'application/yaml', `${'- '.repeat(50_000)}a`],
  ['nested flow YAML', 'application/yaml', '{a: '.repeat(50_000)],
  [
    'an alias bomb',
    'application/yaml',
    `a: &a [x,x,x]\n${Array.from({ length: 20 }, (_, i) => `k${i}: &b${i} [${i === 0 ? '*a,*a,*a' : `*b${i - 1},*b${i - 1},*b${i - 1}`}]`).join('\n')}`,
  ],
])('%s is refused and the server lives on', async (_, type, body) => {
  const [status, answer] = await send('POST', MAPS, type, body);
  expect([status, answer]).toMatchObject([400, { reason: 'BadRequest' }]);
  expect((await send('GET', `${MAPS}/a`, '', ''))[0]).toBe(200);
});

test('a patch as deep as the limit is applied and read back', async () => {
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const patch = `{"metadata":{"annotations":${JSON.stringify({ deep: deep(900) })}}}`;
  expect((await send('PATCH', `${MAPS}/b`, 'application/merge-patch+json', patch))[0]).toBe(200);
  expect((await send('PATCH', `${MAPS}/b`, 'application/merge-patch+json', deep(5000)))[0]).toBe(400);
});

test('17.11: a large object is written in parts, and others are served between them', async () => {
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, 'v']));
  const large = JSON.stringify({ metadata: { name: 'large' }, data });
  for (const [method, path, type] of [
    ['POST', MAPS, 'application/json'],
    ['PUT', `${MAPS}/large`, 'application/json'],
    ['PATCH', `${MAPS}/large`, 'application/merge-patch+json'],
  ] as const) {
    let rounds = 0;
    let isDone = false;
    const count = (): void => {
      rounds++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const [status] = await send(method, path, type, large);
    isDone = true;
    expect(status, method).toBeLessThan(300);
    expect(rounds, method).toBeGreaterThanOrEqual(3);
  }
});
