/** From mode to mode under evictions that never stop, and what two writers of a budget do to each other. */
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, type OperatorOptions, startNodes } from '../../src/app/index.ts';
import { podType } from '../../src/api/resource-types.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  type HttpTransport,
  loadKubeconfig,
  silentLogger,
} from '../../src/machinery/runtime/index.ts';
import { emptyConfigurations, labels, MODE_LABEL, type OperatorMode, URL_ANNOTATION } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { budget, budgetsOn, gangs, markerOf, numbersOf, pod } from './gangs.ts';
import { balance, type Balancer } from './operator-process.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let transport: HttpTransport;
let client: Client;
let operator: Operator;
/** Who is asked about statuses, where that is somebody else than who is asked about the rest. */
let statusPort: (() => number | undefined) | undefined;
let balancer: Balancer;
let statusBalancer: Balancer;
const { until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const { atRest, read, shows } = budgetsOn(() => plane);

beforeAll(async () => {
  plane = await stage.startPlane({ components: ['kube-controller-manager'] });
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  client = createClient({ transport: transport.send, userAgent: 'test' });
  await stage.prepareCluster(plane);
  balancer = await balance([{ port: () => operator?.webhookPort }]);
  statusBalancer = await balance([{ port: () => (statusPort ? statusPort() : operator?.webhookPort) }]);
  await install();
});

afterAll(async () => {
  await operator?.stop();
  await balancer?.close();
  await statusBalancer?.close();
  nodes?.stop();
  transport?.close();
  await plane?.stop();
});

async function install(): Promise<void> {
  const objects = emptyConfigurations({ namespace: stage.NAMESPACE, certManager: false }).map((one) => {
    const { port } = one.metadata.name === 'quorate-status' ? statusBalancer : balancer;
    return { ...one, metadata: { ...one.metadata, annotations: { [URL_ANNOTATION]: `https://127.0.0.1:${port}` } } };
  });
  await stage.apply(plane, ...objects);
}

let replicas = 0;
const start = (mode: OperatorMode, more: Partial<OperatorOptions> = {}): Promise<Operator> =>
  stage.startReplica(plane, `${mode}-${(replicas += 1)}`, mode, { metricsOpen: true, ...more });

/** As a rollout does: the new one is there before the old one goes. */
async function rollTo(
  mode: OperatorMode,
  more: Partial<OperatorOptions> = {},
  between = async () => {},
): Promise<void> {
  const next = await start(mode, more);
  await between();
  const last = operator;
  operator = next;
  await last?.stop();
  await until(`the replica of mode ${mode} to lead`, () => next.isLeading());
}

/** From now on the API server asks there: connections that it keeps lead to who was asked before. */
function askAboutStatuses(port: (() => number | undefined) | undefined): void {
  statusPort = port;
  statusBalancer.cut();
}

const isArmed = async (name: string): Promise<boolean> =>
  (await kubectl('get', 'mutatingwebhookconfiguration', name, '-o', 'jsonpath={.webhooks[*].name}')) !== '';

/** Evicts pods of an app in turn, again and again; `stop` gives what was granted. */
function evictForEver(app: string): { stop: () => Promise<string[]> } {
  const granted = new Set<string>();
  let goes = true;
  const loop = (async () => {
    while (goes) {
      const listed = client.list(podType, { namespace: 'default', labelSelector: `app=${app}` });
      const { items } = await listed.catch(() => ({ items: [] }));
      for (const { metadata } of items) {
        const key = { name: metadata.name ?? '', namespace: 'default' };
        const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key };
        await client.createSubresource(podType, key, 'eviction', body).then(
          () => granted.add(key.name),
          () => {},
        );
      }
    }
  })();
  const evictions = {
    async stop() {
      goes = false;
      await loop;
      return [...granted];
    },
  };
  evicting.push(evictions);
  return evictions;
}
/** Also where a test fails: nothing goes on without it. */
const evicting: { stop: () => Promise<string[]> }[] = [];
afterEach(async () => {
  for (const one of evicting.splice(0)) await one.stop();
});
const gangsOf = (names: readonly string[]): string[] => [...new Set(names.map((name) => name.replace(/-\d+$/, '')))];

test('AD-15: from alongside to adopt under evictions: nothing wrong is granted, and markers come last', async () => {
  operator = await start('alongside');
  await stage.apply(plane, ...gangs('fifteen', 3, 4), budget('fifteen', { minAvailable: 2 }));
  await stage.untilBuiltinAllows(plane, 'fifteen', '12/10');
  await until('evictions to be asked about', () => isArmed('quorate-evictions'));
  const evictions = evictForEver('fifteen');
  // A replica of the mode before that is still there, by its pod.
  const old = pod('quorate-old', 'x');
  await stage.apply(plane, {
    ...old,
    metadata: { name: 'quorate-old', namespace: stage.NAMESPACE, labels: { ...labels, [MODE_LABEL]: 'alongside' } },
  });
  const phase = ['pod', 'quorate-old', '-n', stage.NAMESPACE, '-o', 'jsonpath={.status.phase}'];
  await until('the old replica to run', async () => (await kubectl('get', ...phase)) === 'Running');
  await rollTo('adopt');
  await until('the evictions of one gang', async () => {
    const { items } = await client.list(podType, { namespace: 'default', labelSelector: 'app=fifteen' });
    return items.length === 8;
  });
  expect(await isArmed('quorate-status')).toBe(false);
  expect(markerOf(await read('fifteen'))).toBeUndefined();
  await kubectl('delete', 'pod', 'quorate-old', '-n', stage.NAMESPACE, '--grace-period=0', '--force');
  await until('statuses to be asked about', () => isArmed('quorate-status'));
  await shows('fifteen', '8/8/8/0');
  expect(markerOf(await read('fifteen'))?.status).toBe('True');
  expect(gangsOf(await evictions.stop())).toHaveLength(1);
});

test('AD-16: adopt, replace and adopt again with the built-in controller switched off and on, under evictions', async () => {
  await stage.apply(plane, ...gangs('sixteen', 3, 4), budget('sixteen', { maxUnavailable: 1 }));
  await shows('sixteen', '12/12/8/4');
  const evictions = evictForEver('sixteen');
  await rollTo('replace', { quietMs: 25_000 }, async () => {
    await stage.apply(plane, pod('p0', 'plain'), pod('p1', 'plain'), budget('plain', { minAvailable: 1 }));
    await shows('plain', '2/2/1/1');
  });
  // Somebody else counts still: what it writes must go on being rewritten.
  expect(await isArmed('quorate-status')).toBe(true);
  await kubectl('annotate', 'pdb', 'sixteen', 'note=1');
  await shows('sixteen', '8/8/8/0');
  await plane.kill('kube-controller-manager');
  await plane.restart('kube-controller-manager', ['--controllers=*,-disruption-controller']);
  await until('statuses not to be asked about any more', async () => !(await isArmed('quorate-status')), 120_000);
  await shows('sixteen', '8/8/8/0');
  // Our leader counts budgets over pods now.
  await stage.apply(plane, pod('p2', 'plain'));
  await shows('plain', '3/3/1/2');
  await rollTo('adopt');
  await until('statuses to be asked about', () => isArmed('quorate-status'));
  await plane.kill('kube-controller-manager');
  await plane.restart('kube-controller-manager');
  await stage.apply(plane, pod('p3', 'plain'));
  await shows('plain', '4/4/1/3');
  await shows('sixteen', '8/8/8/0');
  expect(gangsOf(await evictions.stop())).toHaveLength(1);
});

test('AD-18: a replica with another formula changes no number, and nothing flaps', async () => {
  await stage.apply(plane, ...gangs('eighteen', 3, 4), budget('eighteen', { maxUnavailable: 1 }));
  await shows('eighteen', '12/12/8/4');
  const other = await start('adopt', { publication: 99 });
  askAboutStatuses(() => other.webhookPort);
  try {
    const before = await atRest('eighteen');
    await kubectl('annotate', 'pdb', 'eighteen', 'note=1');
    await until(
      'the other replica to be asked',
      async () => (await counted(other, 'status_reviews_total', 'kept')) > 0,
    );
    const after = await atRest('eighteen');
    expect(after.status).toEqual(before.status);
    // What changes is published by the leader, and by it alone.
    const written = await counted(operator, 'published_total', 'written');
    await kubectl('delete', 'pod', 'eighteen-g0-0', '--grace-period=0', '--force');
    await shows('eighteen', '11/11/8/3');
    await atRest('eighteen');
    expect(await counted(other, 'published_total', 'written')).toBe(0);
    expect((await counted(operator, 'published_total', 'written')) - written).toBeLessThanOrEqual(2);
  } finally {
    askAboutStatuses(undefined);
    await other.stop();
  }
});

test('AD-13: while the status webhook does not answer, what others write lands, and the leader puts it right', async () => {
  await stage.apply(plane, ...gangs('thirteen', 3, 4), budget('thirteen', { maxUnavailable: 1 }));
  await shows('thirteen', '12/12/8/4');
  const silent: Server = createServer(() => {});
  const port = await new Promise<number>((resolve) => {
    silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port));
  });
  askAboutStatuses(() => port);
  try {
    await atRest('thirteen');
    const written = await counted(operator, 'published_total', 'written');
    await kubectl('annotate', 'pdb', 'thirteen', 'note=1');
    await until(
      'the leader to put right what landed',
      async () => (await counted(operator, 'published_total', 'written')) > written,
    );
    await shows('thirteen', '12/12/8/4');
  } finally {
    askAboutStatuses(undefined);
    silent.close();
  }
});

test('AD-17: replace mode beside the built-in controller says so, and does not fight', async () => {
  await stage.apply(plane, ...gangs('fought', 3, 4), budget('fought', { maxUnavailable: 1 }));
  await shows('fought', '12/12/8/4');
  await rollTo('replace', { quietMs: 1 });
  await until('statuses not to be asked about any more', async () => !(await isArmed('quorate-status')), 120_000);
  await kubectl('annotate', 'pdb', 'fought', 'note=1');
  const condition = 'jsonpath={.status.conditions[?(@.type=="ForeignWriter")].message}';
  await until('the ledger to name the other writer', async () =>
    (await kubectl('get', 'disruptionledger', 'fought', '-o', condition)).includes('kube-controller-manager keeps'),
  );
  // Two that write in turns would never let it rest.
  const rested = numbersOf(await atRest('fought'));
  expect(['12/12/8/4', '0/12/0/0']).toContain(rested);
  expect(await counted(operator, 'foreign_status_writes_total')).toBeGreaterThanOrEqual(3);
  const events = await kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}');
  expect(events).toContain('ForeignWriter');
  // Whatever it shows, evictions are judged.
  const granted = evictForEver('fought');
  await until('one gang to go', async () => {
    const { items } = await client.list(podType, { namespace: 'default', labelSelector: 'app=fought' });
    return items.length === 8;
  });
  expect(gangsOf(await granted.stop())).toHaveLength(1);
});

test('AD-07: the built-in controller under the name of kube-controller-manager itself is rewritten as well', async () => {
  await rollTo('adopt');
  await until('statuses to be asked about', () => isArmed('quorate-status'));
  await stage.apply(plane, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'managers-own-name' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'system:kube-controller-manager', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  const config = JSON.parse(await kubectl('config', 'view', '--raw', '-o', 'json')) as { users: { user: object }[] };
  for (const one of config.users) one.user = { token: plane.managerToken };
  const path = `${plane.folder}/kubeconfig-manager`;
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  await plane.kill('kube-controller-manager');
  await plane.restart('kube-controller-manager', [`--kubeconfig=${path}`, '--use-service-account-credentials=false']);
  await stage.apply(plane, ...gangs('seven', 3, 4), budget('seven', { maxUnavailable: 1 }));
  await shows('seven', '12/12/8/4');
  const before = await atRest('seven');
  const asked = await counted(operator, 'status_reviews_total', 'rewritten');
  await kubectl('annotate', 'pdb', 'seven', 'note=1');
  await until(
    'the controller to propose its numbers',
    async () => (await counted(operator, 'status_reviews_total', 'rewritten')) > asked,
  );
  expect((await atRest('seven')).status).toEqual(before.status);
});

async function counted(replica: Operator, metric: string, result = ''): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${replica.metricsPort}/metrics`)).text();
  const lines = text.split('\n').filter((one) => one.startsWith(`quorate_${metric}`) && one.includes(result));
  return lines.reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0);
}
