/** A short, seeded part of the fuzzer, in process: every answer is an answer, and 500 only where kube-apiserver's is. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { Dice } from './dice.ts';
import { type FuzzRequest, type Identity, makeRequest } from './requests.ts';
import { discover, type Resource } from './resources.ts';
import { isSharedError } from './shared-errors.ts';

const SEED = 17;
const REQUESTS = 2500;
const NAMESPACE = 'fuzz-0';

let plane: ControlPlane;
let resources: Resource[];

beforeAll(async () => {
  plane = await startControlPlane();
  resources = await discover(async (path) => JSON.parse((await answer(path, 'GET', 'admin')).text) as unknown);
  await answer('/api/v1/namespaces', 'POST', 'admin', Buffer.from(`{"metadata":{"name":"${NAMESPACE}"}}`));
});
afterAll(() => plane?.stop());

const GROUPS: Readonly<Record<Identity, readonly string[]>> = {
  admin: ['system:masters', 'system:authenticated'],
  'namespace-admin': ['system:authenticated'],
  nobody: ['system:authenticated'],
  anonymous: ['system:unauthenticated'],
  forged: ['system:unauthenticated'],
};

async function answer(url: string, method: string, identity: Identity, body?: Buffer, headers: object = {}) {
  const gone = new AbortController();
  const response = await plane.server.handle({
    method,
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: gone.signal,
    peer: { user: { username: identity, groups: GROUPS[identity] } },
  });
  gone.abort();
  if (typeof response.body === 'function') return { status: response.status, text: '' };
  const bytes = response.body instanceof Uint8Array ? response.body : Buffer.concat(response.body);
  return { status: response.status, text: Buffer.from(bytes).toString('utf8') };
}

const describe = ({ body, method, mutation, path }: FuzzRequest): string =>
  `${method} ${path} [${mutation}] ${body?.subarray(0, 300).toString('utf8') ?? ''}`;

test(`17.12: ${REQUESTS} fuzzed requests (seed ${SEED}) are answered, without an error of the server`, async () => {
  const dice = new Dice(SEED);
  const errors: string[] = [];
  const answers = new Set<number>();
  for (let left = REQUESTS; left > 0; left -= 1) {
    const request = makeRequest(dice, { resources, namespace: NAMESPACE });
    // Streams and waits take seconds of their own; the sockets' fuzzer has them.
    if (/watch|resourceVersion=/.test(request.path)) continue;
    const { status, text } = await answer(
      request.path,
      request.method,
      request.identity,
      request.body,
      request.headers,
    );
    answers.add(status);
    if (status === 500 && !isSharedError(text)) errors.push(`${describe(request)} => ${text.slice(0, 300)}`);
  }
  expect(errors).toEqual([]);
  // Enough of them got through to matter.
  for (const status of [200, 201, 400, 404, 405, 406, 409, 415, 422]) expect(answers).toContain(status);
});
