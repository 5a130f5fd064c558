/** Configurations are installed empty: nothing is asked before somebody can answer, and only where it matters. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhook,
} from '../../src/api/generated/admissionregistration-v1.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { emptyConfigurations, URL_ANNOTATION } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { balance, type Balancer } from './operator-process.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator | undefined;
let balancer: Balancer;
const { until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
const evict = (name: string): Promise<string> => stage.evict(plane, name);
const said = (...args: string[]): Promise<string> =>
  kubectl(...args).catch((error: { stderr?: string }) => error.stderr ?? '');

beforeAll(async () => {
  plane = await stage.startPlane();
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  balancer = await balance([{ port: () => operator?.webhookPort }]);
  await install();
});

afterAll(async () => {
  await operator?.stop();
  await balancer?.close();
  nodes?.stop();
  await plane?.stop();
});

/** As the manifests are, but for the place of a replica that runs outside of the cluster. */
async function install(): Promise<void> {
  const objects = emptyConfigurations({ namespace: stage.NAMESPACE, certManager: false }).map((one) => ({
    ...one,
    metadata: { ...one.metadata, annotations: { [URL_ANNOTATION]: `https://127.0.0.1:${balancer.port}` } },
  }));
  await apply(...objects);
}

const start = async (): Promise<Operator> =>
  (operator = await stage.startReplica(plane, `replica-${Math.random()}`, 'adopt', { metricsOpen: true }));

const webhooks = async (kind: 'mutating' | 'validating', name: string): Promise<readonly ValidatingWebhook[]> => {
  const text = await kubectl('get', `${kind}webhookconfiguration`, name, '-o', 'json');
  return (JSON.parse(text) as MutatingWebhookConfiguration).webhooks ?? [];
};
const namesIn = async (): Promise<string[]> => (await webhooks('validating', 'quorate')).map(({ name }) => name);
const listed = async (webhook: string): Promise<readonly string[]> => {
  const all = [...(await webhooks('mutating', 'quorate-evictions')), ...(await webhooks('validating', 'quorate'))];
  const selector = all.find(({ name }) => name === webhook)?.namespaceSelector?.matchExpressions ?? [];
  return selector.find(({ operator: how }) => how === 'In')?.values ?? [];
};

const pod = (name: string, app: string, namespace: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels: { app } },
  spec: { nodeName: 'node-0', containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }], ...spec },
});
const pub = (name: string, namespace: string) => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name, namespace },
  spec: { selector: { matchLabels: { app: name } }, maxUnavailable: 0 },
});
const ready = (name: string, namespace: string): Promise<void> =>
  until(`${namespace}/${name} to be Ready`, async () =>
    (
      await kubectl(
        'get',
        'pod',
        name,
        '-n',
        namespace,
        '-o',
        'jsonpath={.status.conditions[?(@.type=="Ready")].status}',
      )
    ).startsWith('True'),
  );

async function readyz(): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, agent: false };
    request(`https://127.0.0.1:${operator?.webhookPort}/readyz?verbose`, options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', reject)
      .end();
  });
}

test('WS-01: while no replica runs nothing is asked', async () => {
  expect(await webhooks('mutating', 'quorate-evictions')).toEqual([]);
  await kubectl('create', 'namespace', 'other');
  await until('the service account', async () => (await kubectl('get', 'sa', 'default', '-n', 'other')) !== '');
  await apply(pod('early', 'early', 'other'));
  await ready('early', 'other');
  expect(await kubectl('delete', 'pod', 'early', '-n', 'other', '--wait=false')).toContain('deleted');
});

test('WS-02, WS-04: the leader fills them once it is there; without budgets no pod is asked about', async () => {
  await start();
  await until('the configurations to be filled', async () => (await namesIn()).length > 0);
  expect(await namesIn()).not.toContain('pods.quorate.dev');
  expect(await webhooks('mutating', 'quorate-evictions')).toEqual([]);
  const status = await webhooks('mutating', 'quorate-status');
  expect(status).toMatchObject([{ name: 'status.quorate.dev', failurePolicy: 'Ignore', timeoutSeconds: 2 }]);
});

test('GR-14: evictions under a new budget are held back until its namespace is asked about, then judged', async () => {
  const gangs = ['g0', 'g1'].map((name) => groups.podGroup(stage.groupVersion, name, 'gangs', 2));
  const members = ['g0', 'g1'].flatMap((group) =>
    [0, 1].map((at) => pod(`${group}-${at}`, 'gangs', 'default', { schedulingGroup: { podGroupName: group } })),
  );
  await apply(groups.workload(stage.groupVersion, 'gangs', 2), ...gangs, ...members);
  for (const group of ['g0', 'g1']) for (const at of [0, 1]) await ready(`${group}-${at}`, 'default');
  await apply({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'gangs', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'gangs' } }, maxUnavailable: 1 },
  });
  const first = await evict('g0-0');
  expect(first).not.toBe('granted');
  await until('the namespace to be listed', async () => (await listed('evictions.quorate.dev')).includes('default'));
  await until('the eviction to be granted', async () => (await evict('g0-0')) === 'granted');
  expect(await evict('g1-0')).toContain('disruption budget');
  expect(await listed('evictions.quorate.dev')).toEqual(['default']);
});

test('WS-05: a namespace is asked about before its first PodUnavailableBudget is there', async () => {
  await apply(pod('guarded', 'guarded', 'other'));
  await ready('guarded', 'other');
  await apply(pub('guarded', 'other'));
  expect(await listed('pods.quorate.dev')).toEqual(['other']);
  expect(await listed('evictions.quorate.dev')).toEqual(['default', 'other']);
  await until('the delete to be refused', async () =>
    (await said('delete', 'pod', 'guarded', '-n', 'other', '--dry-run=server')).includes('guarded'),
  );
});

test('WS-15: the manifests applied again take nothing away', async () => {
  const before = await webhooks('mutating', 'quorate-evictions');
  await install();
  expect(await webhooks('mutating', 'quorate-evictions')).toEqual(before);
});

test('WS-03: with all replicas down, what needs nobody works', async () => {
  await apply(pod('plain', 'plain', 'default'), pod('spare', 'spare', 'default'), pod('exempt', 'guarded', 'other'));
  await kubectl('label', 'pod', 'exempt', '-n', 'other', 'policy.quorate.dev/exempt=');
  await kubectl('create', 'namespace', 'third');
  await until('the service account', async () => (await kubectl('get', 'sa', 'default', '-n', 'third')) !== '');
  await apply(
    pod('free', 'free', 'third'),
    pod('stuck', 'stuck', 'third', { nodeName: '', nodeSelector: { no: 'where' } }),
  );
  await ready('plain', 'default');
  await ready('free', 'third');
  await operator?.stop();
  operator = undefined;
  const drop = (name: string, namespace: string): Promise<string> =>
    said('delete', 'pod', name, '-n', namespace, '--wait=false', '--grace-period=1');
  // Rows 1, 2, 3, 5, 6, 13, 14 and 20 of the list.
  expect(await drop('plain', 'default')).toContain('deleted');
  expect(await drop('guarded', 'other')).toContain('failed calling webhook');
  expect(await drop('exempt', 'other')).toContain('deleted');
  const freed = `/api/v1/namespaces/third/pods/free/eviction`;
  const path = `${plane.folder}/evict-free.json`;
  writeFileSync(
    path,
    JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'free', namespace: 'third' } }),
  );
  expect(await said('create', '--raw', freed, '-f', path)).toContain('Success');
  expect(await evict('spare')).toContain('failed calling webhook');
  expect(await said('delete', 'pdb', 'gangs')).toContain('deleted');
  expect(await said('create', '-f', await file(pub('late', 'other')))).toContain('failed calling webhook');
  expect(await said('delete', 'mutatingwebhookconfiguration', 'quorate-evictions')).toContain('deleted');
  expect(await evict('spare')).toBe('granted');
});

test('WS-09: a configuration that was deleted makes the leader say so', async () => {
  await install();
  await start();
  await until('the configuration to be filled again', async () => (await listed('evictions.quorate.dev')).length > 0);
  expect((await readyz()).status).toBe(200);
  await kubectl('delete', 'mutatingwebhookconfiguration', 'quorate-status');
  await until('the leader not to be ready', async () => (await readyz()).status === 503);
  expect((await readyz()).text).toContain('quorate-status: deleted');
  await install();
  await until('the leader to be ready', async () => (await readyz()).status === 200);
  expect(await webhooks('mutating', 'quorate-status')).toHaveLength(1);
});

async function file(object: object): Promise<string> {
  const path = `${plane.folder}/object.json`;
  writeFileSync(path, JSON.stringify(object));
  return path;
}
