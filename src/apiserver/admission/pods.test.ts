import { beforeEach, expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import { ManualClock } from '../../machinery/runtime/index.ts';
import { seededRandom } from '../../machinery/values/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import { type Fixture, fixture } from '../auth/auth.fixture.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey } from '../registry/resource.ts';
import { limitRanger } from './limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { priorities } from './priority.ts';
import { resourceQuota } from './resource-quota.ts';
import { runtimeClasses } from './runtime-class.ts';
import { serviceAccounts } from './service-account.ts';
import { defaultTolerationSeconds, taintNodesByCondition } from './tolerations.ts';

let world: Fixture;
let clock: ManualClock;

beforeEach(() => {
  world = fixture();
  clock = new ManualClock();
});

function attributes(plural: string, object: object, over: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  const resource = world.registry.byPlural('', plural) ?? world.registry.byPlural('scheduling.k8s.io', plural);
  if (resource === undefined) throw new Error(`no resource for ${plural}`);
  return {
    operation: 'CREATE',
    resource,
    version: 'v1',
    subresource: undefined,
    kind: { group: resource.group, version: 'v1', kind: resource.kind },
    namespace: 'team',
    name: 'p',
    object: object as ApiObject,
    oldObject: undefined,
    options: {},
    user: { username: 'jane', groups: [] },
    dryRun: false,
    warnings: [],
    ...over,
  };
}

const pod = (spec: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'team' },
  spec: { containers: [{ name: 'c' }], ...spec },
});

async function run(plugin: AdmissionPlugin, given: AdmissionAttributes): Promise<Pod> {
  if (plugin.handles(given)) {
    await plugin.admit?.(given);
    await plugin.validate?.(given);
  }
  return given.object as Pod;
}

const accounts = (required = true) => serviceAccounts({ reads: world, clock, random: seededRandom(1), required });

test('ServiceAccount names the default account and mounts a token', async () => {
  await world.put('', 'serviceaccounts', {
    metadata: { namespace: 'team', name: 'default' },
    imagePullSecrets: [{ name: 'registry' }],
  });
  const { spec } = await run(accounts(), attributes('pods', pod()));
  expect(spec?.serviceAccountName).toBe('default');
  expect(spec?.imagePullSecrets).toEqual([{ name: 'registry' }]);
  const volume = spec?.volumes?.[0];
  expect(volume?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
  expect(volume?.projected?.sources).toHaveLength(3);
  expect(spec?.containers[0]?.volumeMounts).toEqual([
    { name: volume?.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
  ]);
});

test('ServiceAccount leaves the token out when pod or account say so', async () => {
  await world.put('', 'serviceaccounts', {
    metadata: { namespace: 'team', name: 'default' },
    automountServiceAccountToken: false,
  });
  expect((await run(accounts(), attributes('pods', pod()))).spec?.volumes).toBeUndefined();
  const asked = await run(accounts(), attributes('pods', pod({ automountServiceAccountToken: true })));
  expect(asked.spec?.volumes).toHaveLength(1);
});

test('ServiceAccount refuses an account that does not exist', async () => {
  await expect(run(accounts(), attributes('pods', pod({ serviceAccountName: 'bot' })))).rejects.toMatchObject({
    code: 403,
    message: 'pods "p" is forbidden: error looking up service account team/bot: serviceaccount "bot" not found',
  });
  expect((await run(accounts(false), attributes('pods', pod()))).spec?.serviceAccountName).toBe('default');
});

test('ServiceAccount waits a moment for the account of a new namespace', async () => {
  const waiting = run(accounts(), attributes('pods', pod()));
  await world.put('', 'serviceaccounts', { metadata: { namespace: 'team', name: 'default' } });
  expect((await waiting).spec?.volumes).toHaveLength(1);
  const other = run(accounts(), attributes('pods', pod(), { namespace: 'other' }));
  const refused = expect(other).rejects.toMatchObject({ code: 403 });
  await clock.advance(2000);
  await refused;
});

test('Priority resolves classes and refuses unknown ones', async () => {
  await world.put('scheduling.k8s.io', 'priorityclasses', { metadata: { name: 'high' }, value: 1000 });
  const plugin = priorities(world);
  expect((await run(plugin, attributes('pods', pod()))).spec?.priority).toBe(0);
  expect((await run(plugin, attributes('pods', pod({ priorityClassName: 'high' })))).spec).toMatchObject({
    priority: 1000,
    preemptionPolicy: 'PreemptLowerPriority',
  });
  await expect(run(plugin, attributes('pods', pod({ priorityClassName: 'none' })))).rejects.toMatchObject({
    code: 403,
    message: 'pods "p" is forbidden: no PriorityClass with name none was found',
  });
  await expect(run(plugin, attributes('pods', pod({ priorityClassName: 'high', priority: 5 })))).rejects.toMatchObject({
    code: 403,
  });
});

test('Priority uses the default class and allows only one', async () => {
  const plugin = priorities(world);
  await world.put('scheduling.k8s.io', 'priorityclasses', {
    metadata: { name: 'usual' },
    value: 7,
    globalDefault: true,
  });
  expect((await run(plugin, attributes('pods', pod()))).spec).toMatchObject({
    priorityClassName: 'usual',
    priority: 7,
  });
  const second = { metadata: { name: 'other' }, value: 8, globalDefault: true };
  await expect(run(plugin, attributes('priorityclasses', second))).rejects.toMatchObject({ code: 403 });
});

test('DefaultTolerationSeconds adds what is not covered', async () => {
  const { spec } = await run(defaultTolerationSeconds, attributes('pods', pod()));
  expect(spec?.tolerations?.map(({ key, tolerationSeconds }) => [key, tolerationSeconds])).toEqual([
    ['node.kubernetes.io/not-ready', 300],
    ['node.kubernetes.io/unreachable', 300],
  ]);
  const all = pod({ tolerations: [{ operator: 'Exists' }] });
  expect((await run(defaultTolerationSeconds, attributes('pods', all))).spec?.tolerations).toHaveLength(1);
});

test('TaintNodesByCondition starts a node as not ready', async () => {
  const node = { metadata: { name: 'n' } };
  await run(taintNodesByCondition, attributes('nodes', node));
  expect(node).toMatchObject({ spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } });
});

test('RuntimeClass fills in overhead and refuses an unknown class', async () => {
  await world.put('node.k8s.io', 'runtimeclasses', {
    metadata: { name: 'vm' },
    handler: 'vm',
    overhead: { podFixed: { cpu: '250m' } },
    scheduling: { nodeSelector: { vm: 'yes' } },
  });
  const { spec } = await run(runtimeClasses(world), attributes('pods', pod({ runtimeClassName: 'vm' })));
  expect(spec).toMatchObject({ overhead: { cpu: '250m' }, nodeSelector: { vm: 'yes' } });
  const unknown = attributes('pods', pod({ runtimeClassName: 'none' }));
  await expect(run(runtimeClasses(world), unknown)).rejects.toMatchObject({
    message: 'pods "p" is forbidden: pod rejected: RuntimeClass "none" not found',
  });
});

test('NamespaceLifecycle keeps the namespaces the cluster lives in', async () => {
  const doomed = (name: string) => attributes('namespaces', {}, { operation: 'DELETE', name, object: undefined });
  await expect(run(namespaceLifecycle, doomed('kube-system'))).rejects.toMatchObject({
    message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted',
  });
  await run(namespaceLifecycle, doomed('team'));
});

test('LimitRanger fills defaults, notes it, and holds bounds', async () => {
  await world.put('', 'limitranges', {
    metadata: { namespace: 'team', name: 'l' },
    spec: {
      limits: [
        {
          type: 'Container',
          default: { cpu: '500m' },
          defaultRequest: { cpu: '100m' },
          max: { cpu: '1' },
          min: { cpu: '50m' },
        },
      ],
    },
  });
  const filled = await run(limitRanger(world), attributes('pods', pod()));
  expect(filled.spec?.containers[0]?.resources).toEqual({ limits: { cpu: '500m' }, requests: { cpu: '100m' } });
  expect(filled.metadata.annotations).toEqual({
    'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
  });
  const big = pod({ containers: [{ name: 'c', resources: { requests: { cpu: '10m' }, limits: { cpu: '2' } } }] });
  await expect(run(limitRanger(world), attributes('pods', big))).rejects.toMatchObject({
    code: 403,
    message:
      'pods "p" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, maximum cpu usage per Container is 1, but limit is 2]',
  });
});

test('ResourceQuota charges in the transaction and refuses the one too many', async () => {
  await world.put('', 'resourcequotas', {
    metadata: { namespace: 'team', name: 'q' },
    spec: { hard: { pods: '1' } },
    status: { hard: { pods: '1' }, used: { pods: '0' } },
  });
  const plugin = resourceQuota(world, clock);
  const create = () =>
    world.store.transact((transaction) => plugin.inTransaction?.(attributes('pods', pod()), transaction));
  await Promise.all([create(), expect(create()).rejects.toMatchObject({ code: 403 })]);
  const resource = world.registry.byPlural('', 'resourcequotas');
  const entry = resource && world.store.get(objectKey(resource, 'team', 'q'));
  expect(entry && world.objects.read(entry)).toMatchObject({ status: { used: { pods: '1' } } });
});
