/**
 * Least privilege, by what the API server writes down: with a feature left out the operator has none of the rights that
 * only it needs and asks for nothing that it is refused; with all on, what it has it uses.
 */
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPTIONAL_FEATURES, OWN_KINDS } from '../../src/api/crds/index.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { FeatureGates, silentLogger, systemClock } from '../../src/machinery/runtime/index.ts';
import { evictGroup } from '../../src/tasks/index.ts';
import {
  defaultInstall,
  emptyConfigurations,
  FEATURE_GATES,
  type InstallOptions,
  URL_ANNOTATION,
} from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import { budget, gangs, pod } from './gangs.ts';
import { accessOf, auditing, givenRights, type Right, usedRights } from './rights.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
const audit = auditing();
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);

beforeAll(async () => {
  plane = await stage.startPlane({ flags: { 'kube-apiserver': audit.flags } });
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  await stage.apply(plane, ...gangs('train', 2, 2), budget('train', { maxUnavailable: 1 }), ...asking('asks'));
});
afterAll(async () => {
  nodes?.stop();
  await plane?.stop();
});

/** One object for each feature, which must leave it alone where it is off. */
function asking(name: string): object[] {
  const metadata = { name, namespace: 'default' };
  const labels = { app: name };
  const containers = [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }];
  const terminationGracePeriodSeconds = 1;
  return [
    {
      apiVersion: 'policy.kruise.io/v1beta1',
      kind: 'PodUnavailableBudget',
      metadata,
      spec: { selector: { matchLabels: labels }, maxUnavailable: 1 },
    },
    {
      apiVersion: 'policy.quorate.dev/v1alpha1',
      kind: 'DownscalePodPicker',
      metadata,
      spec: { targetRef: { kind: 'Deployment', name }, http: { host: '127.0.0.1', port: 1 } },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { ...metadata, annotations: { 'groups.quorate.dev/create': 'true' } },
      spec: {
        parallelism: 1,
        template: {
          metadata: { labels: { job: name } },
          spec: { restartPolicy: 'Never', terminationGracePeriodSeconds, containers },
        },
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds, containers } },
      },
    },
  ];
}

/** An operator of such an installation counts a budget over gangs, fills its configurations and lets a pod go. */
async function live(options: InstallOptions, meanwhile?: (operator: Operator) => Promise<void>): Promise<void> {
  const { mode, namespace } = options;
  await stage.apply(plane, ...accessOf(options));
  const rights = options.maintenances ? stage.OPERATOR_RIGHTS.slice(0, 1) : [['list', 'pods', '-A']];
  const kubeconfig = await stage.accountKubeconfig(plane, 'quorate', rights, namespace);
  const off = OPTIONAL_FEATURES.filter((feature) => !options[feature]);
  const gates = new FeatureGates(Object.fromEntries(off.map((feature) => [FEATURE_GATES[feature], false])));
  const operator = await stage.startReplica(plane, namespace, mode, { kubeconfig, namespace, gates });
  try {
    const at = { [URL_ANNOTATION]: `https://127.0.0.1:${operator.webhookPort}` };
    const empty = emptyConfigurations({ namespace, certManager: false }).map((one) => ({
      ...one,
      metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...at } },
    }));
    await stage.apply(plane, ...empty);
    const path = ['mutatingwebhookconfiguration', 'quorate-evictions', '-o', 'jsonpath={.webhooks[*].name}'];
    await stage.until('the replica to be asked about evictions', async () => (await kubectl('get', ...path)) !== '');
    const isGranted = async (): Promise<boolean> =>
      (await stage.evict(plane, 'train-g0-0', { dryRun: true })) === 'granted';
    await stage.until('a pod to be let go', isGranted);
    await meanwhile?.(operator);
  } finally {
    await operator.stop();
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    await kubectl('delete', kinds, '-l', 'app.kubernetes.io/name=quorate');
  }
}

const without = (left: readonly string[]): Partial<InstallOptions> =>
  Object.fromEntries(OPTIONAL_FEATURES.map((feature) => [feature, !left.includes(feature)]));

/** Uses every feature once. */
async function useAll({ authority, metricsPort }: Operator): Promise<void> {
  const client = createNetworkClient(plane, 'quorate-test');
  const exists = (...args: string[]): Promise<boolean> => kubectl('get', ...args).then(Boolean, () => false);
  await stage.apply(plane, ...asking('used'), ...gangs('gone', 1, 1), budget('gone', { maxUnavailable: 1 }));
  await stage.until('a ledger', () => exists('disruptionledger', 'gone'));
  await kubectl('delete', 'pdb', 'gone');
  await stage.until('the ledger to be gone', async () => !(await exists('disruptionledger', 'gone')));

  await stage.apply(plane, pod('whole-0', 'whole'), budget('whole', { minAvailable: 0 }));
  await stage.untilBuiltinAllows(plane, 'whole', '1/1');
  const spec = { groupLabel: { key: 'app', value: 'whole' } };
  const evicting = { namespace: 'default', spec, dryRun: false, timeoutMs: 60_000 };
  expect(await evictGroup({ client, clock: systemClock }, evicting)).toMatchObject({ outcome: 'Evicted' });

  const linked = ['pods', '-l', 'job=used', '-o', 'jsonpath={.items[*].spec.schedulingGroup.podGroupName}'];
  await stage.until('the pod of the Job to be in a group', async () => (await kubectl('get', ...linked)) !== '');
  await kubectl('wait', '--for=condition=Available', 'deployment/used', '--timeout=60s');
  await stage.apply(plane, {
    apiVersion: 'policy.quorate.dev/v1alpha1',
    kind: 'Maintenance',
    metadata: { name: 'used' },
    spec: { nodes: { names: ['node-1'] }, uncordon: 'WhenFinished' },
  });
  const phase = ['maintenance', 'used', '-o', 'jsonpath={.status.phase}'];
  await stage.until('the Maintenance to be done', async () => (await kubectl('get', ...phase)) === 'Done', 120_000);

  const token = (await kubectl('create', 'token', 'default')).trim();
  const headers = { authorization: `Bearer ${token}` };
  const status = await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: metricsPort, path: '/metrics', headers, ca: authority, agent: false };
    request(options, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(403);
}

const owned = (...kinds: string[]): Right[] => kinds.map((kind) => `change ${kind}/finalizers`);
const anyOf = (verbs: readonly string[], group: string, kinds: readonly string[]): Right[] =>
  verbs.flatMap((verb) => kinds.map((kind) => `${verb} ${group}/${kind}`));

/** Writes that are given, and not used in these few seconds: why. */
const SELDOM: Readonly<Record<string, readonly Right[]>> = {
  'some clusters check it when an owner reference is set': owned(
    'batch/jobs',
    'jobset.x-k8s.io/jobsets',
    'leaderworkerset.x-k8s.io/leaderworkersets',
    'apps.kruise.io/leaderworkersets',
  ),
  'kinds that are not served here': [
    ...anyOf(['create', 'change', 'delete'], 'scheduling.k8s.io', ['compositepodgroups']),
    ...anyOf(['create', 'change', 'delete'], 'scheduling.quorate.dev', [
      'workloads',
      'podgroups',
      'compositepodgroups',
    ]),
    ...anyOf(['create', 'change'], 'lifecycle.k8s.io', ['evictions', 'evictionrequests']),
    ...anyOf(['change'], 'lifecycle.k8s.io', ['evictions/status', 'evictionrequests/status']),
  ],
  'a group that another size or nobody asks for any more': anyOf(['change', 'delete'], 'scheduling.k8s.io', [
    'workloads',
    'podgroups',
  ]),
  'a certificate that is renewed': ['change secrets'],
  'an event that repeats': ['change events'],
};

test('HL-07: with all features on the operator writes what it may, and asks for nothing else', async () => {
  const options: InstallOptions = { ...defaultInstall, namespace: 'rights-all' };
  await live(options, useAll);
  const used = usedRights(audit.file, options.namespace);
  expect(used.forbidden).toEqual([]);
  const given = givenRights(options);
  const seldom = Object.values(SELDOM).flat();
  // Kinds of our own are nobody else's; what may be read depends on what a cluster serves.
  const isHarmless = (right: Right): boolean =>
    right.startsWith('read ') || OWN_KINDS.some(({ type }) => right.includes(` ${type.group}/${type.plural}`));
  const writes = [...given].filter((right) => !isHarmless(right));
  expect(writes.filter((right) => !used.rights.has(right) && !seldom.includes(right))).toEqual([]);
  expect(seldom.filter((right) => !given.has(right))).toEqual([]);
});

const SETS: readonly (readonly [string, Partial<InstallOptions>])[] = [
  ['all', { mode: 'alongside', ...without(OPTIONAL_FEATURES) }],
  ...OPTIONAL_FEATURES.map((feature) => [feature, without([feature])] as const),
];

test.each(SETS)('HL-07: with %s left out the operator asks for nothing that it may not', async (name, chosen) => {
  const options: InstallOptions = { ...defaultInstall, namespace: `rights-no-${name.toLowerCase()}`, ...chosen };
  await live(options);
  const { forbidden, rights } = usedRights(audit.file, options.namespace);
  expect(forbidden).toEqual([]);
  expect(rights).toContain('read pods');
  expect(rights).toContain('change admissionregistration.k8s.io/mutatingwebhookconfigurations');
});

/** Writes of pods and nodes, by the features that need them. */
const COSTLY: readonly Right[] = [
  'change pods',
  'delete pods',
  'change pods/status',
  'create pods/eviction',
  'change nodes',
];

test.each([
  [{ ...without(OPTIONAL_FEATURES) }, []],
  [{ ...without(OPTIONAL_FEATURES), podUnavailableBudgets: true }, ['change pods']],
  [{ ...without(OPTIONAL_FEATURES), pickers: true }, ['change pods']],
  [{ ...without(OPTIONAL_FEATURES), groupCreation: true }, []],
  // Groups that are told find that on their pods; for one member a GroupEviction is made, which takes the right to evict.
  [
    { ...without(OPTIONAL_FEATURES), groupEvictions: true },
    ['change pods', 'delete pods', 'change pods/status', 'create pods/eviction'],
  ],
  [{ ...without(OPTIONAL_FEATURES), evictionRequests: true }, ['create pods/eviction']],
  [{ ...without(OPTIONAL_FEATURES), maintenances: true }, ['create pods/eviction', 'change nodes']],
])('HL-07: an installation with %j may write pods and nodes only as that needs', (chosen, wanted) => {
  const given = givenRights({ ...defaultInstall, ...chosen });
  expect(COSTLY.filter((right) => given.has(right))).toEqual(wanted);
});

test.each(OPTIONAL_FEATURES)('HL-07: an installation without %s names none of the kinds that it serves', (feature) => {
  const given = [...givenRights({ ...defaultInstall, [feature]: false })];
  const kinds = OWN_KINDS.filter((kind) => kind.feature === feature).map(({ type }) => `${type.group}/${type.plural}`);
  expect(given.filter((right) => kinds.some((kind) => right.includes(` ${kind}`)))).toEqual([]);
});
