/**
 * HL-08: what the webhook on the status of budgets costs in mode adopt. The built-in disruption controller is played:
 * it proposes its numbers for one budget after the other, as it does for all of them whenever it starts. The API server
 * times every webhook itself; proposals for budgets of namespaces that we leave alone go through a webhook that does nothing, in turn.
 */
import type { MutatingWebhookConfiguration } from '../../src/api/generated/admissionregistration-v1.ts';
import type { Secret } from '../../src/api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import { podDisruptionBudgetType, secretType } from '../../src/api/resource-types.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';
import { CERTIFICATE_SECRET, webhookConfigurations } from '../../src/webhook/index.ts';
import { report } from '../report.ts';
import { BARE_LABEL, startBareWebhook } from './bare-webhook.ts';
import type { Measured } from './latency.ts';
import { busyWithOthers, load, processorMs, QUIET } from './machine.ts';
import { PLACES, setApart } from './places.ts';
import { budgetsInNamespace, namespaceOf, NAMESPACES } from './seed.ts';
import { until } from './wait.ts';
import { readWaits, told, waitsSince } from './webhook-metric.ts';

const PROPOSALS = 1000;
const TARGET_MS = 2;
const WEBHOOK = 'status.quorate.dev';
const BARE = 'bare-status.quorate.dev';
const ADMISSION = 'admissionregistration.k8s.io';

/** `builtin` is somebody else than the operator to the API server. Answers with what removes the configurations. */
export async function measureStatusReviews(
  { builtin, client }: { readonly builtin: Client; readonly client: Client },
  measured: Measured,
): Promise<() => Promise<void>> {
  const { pid, pods, systemNamespace: namespace } = measured;
  const { data }: Secret = await client.get(secretType, { namespace, name: CERTIFICATE_SECRET });
  const text = (name: string): string => Buffer.from(data?.[name] ?? '', 'base64').toString('utf8');
  const ca = text('ca.crt');
  const bare = await startBareWebhook({ cert: text('tls.crt'), key: text('tls.key') });
  await setApart(client, ['bare']);
  const made = configurations(measured, { ca, barePort: bare.port });
  for (const one of made) await client.create(configurationType(one), one);

  const started = performance.now();
  const ours = (NAMESPACES - PLACES.bare.length) * budgetsInNamespace(pods);
  await until(`${ours} budgets to have our numbers`, async () => (await adopted(client)).length === ours);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  report(`HL-08 operator, mode adopt: ${ours} budgets have our numbers`, `after ${seconds} s`);

  // Numbers are there before the last condition is.
  let last = '';
  await until('nothing to be written any more', async () => {
    const seen = last;
    last = JSON.stringify([...(await versions(client))]);
    return last === seen;
  });
  const budgets = await adopted(client);
  const left = await budgetsOf(client, PLACES.bare);
  const proposeBoth = async (round: number): Promise<void> => {
    await propose(builtin, left, round);
    await propose(builtin, budgets, round);
  };
  // The first proposal of somebody new is written: it names them among those who manage the object.
  for (let round = 0; round < 2 * ours; round += 1) await proposeBoth(round);
  const before = await versions(client);
  const quiet = load();
  const from = { ours: await readWaits(client, WEBHOOK), bare: await readWaits(client, BARE), cpuMs: processorMs(pid) };
  for (let round = 0; round < PROPOSALS; round += 1) await proposeBoth(round);
  const cpuMs = (processorMs(pid) - from.cpuMs) / PROPOSALS;
  const others = busyWithOthers(quiet, load());
  const waits = waitsSince(from.ours, await readWaits(client, WEBHOOK));
  const judged = others <= QUIET;
  const note = judged ? '' : `; not judged: others kept ${others.toFixed(1)} processors busy`;
  const met = waits.count >= PROPOSALS && (waits.seconds * 1000) / waits.count < TARGET_MS;
  const goal = { target: `under ${TARGET_MS} ms mean`, met };
  report('HL-08 operator: a review of a status, by the API server', `${told(waits)}${note}`, judged ? goal : undefined);
  report(
    '  the same for a webhook that does nothing, in turn',
    told(waitsSince(from.bare, await readWaits(client, BARE))),
  );
  report('  processor time of the operator per review', `${cpuMs.toFixed(2)} ms`);
  const after = await versions(client);
  const written = [...before].filter(([name, version]) => after.get(name) !== version);
  const none = { target: 'none', met: written.length === 0 && after.size === before.size };
  report(`HL-08 budgets and ledgers written by ${PROPOSALS} proposals`, String(written.length), none);
  return async () => {
    bare.close();
    for (const one of made) await client.delete(configurationType(one), { name: one.metadata.name ?? '' });
  };
}

type Configuration = ReturnType<typeof webhookConfigurations>[number];

const configurationType = ({ kind = '' }: Configuration) => builtinType(kind, ADMISSION) as ResourceType<Configuration>;

function configurations(
  { port, systemNamespace: namespace }: Measured,
  { barePort, ca }: { readonly ca: string; readonly barePort: number },
): Configuration[] {
  // The operator asks as the administrator here.
  const options = { namespace, failOpen: false, certManager: false, mode: 'adopt', user: 'admin' } as const;
  return [
    ...webhookConfigurations(options, { url: `https://127.0.0.1:${port}`, caBundle: ca }),
    bareConfiguration(barePort, ca),
  ];
}

function bareConfiguration(port: number, ca: string): MutatingWebhookConfiguration {
  return {
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'bare-status' },
    webhooks: [
      {
        name: BARE,
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca).toString('base64') },
        rules: [
          {
            operations: ['UPDATE'],
            apiGroups: ['policy'],
            apiVersions: ['v1'],
            resources: ['poddisruptionbudgets/status'],
          },
        ],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { [BARE_LABEL]: 'true' } },
      },
    ],
  };
}

/** Budgets whose numbers are ours. */
async function adopted(client: Client): Promise<PodDisruptionBudget[]> {
  const { items } = await client.list(podDisruptionBudgetType);
  return items.filter(({ status }) =>
    status?.conditions?.some(({ status: is, type }) => type === 'CountsGroups' && is === 'True'),
  );
}

async function budgetsOf(client: Client, places: readonly number[]): Promise<PodDisruptionBudget[]> {
  const namespaces = new Set(places.map(namespaceOf));
  const { items } = await client.list(podDisruptionBudgetType);
  return items.filter(({ metadata }) => namespaces.has(metadata.namespace ?? ''));
}

const FAILED = {
  type: 'DisruptionAllowed',
  status: 'False',
  reason: 'SyncFailed',
  message: 'found no controllers',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

/** Numbers as the built-in controller has them for pods of which it knows no controller. */
async function propose(builtin: Client, budgets: PodDisruptionBudget[], round: number): Promise<void> {
  const at = round % budgets.length;
  const budget = budgets[at] as PodDisruptionBudget;
  const { conditions = [], ...status } = budget.status ?? {};
  const isOther = ({ type }: { readonly type: string }): boolean => type !== 'DisruptionAllowed';
  const proposed = {
    ...status,
    expectedPods: 0,
    currentHealthy: status.currentHealthy ?? 0,
    desiredHealthy: status.currentHealthy ?? 0,
    disruptionsAllowed: 0,
    observedGeneration: budget.metadata.generation,
    conditions: [...conditions.filter(isOther), FAILED],
  };
  budgets[at] = await builtin.updateStatus(podDisruptionBudgetType, { ...budget, status: proposed as never });
}

/** Of everything that the operator might write because of a proposal. */
async function versions(client: Client): Promise<ReadonlyMap<string, string>> {
  const budgets = await adopted(client);
  const { items: ledgers } = await client.list(disruptionLedgerType);
  const objects: readonly [string, readonly KubeObject[]][] = [
    ['budget', budgets as readonly KubeObject[]],
    ['ledger', ledgers as readonly KubeObject[]],
  ];
  return new Map(
    objects.flatMap(([kind, found]) =>
      found.map(({ metadata }) => [`${kind} ${metadata.namespace}/${metadata.name}`, metadata.resourceVersion ?? '']),
    ),
  );
}
