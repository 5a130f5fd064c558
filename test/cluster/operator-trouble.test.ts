/** What goes wrong with replicas and with what they keep in the cluster, and what they do about it. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Operator, type OperatorOptions, startNodes, type NodesHost } from '../../src/app/index.ts';
import type { MutatingWebhookConfiguration } from '../../src/api/generated/admissionregistration-v1.ts';
import { leaseType } from '../../src/api/resource-types.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  type HttpTransport,
  loadKubeconfig,
  type Logger,
  silentLogger,
} from '../../src/machinery/runtime/index.ts';
import { defaultInstall, installObjects, URL_ANNOTATION } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { budget, budgetsOn, gangs } from './gangs.ts';
import { balance, type Balancer } from './operator-process.ts';
import { PROGRAM, runProgram } from './program.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let transport: HttpTransport;
let client: Client;
let replicas: Operator[] = [];
let balancer: Balancer;
/** What replicas complained about. */
const complaints: string[] = [];
const { NAMESPACE, until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const { shows } = budgetsOn(() => plane);

const noting = (level: string) => (fields: object, text: string) => {
  complaints.push(`${level}: ${text} ${JSON.stringify(fields)}`);
};
const log: Logger = { ...silentLogger, warn: noting('warn'), error: noting('error') };

beforeAll(async () => {
  plane = await stage.startPlane();
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  client = createClient({ transport: transport.send, userAgent: 'test' });
  await stage.prepareCluster(plane);
  balancer = await balance([0, 1].map((at) => ({ port: () => replicas[at]?.webhookPort })));
  await install();
});

afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await balancer?.close();
  nodes?.stop();
  transport?.close();
  await plane?.stop();
});

/** The manifests, but for the place of replicas that run outside of the cluster; its own pods are simulated ones. */
async function install(more: Partial<typeof defaultInstall> = {}): Promise<void> {
  const annotations = { [URL_ANNOTATION]: `https://127.0.0.1:${balancer.port}` };
  const objects = installObjects({ ...defaultInstall, ...more }).map((one) =>
    one.kind?.endsWith('WebhookConfiguration') ? { ...one, metadata: { ...one.metadata, annotations } } : one,
  );
  await stage.apply(plane, ...objects);
}

let started = 0;
const start = (more: Partial<OperatorOptions> = {}): Promise<Operator> =>
  stage.startReplica(plane, `replica-${(started += 1)}`, 'adopt', { log, metricsOpen: true, ...more });

const configuration = async (name = 'quorate-evictions'): Promise<MutatingWebhookConfiguration> =>
  JSON.parse(await kubectl('get', 'mutatingwebhookconfiguration', name, '-o', 'json')) as MutatingWebhookConfiguration;
const isArmed = async (name = 'quorate-evictions'): Promise<boolean> =>
  ((await configuration(name)).webhooks ?? []).length > 0;
const bundleOf = async (): Promise<string> =>
  Buffer.from((await configuration()).webhooks?.[0]?.clientConfig.caBundle ?? '', 'base64').toString('utf8');
const storedAuthority = async (): Promise<string> => {
  const text = await kubectl(
    'get',
    'secret',
    'quorate-webhook-tls',
    '-n',
    NAMESPACE,
    '-o',
    'jsonpath={.data.ca\\.crt}',
  );
  return Buffer.from(text, 'base64').toString('utf8');
};

test('two replicas that start at once on a new cluster complain about nothing', async () => {
  replicas = await Promise.all([start(), start()]);
  await until('one of them to lead', () => replicas.some((one) => one.isLeading()));
  await until('the configurations to be filled', () => isArmed('quorate-status'));
  expect(complaints).toEqual([]);
});

test('WS-07: a replica whose metrics port is busy ends, and holds nothing; the others lead', async () => {
  const busy = createServer();
  const port = await new Promise<number>((resolve) => {
    busy.listen(0, '127.0.0.1', () => resolve((busy.address() as { port: number }).port));
  });
  const args = ['operator', '--kubeconfig', plane.kubeconfig, '--identity', 'busy'];
  const { code, stderr } = await runProgram(...args, '--webhook-port', '0', '--metrics-port', String(port));
  busy.close();
  expect(stderr).toMatch(/^quorate operator: .*EADDRINUSE/m);
  expect(code).toBe(1);
  const lease = await client.get(leaseType, { namespace: NAMESPACE, name: 'quorate' });
  expect(lease.spec?.holderIdentity).toMatch(/^replica-/);
});

test('WS-08: the Secret of the certificate deleted: who serves with it puts it back', async () => {
  await stage.apply(plane, ...gangs('secret', 3, 2), budget('secret', { maxUnavailable: 1 }));
  await shows('secret', '6/6/4/2');
  const before = await storedAuthority();
  await kubectl('delete', 'secret', 'quorate-webhook-tls', '-n', NAMESPACE);
  await until('the Secret to be back', async () => (await storedAuthority().catch(() => '')) === before);
  expect(await stage.evict(plane, 'secret-g0-0')).toBe('granted');
});

test('WS-08: the Secret deleted and both replicas started again: one authority, told to the API server once', async () => {
  const before = await configuration();
  for (const replica of replicas) await replica.stop();
  await kubectl('delete', 'secret', 'quorate-webhook-tls', '-n', NAMESPACE);
  replicas = await Promise.all([start(), start()]);
  expect(new Set(replicas.map(({ authority }) => authority)).size).toBe(1);
  const authority = replicas[0]?.authority.trim() ?? '';
  await until('the API server to trust it', async () => (await bundleOf()).includes(authority));
  expect((await storedAuthority()).trim()).toBe(authority);
  // Both answer: a gang that is down may lose the rest, whoever is asked.
  await until(
    'an eviction to be granted',
    async () => (await stage.evict(plane, 'secret-g0-1')) === 'granted',
    120_000,
  );
  const after = await configuration();
  expect(Number(after.metadata.generation) - Number(before.metadata.generation)).toBe(1);
  expect(complaints.filter((one) => one.startsWith('error'))).toEqual([]);
});

test('WS-09: a configuration that somebody deletes is put back by a leader that may, and filled', async () => {
  await kubectl('delete', 'mutatingwebhookconfiguration', 'quorate-evictions');
  await until('it to be back and filled', () => isArmed().catch(() => false));
  expect(await stage.evict(plane, 'secret-g1-0', { dryRun: true })).toContain('disruption budget');
});

test('WS-09: a leader that may not says so: on ledgers, in an event, in metrics and by its readiness', async () => {
  const kubeconfig = await stage.accountKubeconfig(plane, 'quorate');
  for (const replica of replicas) await replica.stop();
  replicas = [await start({ kubeconfig })];
  const [replica] = replicas as [Operator];
  await until('it to lead', () => replica.isLeading());
  await until('it to be ready', async () => (await readyz(replica)).status === 200);
  await kubectl('delete', 'mutatingwebhookconfiguration', 'quorate-evictions');
  await until('it not to be ready', async () => (await readyz(replica)).status === 503);
  expect((await readyz(replica)).text).toContain('quorate-evictions: deleted; apply the manifests again');
  const reason = 'jsonpath={.status.conditions[?(@.type=="Unguarded")].reason}';
  const ledger = ['get', 'disruptionledger', 'secret', '-o', reason];
  await until('the ledger to say so', async () => (await kubectl(...ledger)) === 'ConfigurationDeleted');
  const events = ['get', 'events', '-n', NAMESPACE, '-o', 'jsonpath={.items[*].reason}'];
  await until('the event on the Deployment', async () => (await kubectl(...events)).includes('Unguarded'));
  const metrics = await (await fetch(`http://127.0.0.1:${replica.metricsPort}/metrics`)).text();
  expect(metrics).toContain('quorate_webhook_armed{configuration="quorate-evictions"} 0');
  // With the right it is put back; all that was said goes.
  await install({ recreateWebhooks: true });
  await until('it to be ready again', async () => (await readyz(replica)).status === 200);
  await until('the ledger to be silent', async () => (await kubectl(...ledger)) === '');
  await until('it to be filled', () => isArmed());
  await kubectl('delete', 'mutatingwebhookconfiguration', 'quorate-evictions');
  await until('it to be back and filled', () => isArmed().catch(() => false));
});

test('uninstall says what it would remove, asks on a terminal, and takes the right to put back first', async () => {
  const everything = (): Promise<string> =>
    kubectl(
      'get',
      'clusterroles,deployments,mutatingwebhookconfigurations,crd',
      '-A',
      '-l',
      'app.kubernetes.io/name=quorate',
      '-o',
      'name',
    );
  const before = await everything();
  const dry = await cli('uninstall', '--dry-run');
  expect(dry).toContain('deployment/quorate would be removed');
  expect(await everything()).toBe(before);
  const refused = await cliOnTerminal('n\n', 'uninstall');
  expect(refused).toContain('Remove Quorate from namespace "quorate-system"');
  expect(refused).toContain('nothing was removed');
  expect(await everything()).toBe(before);
  const done = await cli('uninstall');
  expect(done.indexOf('quorate-recreate-webhooks')).toBeLessThan(done.indexOf('quorate-evictions'));
  await until('everything to be gone', async () => (await everything()) === '');
});

async function cli(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await runProgram(...args, '--kubeconfig', plane.kubeconfig);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** `script` gives the command a terminal; what is typed is what it asks for. */
function cliOnTerminal(typed: string, ...args: string[]): Promise<string> {
  const command = [process.execPath, ...PROGRAM, ...args, '--kubeconfig', plane.kubeconfig].join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    if (text.includes('[y/N]')) child.stdin.end(typed);
  });
  return new Promise((resolve) => child.once('close', () => resolve(text)));
}

function readyz({ webhookPort }: Operator): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, agent: false };
    request(`https://127.0.0.1:${webhookPort}/readyz?verbose`, options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', reject)
      .end();
  });
}
