/** What was let pass must not hit another pod, and ledgers that vanish come back. */
import { createServer, type Server } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { createAuthority, issueServer } from '../../src/machinery/runtime/certificates.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { definitions } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { memberOf, served } from './gangs.ts';
import * as stage from './stage.ts';

const { until } = stage;
const SLOW = 'slow.example.com';
const SLOW_MS = 5000;
/** The longest that an API server waits for it, less a moment. */
const SLOWEST_MS = 14_000;

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
let slow: Server;
let slowMs = SLOW_MS;
let answerNow = (): void => {};

beforeAll(async () => {
  plane = await stage.startPlane({ components: ['kube-controller-manager'] });
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 1 } });
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'one', 'alongside');
  await stage.registerWebhooks(plane, operator);
  await stage.apply(
    plane,
    served(groups.workload(stage.groupVersion, 'training', 2)),
    ...['g0', 'g1'].flatMap((gang) => [
      served(groups.podGroup(stage.groupVersion, gang, 'training', 2)),
      statefulSet(gang),
    ]),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'training', namespace: 'default' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'training' } } },
    },
  );
  await until('the ledger to count both gangs', async () => (await ledger()) === '2/0');
});

afterAll(async () => {
  slow?.closeAllConnections();
  slow?.close();
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const ledger = (): Promise<string> =>
  kubectl('get', 'ledger', 'training', '-o', 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}');
const uidOf = (pod: string): Promise<string> => kubectl('get', 'pod', pod, '-o', 'jsonpath={.metadata.uid}');

const statefulSet = (name: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas: 2,
    serviceName: name,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { gang: name } },
    template: memberOf(name, {
      metadata: {
        labels: { app: 'training', gang: name },
        annotations: { 'nodes.quorate.dev/start-delay': '2s' },
      },
      spec: {
        nodeName: 'node-0',
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
      },
    }),
  },
});

/** Somebody else's webhook on evictions, which lets everything pass and takes its time. */
async function delayEvictions(): Promise<void> {
  const authority = await createAuthority('slow', { now: Date.now(), days: 1 });
  const pair = await issueServer(authority, 'slow', ['127.0.0.1'], { now: Date.now(), days: 1 });
  slow = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { uid } = (JSON.parse(text) as { request: { uid: string } }).request;
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } };
      const answer = (): void => {
        clearTimeout(timer);
        response.end(JSON.stringify(review));
      };
      const timer = setTimeout(answer, slowMs);
      answerNow = answer;
    });
  });
  await new Promise<void>((resolve) => {
    slow.listen(0, '127.0.0.1', resolve);
  });
  const { port } = slow.address() as { port: number };
  await stage.apply(plane, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'slow' },
    webhooks: [
      {
        name: SLOW,
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(authority.certificate).toString('base64'),
        },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'] }],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        timeoutSeconds: 15,
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  // Under no budget, so that nothing of ours answers before the slow one is asked.
  const spec = { containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }] };
  await stage.apply(plane, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'alone', namespace: 'default' }, spec });
  await until('evictions to take their time', async () => {
    const begun = Date.now();
    await stage.evict(plane, 'alone', { dryRun: true });
    return Date.now() - begun >= SLOW_MS;
  });
}

test('18.1 GR-01: an eviction let pass while its pod was Pending does not hit it once it is Ready', async () => {
  await delayEvictions();
  const before = await uidOf('g0-0');
  await kubectl('delete', 'pod', 'g0-0', '--wait=false');
  await until('its successor to be there', async () => ![before, ''].includes(await uidOf('g0-0')));
  const successor = await uidOf('g0-0');
  const phase = await kubectl('get', 'pod', 'g0-0', '-o', 'jsonpath={.status.phase}');
  const answer = await stage.evict(plane, 'g0-0');
  expect(phase).toBe('Pending');
  expect(answer).not.toBe('granted');
  expect(await uidOf('g0-0')).toBe(successor);
  await until('both gangs to count again', async () => (await ledger()) === '2/0');
});

test('18.1 GR-06: an eviction whose pod is replaced on the way is pinned to it: 409, and its successor stays', async () => {
  const demand = (minAvailable: number): Promise<string> =>
    kubectl('patch', 'pdb', 'training', '--type=merge', '-p', JSON.stringify({ spec: { minAvailable } }));
  const granted = (): Promise<string> =>
    kubectl('get', 'ledger', 'training', '-o', 'jsonpath={range .status.grants[*]}{.name}/{.pinned} {end}');
  await demand(1);
  await until('one gang to be let go', async () => (await ledger()) === '2/1');
  const before = await uidOf('g0-0');
  slowMs = SLOWEST_MS;
  const answer = stage.evict(plane, 'g0-0');
  await until('the grant to be listed', async () => (await granted()).trim() === 'g0-0/uid');
  await kubectl('delete', 'pod', 'g0-0', '--grace-period=0', '--force', '--wait=false');
  await until('its successor to be there', async () => ![before, ''].includes(await uidOf('g0-0')));
  const successor = await uidOf('g0-0');
  answerNow();
  expect(await answer).toMatch(/Conflict|Precondition failed/);
  expect(await uidOf('g0-0')).toBe(successor);
  await until('the grant to be over', async () => (await granted()) === '');
  await demand(2);
  await kubectl('delete', 'validatingwebhookconfiguration', 'slow');
  await until('both gangs to count again', async () => (await ledger()) === '2/0');
});

test('18.3: a ledger that is deleted by hand comes back at once', async () => {
  const uid = (): Promise<string> => kubectl('get', 'ledger', 'training', '-o', 'jsonpath={.metadata.uid}');
  const before = await uid();
  await kubectl('delete', 'ledger', 'training');
  await until('the ledger to be back', async () => ![before, ''].includes(await uid()) && (await ledger()) === '2/0');
  expect(await stage.evict(plane, 'g0-0')).toContain('would violate');
});

test('18.3 GR-18: when their definition is deleted and applied again, ledgers return without a restart', async () => {
  await kubectl('delete', 'crd', 'disruptionledgers.policy.quorate.dev');
  const refused = await stage.evict(plane, 'g1-0');
  expect(refused).toMatch(/TooManyRequests|try again|disruption budget/);
  await stage.apply(plane, ...definitions());
  await until('the ledger to be back', async () => (await ledger()) === '2/0', 30_000);
  await kubectl('patch', 'pdb', 'training', '--type=merge', '-p', JSON.stringify({ spec: { minAvailable: 1 } }));
  await until('evictions to be judged by it', async () => (await stage.evict(plane, 'g1-0')) === 'granted');
  expect(await stage.evict(plane, 'g0-0')).toContain('would violate');
});
