/** What goes wrong around the operator: each time a clear message, and never a grant that should not be. */
import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes, startOperator } from '../../src/app/index.ts';
import { leaseType, secretType } from '../../src/api/resource-types.ts';
import { createAuthority, issueServer } from '../../src/machinery/runtime/certificates.ts';
import {
  type Clock,
  createClient,
  createHttpTransport,
  loadKubeconfig,
  type Logger,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { defaultInstall, definitions, installObjects, webhookConfigurations } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { balance } from './operator-process.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
const running: Operator[] = [];
const { NAMESPACE, until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
const evict = (name: string): Promise<string> => stage.evict(plane, name);
const askToEvict = (name: string): Promise<string> => stage.evict(plane, name, { dryRun: true });

beforeAll(async () => {
  plane = await stage.startPlane({ components: ['kube-controller-manager'] });
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 1 } });
});
afterAll(async () => {
  for (const operator of running) await operator.stop();
  nodes?.stop();
  await plane?.stop();
});

interface Extra {
  readonly kubeconfig?: string;
  readonly namespace?: string;
  readonly certificates?: string;
  readonly clock?: Clock;
  readonly log?: Logger;
}

async function start(identity: string, extra: Extra = {}): Promise<Operator> {
  const operator = await startOperator({
    kubeconfig: plane.kubeconfig,
    namespace: NAMESPACE,
    mode: 'alongside',
    bind: '127.0.0.1',
    webhookPort: 0,
    metricsPort: 0,
    hosts: ['127.0.0.1'],
    identity,
    log: silentLogger,
    lost: () => {},
    ...extra,
  });
  await operator.ready;
  running.push(operator);
  return operator;
}

async function end(operator: Operator): Promise<void> {
  running.splice(running.indexOf(operator), 1);
  await operator.stop();
}

/** A kubeconfig of the installation's own service account. */
async function asServiceAccount(): Promise<string> {
  const token = (await kubectl('create', 'token', 'quorate', '-n', NAMESPACE)).trim();
  const config = JSON.parse(await kubectl('config', 'view', '--raw', '-o', 'json')) as { users: object[] };
  config.users = [{ name: 'admin', user: { token } }];
  const path = join(plane.folder, 'service-account.kubeconfig');
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

test('without the definitions the operator does not start, and says how to install them', async () => {
  await expect(start('early')).rejects.toThrow(
    'The cluster does not know disruptionledgers.policy.quorate.dev: install the definitions with "quorate install | kubectl apply -f -"',
  );
});

test('without rights the operator does not start, and says which it lacks', async () => {
  await apply(...definitions(), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await stage.prepareCluster(plane);
  const account = { name: 'quorate', namespace: NAMESPACE };
  await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  await expect(start('poor', { kubeconfig: await asServiceAccount() })).rejects.toThrow(
    /^Not allowed to list disruptionledgers\.policy\.quorate\.dev: .*"quorate install" prints the roles/,
  );
});

test('with the rights of an installation, and no more, the operator leads and is trusted', async () => {
  await apply(...installObjects(defaultInstall));
  const lines: string[] = [];
  const log: Logger = { ...silentLogger, error: (fields, text) => lines.push(`${text} ${JSON.stringify(fields)}`) };
  const kubeconfig = await stage.accountKubeconfig(plane, 'quorate', stage.OPERATOR_RIGHTS);
  const operator = await start('modest', { kubeconfig, log });
  await until('it to lead', () => operator.isLeading());
  const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
  const bundles = (): Promise<string> =>
    kubectl('get', kinds, '-o', 'jsonpath={.items[*].webhooks[*].clientConfig.caBundle}');
  // No pod of the installation runs here, so the Service leads nowhere and nothing is asked.
  expect(await bundles()).toBe('');
  const wanted = webhookConfigurations({ ...defaultInstall, mode: 'alongside' });
  const count = wanted.flatMap((one) => (one as { webhooks?: object[] }).webhooks ?? []).length;
  await apply(...wanted);
  await until('every webhook to know our authority', async () => (await bundles()).split(' ').length === count);
  expect(lines).toEqual([]);
  await end(operator);
});

test('an operator in another namespace does not start beside an installation', async () => {
  await expect(start('other', { namespace: 'default' })).rejects.toThrow(
    'Another Quorate is installed in namespace "quorate-system" and this one runs in "default"',
  );
});

const gang = (name: string) => groups.podGroup(stage.groupVersion, name, 'training', 1);
const member = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: 'training' } },
  spec: {
    nodeName: 'node-0',
    terminationGracePeriodSeconds: 1,
    schedulingGroup: { podGroupName: name },
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
  },
});
const GANGS = ['a', 'b', 'c', 'd'];

/** Four gangs of one pod each, of which one may go; missing ones are put back. */
async function stageGangs(): Promise<void> {
  await apply(groups.workload(stage.groupVersion, 'training', 1), ...GANGS.map(gang), {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'training', namespace: 'default' },
    spec: { minAvailable: 3, selector: { matchLabels: { app: 'training' } } },
  });
  const numbers = 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}';
  // A grant that was written and whose answer got lost counts for two minutes.
  await until(
    'one of four to be free to go',
    async () => {
      await apply(...GANGS.map(member));
      return (await kubectl('get', 'disruptionledger', 'training', '-o', numbers)) === '4/1';
    },
    300_000,
  );
  await stage.untilBuiltinAllows(plane, 'training', '4/1');
}

/** Evicts all four at once; one may be granted. */
async function grantedOf(names: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(names.map(async (name) => ({ name, answer: await evict(name) })));
  return answers.filter(({ answer }) => answer === 'granted').map(({ name }) => name);
}

test('a replica whose clock is ten minutes behind grants no more than one whose clock is right', async () => {
  const behind: Clock = { ...systemClock, now: () => Date.now() - 600_000 };
  const warnings: string[] = [];
  const log: Logger = { ...silentLogger, warn: (_, text) => warnings.push(text) };
  const right = await start('right');
  const wrong = await start('wrong', { clock: behind, log });
  await stage.registerWebhooks(plane, wrong);
  await stageGangs();
  expect(await grantedOf(GANGS)).toHaveLength(1);
  const noted = JSON.parse(await kubectl('get', 'disruptionledger', 'training', '-o', 'json')) as {
    status: { disruptedPods?: Record<string, string> };
  };
  for (const at of Object.values(noted.status.disruptedPods ?? {})) {
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
  }
  expect(warnings).toContain("this machine's clock is wrong; going by the API server's");
  await end(wrong);
  await end(right);
});

test('a second operator in the same namespace follows, and takes over', async () => {
  const [first, second] = [await start('first'), await start('second')];
  await until('one to lead', () => first.isLeading() || second.isLeading());
  const [leader, follower] = first.isLeading() ? [first, second] : [second, first];
  expect(follower.isLeading()).toBe(false);
  await end(leader);
  await until('the other to take over', () => follower.isLeading());
  await end(follower);
});

test('an expired certificate in a folder is refused at the start; one that expires later refuses requests until renewed', async () => {
  const folder = join(plane.folder, 'certificates');
  await mkdir(folder, { recursive: true });
  const authority = await createAuthority('somebody', { now: Date.now(), days: 10 });
  const write = async (days: number): Promise<void> => {
    const pair = await issueServer(authority, 'w', ['127.0.0.1'], { now: Date.now(), days });
    writeFileSync(join(folder, 'tls.key'), pair.key);
    writeFileSync(join(folder, 'ca.crt'), authority.certificate);
    writeFileSync(join(folder, 'tls.crt'), pair.certificate);
  };
  await write(-1 / 86_400);
  await expect(start('expired', { certificates: folder })).rejects.toThrow(/tls\.crt expired on .*: have it renewed/);
  await write(15 / 86_400);
  const expiry = Date.now() + 16_000;
  const operator = await start('expiring', { certificates: folder });
  const way = await balance([{ port: () => operator.webhookPort }]);
  await stage.registerWebhooks(plane, { authority: operator.authority, webhookPort: way.port });
  await stageGangs();
  await until('the certificate to expire', () => Date.now() > expiry);
  // A connection that is open goes on being used; the next one is looked at anew.
  way.cut();
  expect(await evict('a')).toContain('certificate has expired');
  expect(await kubectl('get', 'pod', 'a', '-o', 'name')).toBe('pod/a\n');
  await write(1);
  await until('the renewed one to be in use', async () => (await askToEvict('b')) === 'granted');
  await end(operator);
  await way.close();
});

test('a certificate of our own that has expired is made anew when the operator starts', async () => {
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'test' });
  const secret = await client.get(secretType, { namespace: NAMESPACE, name: 'quorate-webhook-tls' });
  const authority = await createAuthority('quorate-webhook-ca', { now: Date.now(), days: 10 });
  const old = await issueServer(authority, 'w', ['127.0.0.1'], { now: Date.now() - 86_400_000 * 2, days: 1 });
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const data = {
    'ca.crt': encode(authority.certificate),
    'ca.key': encode(authority.key),
    'tls.crt': encode(old.certificate),
    'tls.key': encode(old.key),
  };
  await client.update(secretType, { ...secret, data });
  const operator = await start('renewing');
  await stage.registerWebhooks(plane, operator);
  await stageGangs();
  expect(await grantedOf(['c'])).toEqual(['c']);
  await end(operator);
  const lease = await client.get(leaseType, { namespace: NAMESPACE, name: 'quorate' });
  expect(lease.spec?.holderIdentity).toBe('');
  transport.close();
});

/** A way to the API server that is cut again and again. */
async function flakyWay(): Promise<{ kubeconfig: string; cut: () => void; close: () => void }> {
  const upstream = new URL(plane.server);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(Number(upstream.port), upstream.hostname);
    for (const socket of [client, behind]) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.on('error', () => socket.destroy());
    }
    client.pipe(behind).pipe(client);
    client.once('close', () => behind.destroy());
    behind.once('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  const config = await kubectl('config', 'view', '--raw', '-o', 'json');
  const path = join(plane.folder, 'flaky.kubeconfig');
  writeFileSync(path, config.replaceAll(plane.server, `https://127.0.0.1:${port}`), { mode: 0o600 });
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return { kubeconfig: path, cut, close: () => (cut(), server.close()) };
}

test('an API server that drops every watch again and again gets no wrong grant out of the operator', async () => {
  const way = await flakyWay();
  const operator = await start('cut-off', { kubeconfig: way.kubeconfig });
  await stage.registerWebhooks(plane, operator);
  await stageGangs();
  const cutting = setInterval(way.cut, 300);
  const granted = new Set<string>();
  for (let round = 0; round < 6; round += 1) for (const name of await grantedOf(GANGS)) granted.add(name);
  clearInterval(cutting);
  expect(granted.size).toBeLessThanOrEqual(1);
  const left = (await kubectl('get', 'pods', '-l', 'app=training', '-o', 'name')).trim().split('\n');
  expect(left.length).toBeGreaterThanOrEqual(3);
  await stageGangs();
  expect(await grantedOf(GANGS)).toHaveLength(1);
  await end(operator);
  way.close();
});

test('requests pass an installation that fails open, and namespaces that opted out, when no replica answers', async () => {
  await stageGangsWithout();
  const reach = {
    url: 'https://127.0.0.1:1',
    caBundle: (await createAuthority('x', { now: Date.now(), days: 1 })).certificate,
  };
  const options = { namespace: NAMESPACE, certManager: false };
  await apply(...webhookConfigurations({ ...options, failOpen: false }, reach));
  await until('the API server to ask', async () => (await askToEvict('a')).includes('failed calling webhook'));
  await kubectl('label', 'namespace', 'default', 'policy.quorate.dev/ignore=true');
  await until('the namespace to be left alone', async () => (await evict('a')) === 'granted');
  await kubectl('label', 'namespace', 'default', 'policy.quorate.dev/ignore-');
  await until('the API server to ask again', async () => (await askToEvict('b')).includes('failed calling webhook'));
  await apply(...webhookConfigurations({ ...options, failOpen: true }, reach));
  await until('requests to pass', async () => (await evict('b')) === 'granted');
});

/** The gangs without an operator to count them: the built-in count alone, wide enough for all but one to go. */
async function stageGangsWithout(): Promise<void> {
  await kubectl('delete', 'mutatingwebhookconfigurations,validatingwebhookconfigurations', '--all');
  const spec = JSON.stringify({ spec: { minAvailable: 1 } });
  await kubectl('patch', 'pdb', 'training', '--type=merge', '-p', spec);
  const numbers = 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}';
  await until('three of four to be free to go', async () => {
    // Again each time: one that was evicted last may still be on its way out, and is not made anew before it is gone.
    await apply(...GANGS.map(member));
    return (await kubectl('get', 'pdb', 'training', '-o', numbers)) === '4/3';
  });
}
