/**
 * PodUnavailableBudgets let go of what is left of a service: Kubernetes' own garbage collector and namespace
 * controller delete the pods, and a replica has the rights of an installation.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { defaultInstall, installObjects } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as stage from './stage.ts';

const { until } = stage;
const LIMIT_MS = 120_000;
const ACCESS = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']);

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
let namespace = '';
let rounds = 0;

beforeAll(async () => {
  plane = await stage.startPlane();
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  await stage.apply(plane, ...installObjects(defaultInstall).filter(({ kind }) => ACCESS.has(kind ?? '')));
  const kubeconfig = await stage.accountKubeconfig(plane, 'quorate');
  operator = await stage.startReplica(plane, 'one', 'alongside', { kubeconfig });
  await stage.registerWebhooks(plane, operator);
});

afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

beforeEach(async () => {
  namespace = `inference-${(rounds += 1)}`;
  await stage.apply(plane, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await until('the default service account', async () => (await kubectl('get', 'serviceaccount', 'default')) !== '');
  await stage.apply(plane, {
    apiVersion: 'policy.kruise.io/v1beta1',
    kind: 'PodUnavailableBudget',
    metadata: { name: 'pub', namespace },
    spec: { selector: { matchLabels: { app: 'llm' } }, minAvailable: 2 },
  });
});

const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, '-n', namespace, ...args);
const namesOf = async (...args: string[]): Promise<string[]> =>
  (await kubectl('get', ...args, '-o', 'name')).split('\n').filter((line) => line !== '');

/** Three pods, of which the budget lets one go. */
async function serve(kind: 'Deployment' | 'StatefulSet'): Promise<void> {
  const selector = { matchLabels: { app: 'llm' } };
  await stage.apply(plane, {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'llm', namespace },
    spec: {
      replicas: 3,
      selector,
      ...(kind === 'StatefulSet' && { serviceName: 'llm', podManagementPolicy: 'Parallel' }),
      template: {
        metadata: { labels: selector.matchLabels },
        spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'serve', image: 'serve:1' }] },
      },
    },
  });
  const numbers = 'jsonpath={.status.currentAvailable}/{.status.unavailableAllowed}';
  await until('the budget to count three', async () => (await kubectl('get', 'pub', 'pub', '-o', numbers)) === '3/1');
}

/** What a person is told who deletes pods until the budget says no. */
async function deleteAllByHand(): Promise<string> {
  const outcome = kubectl('delete', 'pod', '-l', 'app=llm', '--wait=false');
  return outcome.catch((error: { stderr?: string }) => error.stderr ?? '');
}

for (const kind of ['Deployment', 'StatefulSet'] as const) {
  for (const cascade of ['background', 'foreground'] as const) {
    test(`18.5: a ${kind} deleted in the ${cascade} under minAvailable leaves no pods`, async () => {
      await serve(kind);
      expect(await deleteAllByHand(), 'people are held to it while it serves').toContain('podunavailablebudget');
      await kubectl('delete', kind, 'llm', `--cascade=${cascade}`, '--wait=false');
      await until('no pod to be left', async () => (await namesOf('pods')).length === 0, LIMIT_MS);
      await until('nothing that owned them to be left', async () => {
        return (await namesOf('deployments,replicasets,statefulsets')).length === 0;
      });
    });
  }
}

test('18.5: pods that were orphaned on purpose stay guarded', async () => {
  await serve('Deployment');
  await kubectl('delete', 'deployment', 'llm', '--cascade=orphan');
  await kubectl('delete', 'replicaset', '-l', 'app=llm', '--cascade=orphan');
  expect(await deleteAllByHand()).toContain('podunavailablebudget');
  expect((await namesOf('pods')).length).toBeGreaterThanOrEqual(2);
});

/** In which order a namespace's objects go is nobody's promise; a finalizer makes the budget outlive the pods. */
test('18.5 WS-16: a namespace with a PodUnavailableBudget can be deleted', async () => {
  await serve('Deployment');
  const hold = (finalizers: string[]): Promise<string> =>
    kubectl('patch', 'pub', 'pub', '--type=merge', '-p', JSON.stringify({ metadata: { finalizers } }));
  await hold(['example.com/hold']);
  await stage.kubectl(plane, 'delete', 'namespace', namespace, '--wait=false');
  await until('no pod to be left', async () => (await namesOf('pods')).length === 0, LIMIT_MS);
  expect(await namesOf('pub')).toHaveLength(1);
  await hold([]);
  const gone = async (): Promise<boolean> =>
    (await stage.kubectl(plane, 'get', 'namespace', namespace, '--ignore-not-found', '-o', 'name')) === '';
  await until('the namespace to be gone', gone, LIMIT_MS);
});
