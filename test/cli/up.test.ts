import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { until } from '../scenarios/stories/host.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

interface Up {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
}

let folder: string;
const running: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-up-test-'));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const data = () => join(folder, 'data');
const kubeconfig = () => join(folder, 'kubeconfig');

function quorate(...args: string[]): Up {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  return { child, output: () => text, exited: new Promise((resolve) => child.once('exit', resolve)) };
}

async function up(...more: string[]): Promise<Up> {
  const started = quorate(
    'up',
    '--port',
    '0',
    '--nodes',
    '0',
    '--data-dir',
    data(),
    '--kubeconfig',
    kubeconfig(),
    ...more,
  );
  await expect.poll(started.output, { timeout: 120_000 }).toContain('export KUBECONFIG=');
  return started;
}

/** One request as the administrator of the kubeconfig, or as nobody. */
function ask(
  method: string,
  path: string,
  body?: unknown,
  anonymous = false,
): Promise<{ status: number; body: string }> {
  const config = parse(readFileSync(kubeconfig(), 'utf8')) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  const { server, 'certificate-authority-data': ca } = config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const decode = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
  return new Promise((resolve, reject) => {
    const call = request(
      `${server}${path}`,
      {
        method,
        ca: decode(ca),
        agent: false,
        headers: { 'content-type': 'application/json' },
        ...(!anonymous && { cert: decode(user['client-certificate-data']), key: decode(user['client-key-data']) }),
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      },
    );
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('a second start continues where the first stopped, with the same identity', async () => {
  const first = await up();
  const made = await ask('POST', CONFIG_MAPS, { metadata: { name: 'kept' }, data: { a: '1' } });
  expect(made.status).toBe(201);
  const authority = readFileSync(kubeconfig(), 'utf8').match(/certificate-authority-data: (\S+)/)?.[1];
  first.child.kill('SIGTERM');
  expect(await first.exited).toBe(0);
  expect(first.output()).toContain('Stopped. The next quorate up continues here.');

  await up();
  expect(readFileSync(kubeconfig(), 'utf8')).toContain(authority);
  const again = await ask('GET', `${CONFIG_MAPS}/kept`);
  expect(JSON.parse(again.body)).toEqual(JSON.parse(made.body));
}, 300_000);

test('a data directory in use is refused', async () => {
  await up();
  const second = quorate('up', '--port', '0', '--data-dir', data(), '--kubeconfig', join(folder, 'other'));
  expect(await second.exited).toBe(1);
  expect(second.output()).toMatch(/^quorate up: .*(in use|another process)/m);
}, 300_000);

test('secrets are for their owner only, and a stranger gets no further than discovery allows', async () => {
  await up();
  const mode = (path: string) => statSync(path).mode & 0o777;
  expect(mode(kubeconfig())).toBe(0o600);
  expect(mode(join(data(), 'pki'))).toBe(0o700);
  expect(mode(join(data(), 'store'))).toBe(0o700);
  expect((await ask('GET', '/readyz', undefined, true)).status).toBe(200);
  expect((await ask('GET', '/version', undefined, true)).status).toBe(200);
  for (const path of ['/api/v1/namespaces/default/secrets', '/api/v1/nodes', '/metrics']) {
    expect((await ask('GET', path, undefined, true)).status).toBe(403);
  }
}, 300_000);

test('a port that is taken and a flag that makes no sense are explained', async () => {
  await up();
  const port = /127\.0\.0\.1:(\d+)/.exec(readFileSync(kubeconfig(), 'utf8'))?.[1] as string;
  const taken = quorate('up', '--ephemeral', '--port', port, '--kubeconfig', join(folder, 'other'));
  expect(await taken.exited).toBe(1);
  expect(taken.output()).toContain(`port ${port} on 127.0.0.1 is in use; choose another with --port`);
  const wrong = quorate('up', '--nodes', 'many');
  expect(await wrong.exited).toBe(1);
  expect(wrong.output()).toContain('It must be a whole number from 0 to 5000.');
}, 300_000);

test('the API server alone takes pods without service accounts and leaves everything as it was written', async () => {
  const alone = await up('--api-only');
  expect(alone.output()).toContain('the API server alone');
  const container = { name: 'main', image: 'nginx' };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
  const set = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } };
  const sets = '/apis/apps/v1/namespaces/default/replicasets';
  expect((await ask('POST', sets, set)).status).toBe(201);
  const pod = { metadata: { name: 'single' }, spec: { containers: [container] } };
  expect((await ask('POST', '/api/v1/namespaces/default/pods', pod)).status).toBe(201);
  const { status } = JSON.parse((await ask('GET', `${sets}/web`)).body) as { status: object };
  expect(status).toEqual({ replicas: 0 });
  const { items } = JSON.parse((await ask('GET', '/api/v1/pods')).body) as { items: { metadata: { name: string } }[] };
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['single']);

  // 23.3: no kind that is not Kubernetes' own; whoever has such a kind brings its definition.
  const { groups } = JSON.parse((await ask('GET', '/apis')).body) as { groups: { name: string }[] };
  const kubernetes = /^(apps|autoscaling|batch|policy)$|\.k8s\.io$/;
  expect(groups.map(({ name }) => name).filter((name) => !kubernetes.test(name))).toEqual([]);
  const definition = {
    metadata: { name: 'leaderworkersets.leaderworkerset.x-k8s.io' },
    spec: {
      group: 'leaderworkerset.x-k8s.io',
      scope: 'Namespaced',
      names: { plural: 'leaderworkersets', kind: 'LeaderWorkerSet' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect((await ask('POST', definitions, definition)).status).toBe(201);
  await until('the definition to be served', async () => {
    const { body } = await ask('GET', `${definitions}/${definition.metadata.name}`);
    return body.includes('"type":"Established"') && body.includes('the initial names have been accepted');
  });
  expect((await ask('GET', '/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets')).status).toBe(200);
}, 300_000);

test('it stops cleanly when nobody reads what it says', async () => {
  const { child, exited } = await up('--api-only');
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
}, 300_000);
