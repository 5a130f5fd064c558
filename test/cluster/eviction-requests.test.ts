/**
 * EvictionRequests on the real binaries, carried out with the rights that an installation gives. 1.37 serves the kinds
 * itself; on a cluster that does not, definitions of ours do, and a webhook holds them to the same rules.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClusterRole } from '../../src/api/generated/rbac-v1.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import type { Eviction, EvictionRequest, ResponderStatus } from '../../src/api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType, evictionType } from '../../src/api/lifecycle/index.ts';
import { disruptionPolicyType } from '../../src/api/quorate/disruption-policy.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { podType } from '../../src/api/resource-types.ts';
import { findRequestKinds, type NodesHost, type Operator, startNodes, uninstall } from '../../src/app/index.ts';
import { type Client, existing, type Logger, silentLogger } from '../../src/machinery/runtime/index.ts';
import { formatTime } from '../../src/machinery/values/index.ts';
import { defaultInstall, emptyConfigurations, installObjects, URL_ANNOTATION } from '../../src/webhook/index.ts';
import { chosenMinor } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as stage from './stage.ts';

const { NAMESPACE, until } = stage;
const isNative = chosenMinor() === '1.37';
const requestKinds = isNative ? 'native' : 'crd';
const serving = isNative
  ? { featureGates: 'EvictionRequestAPI=true', runtimeConfig: 'lifecycle.k8s.io/v1alpha1=true' }
  : {};
const namespace = 'default';
const SAVER = 'checkpoints.example.com/saver';
let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;
let operator: Operator;
const warnings: string[] = [];
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);

beforeAll(async () => {
  plane = await startRealControlPlane({ minor: chosenMinor(), ...serving });
  client = createNetworkClient(plane, 'quorate-test');
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  expect(await findRequestKinds(client)).toBe(requestKinds);
  // Everything but what would run an image and what would call it: both run in this process.
  const apart = new Set(['Deployment', 'ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']);
  const objects = installObjects({ ...defaultInstall, groups: 'crd', requestKinds });
  await apply(...objects.filter(({ kind }) => !apart.has(kind ?? '')));
  await until('the definitions to be served', async () => {
    await kubectl('get', 'disruptionledgers,pub,downscalepodpickers,workloads,evictionrequests', '-A');
    return (await kubectl('get', 'evictions.lifecycle.k8s.io', '-A')) === '';
  });
  await until('the default service account', async () => (await kubectl('get', 'serviceaccount', 'default')) !== '');
  const rights = [
    ...stage.OPERATOR_RIGHTS,
    ['create', 'evictions.lifecycle.k8s.io', '-A'],
    ['create', 'pods', '--subresource=eviction', '-A'],
  ];
  operator = await stage.startReplica(plane, 'first', 'alongside', {
    kubeconfig: await stage.accountKubeconfig(plane, 'quorate', rights),
    log: { ...silentLogger, warn: (_: unknown, text?: string) => void warnings.push(text ?? '') } as Logger,
  });
  // Empty, as they are installed: the replica itself finds that the definitions are ours, and asks to be asked.
  const reach = { [URL_ANNOTATION]: `https://127.0.0.1:${operator.webhookPort}` };
  const empty = emptyConfigurations({ namespace: NAMESPACE, certManager: false });
  await apply(...empty.map((one) => ({ ...one, metadata: { ...one.metadata, annotations: reach } })));
  const asked = 'jsonpath={.webhooks[*].name}';
  await until('the replica to be asked', async () =>
    (await kubectl('get', 'validatingwebhookconfiguration', 'quorate', '-o', asked)).includes('maintenances'),
  );
  // What the cluster serves itself is its own affair.
  const names = await kubectl('get', 'validatingwebhookconfiguration', 'quorate', '-o', asked);
  expect(names.includes('requests.quorate.dev')).toBe(!isNative);
  const bad = { metadata: { name: 'bad', namespace }, spec: {} } as unknown as EvictionRequest;
  await until('the API server to ask it', () =>
    client.create(evictionRequestType, bad, { dryRun: true }).then(
      () => false,
      () => true,
    ),
  );
});

afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

async function run(name: string, more: Partial<Pod['metadata']> = {}): Promise<Pod> {
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...more },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }] },
  });
  const get = (): Promise<Pod> => client.get(podType, { namespace, name });
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True') === true;
  await until(`pod ${name} to be Ready`, async () => isReady(await get()));
  return get();
}

const requestFor = ({ metadata: { name = '', uid = '' } }: Pod, requester = 'example.com/drain'): EvictionRequest => ({
  metadata: { name: `for-${name}`, namespace },
  spec: { target: { pod: { name, uid } }, requester, intent: 'Eviction' },
});
const ask = (pod: Pod): Promise<EvictionRequest> => client.create(evictionRequestType, requestFor(pod));
const conditionOf = async (name: string, wanted: string): Promise<string> => {
  const { status } = await client.get(evictionRequestType, { namespace, name });
  const found = status?.conditions?.find(({ type }) => type === wanted);
  return `${found?.status}/${found?.reason}`;
};
const evictionOf = ({ metadata: { name = '' } }: Pod): Promise<Eviction | undefined> =>
  existing(client.get(evictionType, { namespace, name: `pod-1-${name}` }));

test(`ER-20: requests are carried out by ${isNative ? 'the kinds of the cluster' : 'definitions of ours'}`, async () => {
  const pod = await run('plain');
  await ask(pod);
  await until(
    'the pod to be evicted',
    async () => (await conditionOf('for-plain', 'TargetEvicted')) === 'True/PodDeleted',
  );
  expect(await conditionOf('for-plain', 'Failed')).toBe('False/Succeeded');
  expect(await existing(client.get(podType, { namespace, name: 'plain' }))).toBeUndefined();
  const columns = (await kubectl('get', 'evictionrequests', 'for-plain')).split('\n')[1]?.split(/\s+/).slice(0, 6);
  expect(columns).toEqual(
    isNative
      ? ['for-plain', 'plain', 'Pod', 'TargetEvicted', '(PodDeleted)', 'example.com/drain']
      : ['for-plain', 'plain', 'TargetEvicted', 'PodDeleted', 'example.com/drain', 'Eviction'],
  );
});

test('ER-14: a PodDisruptionBudget refuses until it opens', async () => {
  const pod = await run('kept', { labels: { app: 'kept' } });
  await apply({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'kept', namespace },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
  });
  await until('the budget to be counted', async () => {
    const seen = await kubectl('get', 'pdb', 'kept', '-o', 'jsonpath={.status.currentHealthy}');
    return seen === '1';
  });
  await ask(pod);
  await until('the refusal to be told', async () => {
    const eviction = await evictionOf(pod);
    return eviction?.status?.responders?.[0]?.message?.startsWith('refused after') === true;
  });
  await kubectl('delete', 'pdb', 'kept');
  await until(
    'the pod to be evicted',
    async () => (await conditionOf('for-kept', 'TargetEvicted')) === 'True/PodDeleted',
  );
});

test('ER-02, ER-03, ER-06: what Kubernetes refuses is refused, with its path', async () => {
  const pod = await run('checked');
  const bad = {
    ...requestFor(pod, 'x.kubernetes.io/a'),
    spec: { ...requestFor(pod).spec, requester: 'x.kubernetes.io/a', intent: 'x' },
  };
  await expect(client.create(evictionRequestType, bad as EvictionRequest)).rejects.toMatchObject({
    code: 422,
    message: expect.stringMatching(/spec\.requester: .*reserved.*spec\.intent: .*"Eviction", "Withdrawn"/),
  });
  const withdrawn = { ...requestFor(pod), spec: { ...requestFor(pod).spec, intent: 'Withdrawn' } };
  const made = await client.create(evictionRequestType, {
    ...withdrawn,
    status: { observedGeneration: 7 },
  } as EvictionRequest);
  expect(made.metadata.generation).toBe(1);
  expect(made.status ?? {}).toEqual({});
  const changed = { ...withdrawn.spec, requester: 'example.com/other' };
  await expect(
    client.patch(evictionRequestType, { namespace, name: 'for-checked' }, { type: 'merge', body: { spec: changed } }),
  ).rejects.toMatchObject({ code: 422, message: expect.stringMatching(/spec\.requester: .*immutable/) });
  await until('the request to be answered', async () =>
    (await conditionOf('for-checked', 'Failed')).startsWith('True/'),
  );
  const shrunk = { status: { observedGeneration: 0 } };
  await expect(
    client.patch(
      evictionRequestType,
      { namespace, name: 'for-checked' },
      { type: 'merge', body: shrunk },
      { subresource: 'status' },
    ),
  ).rejects.toMatchObject({ code: 422, message: expect.stringContaining('status.observedGeneration') });
  const own = await client.create(evictionType, {
    metadata: { name: 'own', namespace },
    spec: { target: { pod: { name: 'checked', uid: '5477c2ff-f59f-4eb9-a0be-e54232323faa' } } },
  });
  const impostor = { name: 'imperative-eviction.k8s.io/evictor', priority: 101, state: 'Active' };
  const status = {
    observedGeneration: 1,
    targetResponders: [impostor],
    responders: [{ name: impostor.name, startTime: formatTime(Date.now()) }],
  };
  await expect(client.updateStatus(evictionType, { ...own, status })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('status.targetResponders[0].priority'),
  });
});

test('5.3: a pod under notice goes when the responder of its policy has completed, and stays when the request is withdrawn', async () => {
  await client.create(disruptionPolicyType, {
    metadata: { name: 'saved', namespace },
    spec: {
      selector: { matchLabels: { app: 'saved' } },
      notice: {
        duration: '10m',
        channels: [{ type: 'EvictionRequest' }],
        acknowledgement: { from: 'Responder', responder: SAVER },
      },
    },
  });
  const pod = await run('saved', { labels: { app: 'saved' } });
  await ask(pod);
  const turnOf = (eviction: Eviction | undefined): string | undefined => eviction?.status?.targetResponders?.[0]?.state;
  await until('the responder to have its turn', async () => turnOf(await evictionOf(pod)) === 'Active');
  const noticed = 'jsonpath={.items[*].status.notice.state}';
  await until('the group to be told', async () =>
    (await kubectl('get', 'groupevictions', '-o', noticed)).includes('Running'),
  );
  await until(
    'a plain eviction to be refused',
    async () => (await stage.evict(plane, 'saved', { dryRun: true })) !== 'granted',
  );
  expect(await stage.evict(plane, 'saved')).toContain('is told that it has to go');
  const report = async (news: Partial<ResponderStatus>, name = 'pod-1-saved'): Promise<void> => {
    const current = await client.get(evictionType, { namespace, name });
    const responders = current.status?.responders?.map((one) => (one.name === SAVER ? { ...one, ...news } : one));
    await client.updateStatus(evictionType, { ...current, status: { ...current.status, responders } });
  };
  await report({ heartbeatTime: formatTime(Date.now()), message: 'saving' });
  const intend = (intent: string) =>
    client.patch(evictionRequestType, { namespace, name: 'for-saved' }, { type: 'merge', body: { spec: { intent } } });
  await intend('Withdrawn');
  await until('the responder to be told to stop', async () => turnOf(await evictionOf(pod)) === 'Canceled');
  await until(
    'the notice to be taken back',
    async () => (await kubectl('get', 'groupevictions', '-o', noticed)).trim() === 'Withdrawn',
  );
  expect((await client.get(podType, { namespace, name: 'saved' })).metadata.deletionTimestamp).toBeUndefined();
  await intend('Eviction');
  await until(
    'the responder to have another turn',
    async () => turnOf(await existing(client.get(evictionType, { namespace, name: 'pod-2-saved' }))) === 'Active',
  );
  await report({ completionTime: formatTime(Date.now()) }, 'pod-2-saved');
  await until(
    'the pod to be evicted',
    async () => (await conditionOf('for-saved', 'TargetEvicted')) === 'True/PodDeleted',
  );
});

test('roles of users are those that Kubernetes gives them where it serves the kinds itself', async () => {
  const clusterRoleType = builtinType('ClusterRole', 'rbac.authorization.k8s.io') as ResourceType<ClusterRole>;
  const rightsOf = async (name: string): Promise<string[]> => {
    const { rules = [] } = await client.get(clusterRoleType, { name });
    return rules
      .filter(({ apiGroups }) => apiGroups?.includes('lifecycle.k8s.io'))
      .flatMap(({ resources = [], verbs }) => resources.map((resource) => `${resource} ${[...verbs].sort().join()}`))
      .sort();
  };
  const read = ['evictionrequests get,list,watch', 'evictions get,list,watch'];
  await until('the roles to be aggregated', async () => (await rightsOf('admin')).length === 3);
  expect(await rightsOf('view')).toEqual(read);
  expect(await rightsOf('edit')).toEqual(['evictionrequests create,delete,deletecollection,patch,update', ...read]);
});

test('ER-20: the operator stands back, and says so, once somebody else has answered a request', async () => {
  const key = { namespace, name: 'for-plain' };
  const body = { status: { observedGeneration: 2 } };
  await client.patch(evictionRequestType, key, { type: 'merge', body }, { subresource: 'status' });
  await until('the operator to say so', () =>
    Promise.resolve(warnings.some((one) => one.startsWith('another controller'))),
  );
  const pod = await run('theirs');
  await ask(pod);
  expect((await client.get(evictionRequestType, { namespace, name: 'for-theirs' })).status ?? {}).toEqual({});
  expect(await evictionOf(pod)).toBeUndefined();
});

test('installing again finds who serves the kinds; uninstalling removes definitions of ours only', async () => {
  expect(await findRequestKinds(client)).toBe(requestKinds);
  await uninstall(client, { namespace: NAMESPACE, keepDefinitions: false, removed: () => {} });
  await until('the definitions to be gone', async () => (await kubectl('get', 'crds', '-o', 'name')).trim() === '');
  expect(await findRequestKinds(client)).toBe(requestKinds);
});
