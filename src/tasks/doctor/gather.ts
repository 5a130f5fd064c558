import { connect } from 'node:tls';
import { OPTIONAL_FEATURES } from '../../api/crds/index.ts';
import type { ValidatingWebhookConfiguration } from '../../api/generated/admissionregistration-v1.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Lease } from '../../api/generated/coordination-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { builtinType } from '../../api/registry.ts';
import { deploymentType, leaseType, secretType, serviceAccountType } from '../../api/resource-types.ts';
import { type KubeObject, type ResourceType, resourcePath } from '../../api/resource.ts';
import { ApiError, type Client, isNotFound, readBody, type Transport } from '../../machinery/runtime/index.ts';
import { parseTime } from '../../machinery/values/index.ts';
import {
  CERTIFICATE_SECRET,
  defaultInstall,
  EVICTIONS_CONFIGURATION,
  LINK_CONFIGURATION,
  type OperatorMode,
  NAME,
  STATUS_CONFIGURATION,
  WEBHOOK_CONFIGURATION,
  FEATURE_GATES,
  type InstallOptions,
} from '../../webhook/index.ts';
import { MODE_ANNOTATION } from '../../app/operator/lease.ts';
import { endpointProblem } from '../../app/operator/reachable.ts';
import { gatherLacking } from './access.ts';
import { gatherBudgets } from './gather-budgets.ts';
import { look } from './look.ts';
import type { ClusterFacts, Looked, Presented, WebhookTrial } from './facts.ts';

export interface DoctorOptions {
  readonly client: Client;
  readonly transport: Transport;
  /** Where Quorate is installed. */
  readonly namespace: string;
  readonly now: () => number;
}

const definitionType = builtinType('CustomResourceDefinition', 'apiextensions.k8s.io');
const webhookTypes = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map(
  (kind) => builtinType(kind, 'admissionregistration.k8s.io') as ResourceType<ValidatingWebhookConfiguration>,
);

/** Reads everything the checks look at. Writes nothing: the one request that creates is a dry run. */
export async function gatherFacts({ client, namespace, now, transport }: DoctorOptions): Promise<ClusterFacts> {
  const { gitVersion: version } = await client.request<{ gitVersion: string }>('GET', '/version');
  const embedded = version.includes('quorate');
  const webhooks = await look(async () => {
    const lists = await Promise.all(webhookTypes.map((type) => client.list(type)));
    return lists.flatMap(({ items }) => items);
  });
  const leases = await look(async () => {
    const { items } = await client.list(leaseType, { fieldSelector: `metadata.name=${NAME}` });
    return items;
  });
  const lease = await look(() => client.get(leaseType, { namespace, name: NAME }));
  const deployment = await look(() => client.get(deploymentType, { namespace, name: NAME }));
  const mode = modeOf(lease.value, deployment.value);
  const schedulingKinds = await readSchedulingKinds(client);
  const nowMs = now();
  return {
    namespace,
    version,
    embedded,
    nowMs,
    webhooks,
    serverTime: await readServerTime(transport, now),
    gates: await look(() => readGates(client)),
    schedulingKinds,
    definitions: await look(async () => {
      const { items } = await client.list(definitionType as ResourceType<CustomResourceDefinition>);
      return items;
    }),
    trial: embedded ? { outcome: 'Unknown', message: 'nothing to reach' } : await tryWebhook(client),
    presented: await Promise.all(webhookUrls(webhooks).map(presentedBy)),
    secret: await look(() => client.get(secretType, { namespace, name: CERTIFICATE_SECRET })),
    lease,
    mode,
    otherLeases: (leases.value ?? []).filter((one) => one.metadata.namespace !== namespace && isHeld(one, nowMs)),
    deployment,
    installedMode: modeOf(undefined, deployment.value),
    ...(await gatherBudgets(client, schedulingKinds)),
    endpoint: embedded ? {} : await look(() => endpointProblem(client, namespace)),
    lacking: embedded ? {} : await readLacking(client, namespace, { mode, deployment: deployment.value }),
  };
}

/** A lease that was renewed within twice its duration; older ones are what an earlier installation left behind. */
function isHeld({ spec }: Lease, nowMs: number): boolean {
  const durationMs = (spec?.leaseDurationSeconds ?? 15) * 1000;
  return Boolean(spec?.holderIdentity) && nowMs - (parseTime(spec?.renewTime) ?? 0) < 2 * durationMs;
}

function modeOf(lease: Lease | undefined, deployment: Deployment | undefined): OperatorMode | undefined {
  const args = deployment?.spec?.template.spec?.containers[0]?.args ?? [];
  const said =
    lease?.metadata.annotations?.[MODE_ANNOTATION] ?? args.find((one) => one.startsWith('--mode='))?.slice(7);
  return said === 'adopt' || said === 'alongside' || said === 'replace' ? said : undefined;
}

async function readServerTime(
  transport: Transport,
  now: () => number,
): Promise<{ atMs: number; localMs: number; tookMs: number }> {
  const started = now();
  const { body, headers } = await transport({ method: 'GET', path: '/version' });
  await readBody(body);
  const localMs = now();
  return { atMs: Date.parse(headers['date'] ?? ''), localMs, tookMs: localMs - started };
}

/** The API server tells its feature gates among its metrics. */
async function readGates(client: Client): Promise<Map<string, boolean>> {
  const text = await client.request<string>('GET', '/metrics');
  const gates = new Map<string, boolean>();
  for (const line of String(text).split('\n')) {
    const found = /^kubernetes_feature_enabled\{name="([^"]+)"[^}]*\} ([01])/.exec(line);
    if (found?.[1] !== undefined) gates.set(found[1], found[2] === '1');
  }
  return gates;
}

async function readSchedulingKinds(client: Client): Promise<Map<string, string[]>> {
  const kinds = new Map<string, string[]>();
  try {
    const group = await client.request<{ versions?: { version: string }[] }>('GET', '/apis/scheduling.k8s.io');
    for (const { version } of group.versions ?? []) {
      const { resources = [] } = await client.request<{ resources?: { kind: string; name: string }[] }>(
        'GET',
        `/apis/scheduling.k8s.io/${version}`,
      );
      for (const { kind, name } of resources) {
        if (!name.includes('/')) kinds.set(kind, [...(kinds.get(kind) ?? []), version]);
      }
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return kinds;
}

/** A budget that every schema lets through and our rules refuse. */
async function tryWebhook(client: Client): Promise<WebhookTrial> {
  const budget: KubeObject & { spec: object } = {
    apiVersion: 'policy.kruise.io/v1beta1',
    kind: 'PodUnavailableBudget',
    metadata: { name: 'quorate-doctor', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'quorate-doctor' } }, maxUnavailable: '120%' },
  };
  try {
    const path = resourcePath(POD_UNAVAILABLE_BUDGETS, { namespace: 'default' });
    await client.request('POST', `${path}?dryRun=All`, budget);
    return { outcome: 'Passed' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.message.includes('failed calling webhook')) return { outcome: 'Unreachable', message: error.message };
    if (/maxUnavailable.*100%/s.test(error.message)) return { outcome: 'Refused' };
    return { outcome: 'Unknown', message: error.message };
  }
}

const OUR_CONFIGURATIONS = new Set([
  EVICTIONS_CONFIGURATION,
  STATUS_CONFIGURATION,
  LINK_CONFIGURATION,
  WEBHOOK_CONFIGURATION,
]);

function webhookUrls({ value = [] }: Looked<readonly ValidatingWebhookConfiguration[]>): string[] {
  const ours = value.filter(({ metadata: { name } }) => OUR_CONFIGURATIONS.has(name ?? ''));
  const urls = ours
    .flatMap(({ webhooks = [] }) => webhooks)
    .flatMap(({ clientConfig }) => (clientConfig?.url === undefined ? [] : [new URL(clientConfig.url).origin]));
  return [...new Set(urls)];
}

const PRESENT_TIMEOUT_MS = 5000;

/** The certificate a webhook shows; whether it can be trusted is for the checks to say. */
function presentedBy(url: string): Promise<Presented> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(
      { host: hostname, port: Number(port || 443), rejectUnauthorized: false, timeout: PRESENT_TIMEOUT_MS },
      () => {
        const { raw } = socket.getPeerCertificate();
        const lines = raw.toString('base64').match(/.{1,64}/g) ?? [];
        socket.end();
        resolve({ url, certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n` });
      },
    );
    socket.once('timeout', () => socket.destroy(new Error('no answer')));
    socket.once('error', (error) => resolve({ url, problem: error.message }));
  });
}

/** What an installation has left out needs no rights. */
function featuresOf(deployment: Deployment | undefined): Partial<InstallOptions> {
  const args = deployment?.spec?.template.spec?.containers[0]?.args ?? [];
  const isOff = (gate: string): boolean => args.includes(`--feature-gates=${gate}=false`);
  return Object.fromEntries(OPTIONAL_FEATURES.map((feature) => [feature, !isOff(FEATURE_GATES[feature])]));
}

async function readLacking(
  client: Client,
  namespace: string,
  { deployment, mode = 'adopt' }: { mode: OperatorMode | undefined; deployment: Deployment | undefined },
): Promise<Looked<readonly string[]>> {
  const account = await look(() => client.get(serviceAccountType, { namespace, name: NAME }));
  if (account.value === undefined) return account.hidden === undefined ? {} : { hidden: account.hidden };
  return look(() => gatherLacking(client, { ...defaultInstall, ...featuresOf(deployment), namespace, mode }));
}
