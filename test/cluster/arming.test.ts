/** Configurations are installed empty: nothing is asked before somebody can answer, and only where it matters. */
import { readFileSync, writeFileSync } from 'node:fs';
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
import { gangs } from './gangs.ts';
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
/** No controller says how many there should be: more than there ever are, so that none may go. */
const pub = (name: string, namespace: string) => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name, namespace },
  spec: { selector: { matchLabels: { app: name } }, maxUnavailable: 0, protectTotalReplicas: 20 },
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

const GANGS_BUDGET = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'gangs', namespace: 'default' },
  spec: { selector: { matchLabels: { app: 'gangs' } }, maxUnavailable: 1 },
};

test('GR-14: evictions under a new budget are held back until its namespace is asked about, then judged', async () => {
  await apply(...gangs('gangs', 2, 2));
  for (const group of ['g0', 'g1']) for (const at of [0, 1]) await ready(`gangs-${group}-${at}`, 'default');
  await apply(GANGS_BUDGET);
  const first = await evict('gangs-g0-0');
  expect(first).not.toBe('granted');
  await until('the namespace to be listed', async () => (await listed('evictions.quorate.dev')).includes('default'));
  await until('the eviction to be granted', async () => (await evict('gangs-g0-0')) === 'granted');
  expect(await evict('gangs-g1-0')).toContain('disruption budget');
  expect(await listed('evictions.quorate.dev')).toEqual(['default']);
});

/** What kubectl prints of a delete that is refused, and of none that succeeds or finds nobody to judge it. */
const REFUSED = 'admission webhook "pods.quorate.dev" denied the request';

test('WS-05: a namespace is asked about before its first PodUnavailableBudget is there', async () => {
  await apply(pod('guarded', 'guarded', 'other'));
  await ready('guarded', 'other');
  await apply(pub('guarded', 'other'));
  expect(await listed('pods.quorate.dev')).toEqual(['other']);
  expect(await listed('evictions.quorate.dev')).toEqual(['default', 'other']);
  await until('the delete to be refused', async () =>
    (await said('delete', 'pod', 'guarded', '-n', 'other', '--dry-run=server')).includes(REFUSED),
  );
});

test('WS-15: the manifests applied again take nothing away', async () => {
  const before = await webhooks('mutating', 'quorate-evictions');
  await install();
  expect(await webhooks('mutating', 'quorate-evictions')).toEqual(before);
});

/** So many pods of a Deployment, with a picker that would choose among them. */
const deployment = (name: string, namespace: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        nodeSelector: { 'kubernetes.io/hostname': 'node-1' },
        containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
      },
    },
  },
});
const namesOf = async (app: string, namespace: string): Promise<string[]> =>
  (await kubectl('get', 'pods', '-n', namespace, '-l', `app=${app}`, '-o', 'jsonpath={.items[*].metadata.name}'))
    .split(' ')
    .filter((name) => name !== '');
const isServing = async (name: string, namespace: string, replicas: number): Promise<boolean> => {
  const path = 'jsonpath={.status.updatedReplicas}/{.status.readyReplicas}';
  const text = await kubectl('get', 'deployment', name, '-n', namespace, '-o', path);
  return Number(text.split('/')[0]) === replicas && Number(text.split('/')[1]) >= replicas;
};
const makeNamespace = async (name: string): Promise<void> => {
  await kubectl('create', 'namespace', name);
  await until('the service account', async () => (await kubectl('get', 'sa', 'default', '-n', name)) !== '');
};
const CRITICAL = { priorityClassName: 'system-node-critical' };

const slots = { 'example.com/slot': '1' };
/** Asks for the only slot of node-1. */
const holding = (name: string, namespace: string, priorityClassName: string) =>
  pod(name, name, namespace, {
    nodeName: undefined,
    priorityClassName,
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9', resources: { limits: slots, requests: slots } }],
  });
const nodeOf = (name: string, namespace: string): Promise<string> =>
  kubectl('get', 'pod', name, '-n', namespace, '-o', 'jsonpath={.spec.nodeName}');
const isGone = async (name: string, namespace: string): Promise<boolean> =>
  (await said('get', 'pod', name, '-n', namespace)).includes('NotFound');

test('WS-03: with all replicas down, rows 15, 17 and 18: pickers, nodes that go, preemption', async () => {
  await makeNamespace('fourth');
  await apply(
    ...['low', 'high'].map((name, at) => ({
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value: 10 ** (3 * at),
    })),
    deployment('shrinks', 'fourth', 2),
    {
      apiVersion: 'policy.quorate.dev/v1alpha1',
      kind: 'DownscalePodPicker',
      metadata: { name: 'shrinks', namespace: 'fourth' },
      spec: { targetRef: { kind: 'Deployment', name: 'shrinks' }, http: { host: '127.0.0.1', port: 1 } },
    },
    pod('tainted', 'tainted', 'fourth', { nodeName: 'node-1', terminationGracePeriodSeconds: 1 }),
    pod('tainted', 'guarded', 'other', { nodeName: 'node-1', terminationGracePeriodSeconds: 1 }),
  );
  await kubectl(
    'patch',
    'node',
    'node-1',
    '--subresource=status',
    '-p',
    JSON.stringify({ status: { capacity: slots } }),
  );
  await apply(holding('victim', 'fourth', 'low'));
  await ready('victim', 'fourth');
  for (const namespace of ['fourth', 'other']) await ready('tainted', namespace);
  await until('the Deployment', () => isServing('shrinks', 'fourth', 2));
  await operator?.stop();
  operator = undefined;
  // Their node is not there: pods that the controller manager collects, after a while.
  await apply(...['fourth', 'other'].map((namespace) => pod('orphan', 'orphan', namespace, { nodeName: 'gone' })));

  // Row 15: nobody chooses, and the ReplicaSet does.
  await kubectl('scale', 'deployment', 'shrinks', '-n', 'fourth', '--replicas=1');
  await until('the scale down', async () => (await namesOf('shrinks', 'fourth')).length === 1);

  // Row 18: a preemption is a delete; it works where nothing is guarded, and waits where something is.
  await apply(holding('urgent', 'fourth', 'high'));
  await until('the urgent pod to be placed', async () => (await nodeOf('urgent', 'fourth')) === 'node-1');
  expect(await isGone('victim', 'fourth')).toBe(true);
  await kubectl('delete', 'pod', 'urgent', '-n', 'fourth', '--grace-period=0', '--force');
  await apply(holding('victim', 'other', 'low'));
  await ready('victim', 'other');
  await apply(holding('urgent', 'other', 'high'));
  await until('the preemption to fail', () =>
    /failed calling webhook .*pods[.]quorate[.]dev/.test(readFileSync(`${plane.folder}/kube-scheduler.log`, 'utf8')),
  );
  expect(await nodeOf('urgent', 'other')).toBe('');

  // Row 17: taints of a node delete pods; those of a node that is gone were marked Failed first, which nobody guards.
  await kubectl('taint', 'node', 'node-1', 'example.com/out=:NoExecute');
  await until('the pod to leave the node', () => isGone('tainted', 'fourth'));
  await until(
    'the orphans to be collected',
    async () => (await isGone('orphan', 'fourth')) && isGone('orphan', 'other'),
  );
  expect(await isGone('tainted', 'other')).toBe(false);
  await kubectl('taint', 'node', 'node-1', 'example.com/out-');
  await start();
  await until('deletes to be judged again', async () =>
    (await said('delete', 'pod', 'guarded', '-n', 'other', '--dry-run=server')).includes(REFUSED),
  );
  await kubectl('label', 'pod', 'tainted', '-n', 'other', 'policy.quorate.dev/exempt=');
  await kubectl('delete', 'pod', 'urgent', 'victim', 'tainted', '-n', 'other', '--ignore-not-found', '--wait=false');
  await kubectl('delete', 'namespace', 'fourth', '--wait=false');
});

test('WS-03, WS-06: with all replicas down, all works that needs nobody, and only that', async () => {
  await makeNamespace('third');
  await apply(
    pod('plain', 'plain', 'default'),
    pod('spare', 'spare', 'default'),
    pod('exempt', 'guarded', 'other'),
    pod('critical', 'guarded', 'other', CRITICAL),
    pod('stuck', 'guarded', 'other', { nodeName: '', nodeSelector: { no: 'where' } }),
    pod('ended', 'guarded', 'other'),
    pod('going', 'guarded', 'other'),
    pod('of-the-node', 'guarded', 'other'),
    pod('free', 'free', 'third'),
    deployment('rolls', 'third', 2),
    deployment('waits', 'other', 2),
  );
  for (const name of ['critical', 'ended', 'going', 'of-the-node', 'exempt']) await ready(name, 'other');
  await ready('plain', 'default');
  await ready('free', 'third');
  await until('the Deployments', async () => (await isServing('rolls', 'third', 2)) && isServing('waits', 'other', 2));
  await kubectl('label', 'pod', 'exempt', '-n', 'other', 'policy.quorate.dev/exempt=');
  const finished = JSON.stringify({ status: { phase: 'Succeeded' } });
  await kubectl('patch', 'pod', 'ended', '-n', 'other', '--subresource=status', '--type=merge', '-p', finished);
  await operator?.stop();
  operator = undefined;
  const FAILED = 'failed calling webhook';
  const drop = (name: string, namespace: string, ...more: string[]): Promise<string> =>
    said('delete', 'pod', name, '-n', namespace, '--wait=false', '--grace-period=1', ...more);

  // Rows 1 to 4, and what is never asked about.
  expect(await drop('plain', 'default')).toContain('deleted');
  expect(await drop('guarded', 'other')).toContain(FAILED);
  for (const name of ['exempt', 'critical', 'stuck', 'ended']) expect(await drop(name, 'other')).toContain('deleted');
  await kubectl('annotate', 'pod', 'guarded', '-n', 'other', 'note=1');
  const asNode = ['--as=system:node:node-0', '--as-group=system:nodes', '--as-group=system:authenticated'];
  expect(await drop('of-the-node', 'other', ...asNode)).not.toContain(FAILED);

  // Rows 5 to 8: evictions and drains.
  expect(await evictIn('third', 'free')).toContain('Success');
  expect(await evict('spare')).toContain(FAILED);
  const drain = (app: string): Promise<string> =>
    said('drain', 'node-1', '--ignore-daemonsets', `--pod-selector=app=${app}`, '--timeout=60s');
  expect(await drain('rolls')).toContain('node/node-1 drained');
  await kubectl('uncordon', 'node-1');
  expect(await drain('waits')).toContain(FAILED);
  await kubectl('uncordon', 'node-1');

  // Rows 9 to 12: rollouts, scale downs, new pods.
  await until('the pods that were drained', () => isServing('rolls', 'third', 2));
  const template = JSON.stringify({ spec: { template: { metadata: { annotations: { version: '2' } } } } });
  const old = [await namesOf('rolls', 'third'), await namesOf('waits', 'other')] as const;
  await kubectl('patch', 'deployment', 'rolls', '-n', 'third', '-p', template);
  await kubectl('patch', 'deployment', 'waits', '-n', 'other', '-p', template);
  await until('the rollout where nothing is guarded', async () => {
    const now = await namesOf('rolls', 'third');
    return now.length === 2 && now.every((name) => !old[0].includes(name));
  });
  await until('new pods where something is', async () => (await namesOf('waits', 'other')).length > 2);
  expect(await namesOf('waits', 'other')).toEqual(expect.arrayContaining(old[1]));
  await kubectl('scale', 'deployment', 'rolls', '-n', 'third', '--replicas=1');
  await until('the scale down', async () => (await namesOf('rolls', 'third')).length === 1);

  // Rows 13 to 16: budgets, pickers, namespaces.
  expect(await said('delete', 'pdb', 'gangs')).toContain('deleted');
  expect(await said('create', '-f', await file(pub('late', 'other')))).toContain(FAILED);
  await kubectl('delete', 'namespace', 'third');
  await kubectl('delete', 'namespace', 'other', '--wait=false');
  await until('the namespace to be going', async () => {
    const path = 'jsonpath={.status.conditions[?(@.type=="NamespaceDeletionContentFailure")].message}';
    return (await kubectl('get', 'namespace', 'other', '-o', path)).includes(FAILED);
  });
  expect(await namesOf('guarded', 'other')).toContain('guarded');

  // Rows 19 and 20: what belongs to us.
  await apply(pod('own', 'quorate', stage.NAMESPACE));
  await ready('own', stage.NAMESPACE);
  expect(await evictIn(stage.NAMESPACE, 'own')).toContain('Success');
  expect(await said('delete', 'mutatingwebhookconfiguration', 'quorate-evictions')).toContain('deleted');
  await until('evictions to pass', async () => (await evict('spare')) === 'granted');
});

test('WS-09: a configuration that was deleted makes the leader say so', async () => {
  await install();
  await apply(GANGS_BUDGET);
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

async function evictIn(namespace: string, name: string): Promise<string> {
  const path = await file({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } });
  return said('create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, '-f', path);
}
