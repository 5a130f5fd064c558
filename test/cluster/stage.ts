/** What suites on a real cluster share: kubectl, waiting, and a replica of the operator in this process. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { type Operator, type OperatorOptions, startOperator } from '../../src/app/index.ts';
import { builtinType } from '../../src/api/registry.ts';
import { type KubeObject, type ResourceType, splitApiVersion } from '../../src/api/resource.ts';
import { OWN_SCHEDULING_GROUP, POD_GROUP_TYPES, WORKLOAD_TYPES } from '../../src/api/scheduling/index.ts';
import { createClient, createHttpTransport, loadKubeconfig, silentLogger } from '../../src/machinery/runtime/index.ts';
import {
  definitions,
  type KindsFrom,
  type OperatorMode,
  webhookConfigurations,
  type WebhookOptions,
} from '../../src/webhook/index.ts';
export { until } from '../scenarios/stories/host.ts';
import { until } from '../scenarios/stories/host.ts';
import { chosenMinor, groupServing } from '../kubernetes/binaries.ts';
import {
  type RealControlPlane,
  type RealControlPlaneOptions,
  startRealControlPlane,
} from '../kubernetes/control-plane.ts';

export const NAMESPACE = 'quorate-system';

const MODES: readonly OperatorMode[] = ['adopt', 'alongside', 'replace'];

/** Reads `--mode` of a campaign. */
export function parseMode(text: string): OperatorMode {
  const mode = MODES.find((one) => one === text);
  if (mode === undefined) throw new Error(`--mode is one of ${MODES.join(', ')}`);
  return mode;
}
const minor = chosenMinor();
/** Undefined where Kubernetes knows no groups, and definitions of ours serve them. */
const native = minor === '1.35' ? undefined : groupServing(minor);
export const groupKinds: KindsFrom = native === undefined ? 'crd' : 'native';
/** The version in which Workload and PodGroup are served on the chosen minor. */
export const groupVersion = native?.version ?? 'v1beta1';

/** How a control plane of the chosen minor is told to serve groups, with more feature gates. */
export const servingGroups = (gates: string): Pick<RealControlPlaneOptions, 'featureGates' | 'runtimeConfig'> =>
  native === undefined
    ? {}
    : { featureGates: `${native.featureGates},${gates}`, runtimeConfig: `scheduling.k8s.io/${native.version}=true` };

/** A control plane of the chosen minor that serves Workload and PodGroup itself where that minor can. */
export function startPlane(more: RealControlPlaneOptions = {}): Promise<RealControlPlane> {
  const serving =
    native === undefined
      ? {}
      : { featureGates: native.featureGates, runtimeConfig: `scheduling.k8s.io/${native.version}=true` };
  return startRealControlPlane({ minor, ...serving, ...more });
}

/** The metrics of an API server have some megabytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Never blocks: the webhook that kubectl's requests end up at answers from this very process. */
export async function kubectl(plane: RealControlPlane, ...args: string[]): Promise<string> {
  const program = join(plane.binaries, 'kubectl');
  // What kubectl remembers of another server that once had this port must not count here.
  const own = ['--kubeconfig', plane.kubeconfig, '--cache-dir', join(plane.folder, 'kubectl-cache')];
  return (await promisify(execFile)(program, [...own, ...args], { maxBuffer: MAX_OUTPUT_BYTES })).stdout;
}

let applied = 0;

export async function apply(plane: RealControlPlane, ...objects: object[]): Promise<void> {
  const path = join(plane.folder, `apply-${(applied += 1)}.yaml`);
  writeFileSync(path, objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join('---\n'));
  await kubectl(plane, 'apply', '-f', path);
}

const LANES = 16;

function typeOf({ apiVersion = '', kind = '' }: KubeObject): ResourceType {
  const { group, version } = splitApiVersion(apiVersion);
  const isOwn = group === OWN_SCHEDULING_GROUP;
  const own = [...WORKLOAD_TYPES, ...POD_GROUP_TYPES].find(
    (type) => isOwn && type.kind === kind && type.group === group,
  );
  return own ?? builtinType(kind, group, version);
}

/** Creates very many objects in namespaces, by default in `default`: the lists at once, the objects of each in their order. */
export async function createAll(plane: RealControlPlane, lists: readonly (readonly object[])[]): Promise<void> {
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'test' });
  const rest = lists.values();
  const lane = async (): Promise<void> => {
    for (const list of rest) {
      for (const object of list as readonly KubeObject[]) {
        const namespaced = { ...object, metadata: { namespace: 'default', ...object.metadata } };
        await client.create(typeOf(object), namespaced);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  transport.close();
}

/** `granted`, or what the server said; a dry run asks and leaves the pod where it is. */
export async function evict(plane: RealControlPlane, name: string, { dryRun = false } = {}): Promise<string> {
  const path = join(plane.folder, `evict-${name}.json`);
  const metadata = { name, namespace: 'default' };
  writeFileSync(path, JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata }));
  const eviction = `/api/v1/namespaces/default/pods/${name}/eviction${dryRun ? '?dryRun=All' : ''}`;
  const call = kubectl(plane, 'create', '--raw', eviction, '-f', path);
  return call.then(
    () => 'granted',
    (error: { stderr?: string }) => error.stderr ?? '',
  );
}

/**
 * A kubeconfig with nothing but the rights of a service account, as the pods of an installation have. The API server
 * takes new rights up a moment after they are written, so one of them is waited for.
 */
/** One of each role that the operator has. */
export const OPERATOR_RIGHTS: readonly (readonly string[])[] = [
  ['list', 'pods', '-A'],
  ['list', 'podunavailablebudgets.policy.kruise.io', '-A'],
  ['list', 'groupevictions.policy.quorate.dev', '-A'],
  ['list', 'downscalepodpickers.policy.quorate.dev', '-A'],
  ['list', 'maintenances.policy.quorate.dev'],
  ['update', 'jobs.batch', '--subresource=finalizers', '-A'],
];

export async function accountKubeconfig(
  plane: RealControlPlane,
  account: string,
  rights: readonly (readonly string[])[] = [['list', 'pods', '-A']],
  namespace = NAMESPACE,
): Promise<string> {
  const user = `system:serviceaccount:${namespace}:${account}`;
  // Every role reaches the authorizer by itself.
  for (const right of rights) {
    await until(`${user} to have the right to ${right.join(' ')}`, async () =>
      (await kubectl(plane, 'auth', 'can-i', ...right, `--as=${user}`)).startsWith('yes'),
    );
  }
  const token = (await kubectl(plane, 'create', 'token', account, '-n', namespace)).trim();
  const config = JSON.parse(readFileSync(plane.kubeconfig, 'utf8')) as { users: { user: { token: string } }[] };
  for (const { user } of config.users) user.token = token;
  const path = join(plane.folder, `kubeconfig-${namespace}-${account}`);
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Installs the definitions and waits until they, and pods, can be used. */
export async function prepareCluster(plane: RealControlPlane): Promise<void> {
  await apply(plane, ...definitions(groupKinds), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  });
  await until('the definitions to be served', async () => {
    await kubectl(plane, 'get', 'disruptionledgers,podunavailablebudgets,downscalepodpickers', '-A');
    return true;
  });
  await until(
    'the default service account',
    async () => (await kubectl(plane, 'get', 'serviceaccount', 'default')) !== '',
  );
}

export async function startReplica(
  plane: RealControlPlane,
  identity: string,
  mode: OperatorMode,
  more: Partial<OperatorOptions> = {},
): Promise<Operator> {
  const operator = await startOperator({
    kubeconfig: plane.kubeconfig,
    namespace: NAMESPACE,
    mode,
    bind: '127.0.0.1',
    webhookPort: 0,
    metricsPort: 0,
    hosts: ['127.0.0.1'],
    identity,
    log: silentLogger,
    lost: () => {},
    ...more,
  });
  await operator.ready;
  return operator;
}

/** Makes the API server ask the replica, and waits until it does. */
export async function registerWebhooks(
  plane: RealControlPlane,
  { authority, webhookPort }: Pick<Operator, 'authority' | 'webhookPort'>,
  groups: KindsFrom = groupKinds,
  mode: OperatorMode = 'alongside',
  more: Partial<WebhookOptions> = {},
): Promise<void> {
  await writeWebhooks(plane, { authority, webhookPort }, groups, mode, more);
  const senseless = join(plane.folder, 'senseless.json');
  writeFileSync(senseless, JSON.stringify(SENSELESS));
  await until('the API server to ask the replica', async () => {
    const asked = kubectl(plane, 'create', '--dry-run=server', '-f', senseless);
    const answer = await asked.catch((error: { stderr?: string }) => error.stderr ?? '');
    return answer.includes('must not be greater than 100%');
  });
}

/** Only a replica knows what is wrong with it. */
const SENSELESS = {
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name: 'senseless', namespace: 'default' },
  spec: { selector: { matchLabels: { app: 'x' } }, maxUnavailable: '120%' },
};

export async function writeWebhooks(
  plane: RealControlPlane,
  { authority, webhookPort }: Pick<Operator, 'authority' | 'webhookPort'>,
  groups: KindsFrom = groupKinds,
  mode: OperatorMode = 'alongside',
  more: Partial<WebhookOptions> = {},
): Promise<void> {
  // The replicas of these suites ask as the administrator.
  const options = { namespace: NAMESPACE, failOpen: false, certManager: false, groups, mode, user: 'admin', ...more };
  await apply(
    plane,
    ...webhookConfigurations(options, { url: `https://127.0.0.1:${webhookPort}`, caBundle: authority }),
  );
}

/** Beside Kubernetes' own controller an eviction also needs its count, which comes a moment after the pods. */
export async function untilBuiltinAllows(plane: RealControlPlane, budget: string, numbers: string): Promise<void> {
  const path = 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}';
  await until(`the built-in count of ${budget} to be ${numbers}`, async () => {
    return (await kubectl(plane, 'get', 'pdb', budget, '-o', path)) === numbers;
  });
}
