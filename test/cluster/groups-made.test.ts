/**
 * Groups made by the operator for Jobs that ask for them, on kinds that the cluster serves itself. The replica fills the
 * webhook configurations, which were installed empty, as it does in an installation.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Job } from '../../src/api/generated/batch-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { emptyConfigurations, URL_ANNOTATION } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as stage from './stage.ts';

const { NAMESPACE, until } = stage;
let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;
let operator: Operator;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);

beforeAll(async () => {
  plane = await stage.startPlane();
  client = createNetworkClient(plane, 'quorate-test');
  await stage.prepareCluster(plane);
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  operator = await stage.startReplica(plane, 'first', 'adopt');
  const at = { [URL_ANNOTATION]: `https://127.0.0.1:${operator.webhookPort}` };
  const empty = emptyConfigurations({ namespace: NAMESPACE, certManager: false });
  await apply(
    ...empty.map((one) => ({
      ...one,
      metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...at } },
    })),
  );
  await until('the replica to be asked about owners', async () =>
    (await kubectl('get', 'validatingwebhookconfiguration', 'quorate', '-o', 'jsonpath={.webhooks[*].name}')).includes(
      'owners.quorate.dev',
    ),
  );
});

afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const job = (name: string, asks: Record<string, string>): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'default', annotations: asks },
  spec: {
    parallelism: 3,
    completions: 3,
    completionMode: 'Indexed',
    template: {
      metadata: { labels: { app: name } },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }],
      },
    },
  },
});

const ASKS = { 'groups.quorate.dev/create': 'true' };

const podsOf = async (app: string) =>
  (await client.list(podType, { namespace: 'default', labelSelector: `app=${app}` })).items;

const running = (app: string): Promise<void> =>
  until(`pods of ${app} to run`, async () => {
    const pods = await podsOf(app);
    return pods.length === 3 && pods.every(({ status }) => status?.phase === 'Running');
  });

const names = async (kinds: string): Promise<string[]> =>
  (await kubectl('get', kinds, '-o', 'name')).split('\n').filter((line) => line !== '');

test('GC-01 an annotated Job gets a Workload and a PodGroup, and its pods are in it; deleted, all are gone', async () => {
  await apply(job('plain', {}));
  await apply(job('train', ASKS));
  await running('train');
  await running('plain');
  const groups = await names('podgroups');
  expect(groups).toHaveLength(1);
  const [group = ''] = groups.map((name) => name.split('/')[1]);
  expect((await podsOf('train')).map(({ spec }) => spec?.schedulingGroup?.podGroupName)).toEqual([group, group, group]);
  expect((await podsOf('plain')).filter(({ spec }) => spec?.schedulingGroup)).toEqual([]);
  const owners = 'jsonpath={.metadata.ownerReferences[*].kind}/{.spec.schedulingPolicy.gang.minCount}';
  expect(await kubectl('get', 'podgroup', group, '-o', owners)).toBe('Job Workload/3');
  await kubectl('delete', 'job', 'train', '--wait=false');
  await until('all of it to be gone', async () => {
    const left = await names('workloads,podgroups');
    return left.length === 0 && (await podsOf('train')).length === 0;
  });
});

test('GC-01 deleted in the foreground, all are gone too', async () => {
  await apply(job('front', ASKS));
  await running('front');
  await kubectl('delete', 'job', 'front', '--cascade=foreground', '--wait=false');
  await until('all of it to be gone', async () => {
    const left = await names('workloads,podgroups,jobs');
    return left.length === 1 && (await podsOf('front')).length === 0;
  });
});
