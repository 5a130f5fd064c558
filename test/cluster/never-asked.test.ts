/**
 * The namespaces of the cluster itself and of the operator are nobody's business: with every feature on and in use,
 * nothing that happens there is asked about, so that it goes on with all replicas down. By the API server's own count
 * of what it asked.
 */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPodReady } from '../../src/api/core/pod-state.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { emptyConfigurations, URL_ANNOTATION } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as groups from '../scenarios/stories/groups.ts';
import * as stage from './stage.ts';

const { until } = stage;
let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;
let operator: Operator | undefined;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
/** What kubectl said, whatever came of it. */
const said = (...args: string[]): Promise<string> =>
  kubectl(...args).catch((error: { stderr?: string }) => error.stderr ?? '');

beforeAll(async () => {
  plane = await stage.startPlane();
  client = createNetworkClient(plane, 'quorate-test');
  await stage.prepareCluster(plane);
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  operator = await stage.startReplica(plane, 'only', 'adopt');
  const annotations = { [URL_ANNOTATION]: `https://127.0.0.1:${operator.webhookPort}` };
  const empty = emptyConfigurations({ namespace: stage.NAMESPACE, certManager: false });
  await apply(...empty.map((one) => ({ ...one, metadata: { ...one.metadata, annotations } })));
  await until('the replica to be asked', async () => (await webhooks()).includes('owners.quorate.dev'));
});
afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const webhooks = (): Promise<string> =>
  kubectl(
    'get',
    'mutatingwebhookconfigurations,validatingwebhookconfigurations',
    '-o',
    'jsonpath={.items[*].webhooks[*].name}',
  );

const COUNT = 'apiserver_admission_webhook_admission_duration_seconds_count';

/** How often the API server has asked each of our webhooks. */
async function asked(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const line of (await kubectl('get', '--raw', '/metrics')).split('\n')) {
    const name = line.startsWith(COUNT) ? /name="([a-z]+)\.quorate\.dev"/.exec(line)?.[1] : undefined;
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return counts;
}

/** Once nothing is asked any more. */
async function askedAtRest(): Promise<Readonly<Record<string, number>>> {
  let last = await asked();
  let unchanged = 0;
  await until('nothing to be asked any more', async () => {
    const found = await asked();
    unchanged = JSON.stringify(found) === JSON.stringify(last) ? unchanged + 1 : 0;
    last = found;
    return unchanged >= 5;
  });
  return last;
}

const EXEMPT = ['kube-system', stage.NAMESPACE];
const GUARDED = 'default';
const containers = [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }];
const quick = { terminationGracePeriodSeconds: 0, containers };
const pod = (name: string, app: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app } },
  spec: { nodeName: 'node-0', ...quick, ...more },
});
const pub = (name: string) => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'guarded' } }, maxUnavailable: 0, protectTotalReplicas: 2 },
});

const asking = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, annotations: { 'groups.quorate.dev/create': 'true' } },
  spec: {
    parallelism: 2,
    template: { metadata: { labels: { app: name } }, spec: { ...quick, restartPolicy: 'Never' } },
  },
});

/** Something for every webhook: a budget over gangs, one over pods, a picker, a Job that asks for groups. */
const everything = (): readonly { kind: string; metadata: object }[] =>
  [
    groups.workload(stage.groupVersion, 'gangs', 2),
    ...['g0', 'g1'].flatMap((group) => [
      groups.podGroup(stage.groupVersion, group, 'gangs', 2),
      ...[0, 1].map((at) => pod(`${group}-${at}`, 'gangs', { schedulingGroup: { podGroupName: group } })),
    ]),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'gangs' },
      spec: { selector: { matchLabels: { app: 'gangs' } }, minAvailable: 2 },
    },
    pub('guarded'),
    ...[0, 1].map((at) => pod(`guarded-${at}`, 'guarded')),
    {
      apiVersion: 'policy.quorate.dev/v1alpha1',
      kind: 'DownscalePodPicker',
      metadata: { name: 'shrinks' },
      spec: { targetRef: { kind: 'Deployment', name: 'shrinks' }, http: { host: '127.0.0.1', port: 1 } },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'shrinks' },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'shrinks' } },
        template: { metadata: { labels: { app: 'shrinks' } }, spec: quick },
      },
    },
    asking('asks'),
  ] as { kind: string; metadata: object }[];

const inside = (namespace: string, objects: readonly { metadata: object }[]): object[] =>
  objects.map((one) => ({ ...one, metadata: { ...one.metadata, namespace } }));

const podsIn = async (namespace: string, app: string) =>
  (await client.list(podType, { namespace, labelSelector: `app=${app}` })).items;
const serving = (namespace: string, app: string, count: number): Promise<void> =>
  until(`${count} pods of ${app} in ${namespace}`, async () => {
    const pods = await podsIn(namespace, app);
    return pods.length === count && pods.every(isPodReady);
  });

async function begin(namespace: string): Promise<void> {
  await apply(...inside(namespace, everything()));
  for (const [app, count] of [
    ['gangs', 4],
    ['guarded', 2],
    ['shrinks', 3],
    ['asks', 2],
  ] as const)
    await serving(namespace, app, count);
}

/** By Kubernetes' own count, in pods. */
const builtinAllows = (namespace: string, numbers: string): Promise<void> =>
  until(`the built-in count in ${namespace} to be ${numbers}`, async () => {
    const path = 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}';
    return (await kubectl('get', 'pdb', 'gangs', '-n', namespace, '-o', path)) === numbers;
  });

async function evict(namespace: string, name: string): Promise<string> {
  const path = `${plane.folder}/eviction.json`;
  writeFileSync(path, JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }));
  return said('create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, '-f', path);
}
const drop = (namespace: string, name: string): Promise<string> =>
  said('delete', 'pod', name, '-n', namespace, '--wait=false');

/** Writes, an eviction, a delete, a shrink and new objects; each works, whatever is refused elsewhere. */
async function live(namespace: string, at: 0 | 1): Promise<void> {
  await kubectl('label', 'pod', `g${1 - at}-1`, '-n', namespace, `note=${at}`);
  await builtinAllows(namespace, `${4 - at}/${2 - at}`);
  expect(await evict(namespace, `g${at}-0`)).toContain('Success');
  await builtinAllows(namespace, `${3 - at}/${1 - at}`);
  expect(await drop(namespace, `guarded-${at}`)).toContain('deleted');
  await kubectl('scale', 'deployment', 'shrinks', '-n', namespace, `--replicas=${2 - at}`);
  await serving(namespace, 'shrinks', 2 - at);
  await apply(...inside(namespace, [pub(`late-${at}`), asking(`late-${at}`)]));
  await serving(namespace, `late-${at}`, 2);
  expect((await podsIn(namespace, `late-${at}`)).filter(({ spec }) => spec?.schedulingGroup)).toEqual([]);
}

let settled: Readonly<Record<string, number>>;

test('WS-06 with every feature in use, nothing in kube-system or in our own namespace is asked about', async () => {
  await begin(GUARDED);
  await until('deletes, evictions and new pods to be asked about', async () => {
    const names = await webhooks();
    return ['pods', 'evictions', 'link', 'status'].every((name) => names.includes(`${name}.quorate.dev`));
  });
  // Here they are asked about, and refused.
  await until('the delete to be refused', async () =>
    (await said('delete', 'pod', 'guarded-0', '-n', GUARDED, '--dry-run=server')).includes('denied the request'),
  );
  await until('the eviction to be refused', async () => (await evict(GUARDED, 'g0-0')).includes('disruption budget'));
  await kubectl('scale', 'deployment', 'shrinks', '-n', GUARDED, '--replicas=2');
  await serving(GUARDED, 'shrinks', 2);
  const before = await askedAtRest();
  expect(Object.keys(before).toSorted()).toEqual(
    expect.arrayContaining(['budgets', 'downscales', 'evictions', 'link', 'owners', 'pickers', 'pods', 'status']),
  );
  for (const namespace of EXEMPT) {
    await begin(namespace);
    await live(namespace, 0);
  }
  settled = await askedAtRest();
  expect(settled).toEqual(before);
});

test('WS-03 row 19: with all replicas down all of that goes on there', async () => {
  await operator?.stop();
  operator = undefined;
  for (const namespace of EXEMPT) await live(namespace, 1);
  expect(await askedAtRest()).toEqual(settled);
  const FAILED = 'failed calling webhook';
  expect(await drop(GUARDED, 'guarded-0')).toContain(FAILED);
  expect(await evict(GUARDED, 'g0-0')).toContain(FAILED);
});
