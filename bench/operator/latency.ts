import { Agent, request } from 'node:https';
import type { Secret } from '../../src/api/generated/core-v1.ts';
import { type DisruptionLedger, disruptionLedgerType } from '../../src/api/quorate/types.ts';
import { builtinType } from '../../src/api/registry.ts';
import { podType, secretType } from '../../src/api/resource-types.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';
import { CERTIFICATE_SECRET, TOKEN_SECRET, webhookConfigurations, withToken } from '../../src/webhook/index.ts';
import { report } from '../report.ts';
import { BARE_WEBHOOK, bareConfiguration, startBareWebhook } from './bare-webhook.ts';
import { busyWithOthers, load, processorMs, QUIET } from './machine.ts';
import { PLACES, setApart, type Side, SIDES } from './places.ts';
import { GANG_SIZE, namespaceOf, podName, podsInNamespace, trainingGangs } from './seed.ts';
import { readWaits, told, type WaitedFor, waitsSince } from './webhook-metric.ts';

export interface Measured {
  readonly pid: number;
  readonly port: number;
  readonly systemNamespace: string;
  readonly pods: number;
}

interface Target {
  readonly namespace: string;
  readonly name: string;
}

const GUARDED = PLACES.guarded.length;
const EVICTIONS_WEBHOOK = 'evictions.quorate.dev';
/** Four under each budget: the first takes its hold, and what is run ten times a second is compiled late. */
const WARM_UP = 4 * GUARDED;
const TARGET_MS = 5;

/**
 * What the webhook adds to an eviction. The API server times every webhook itself, and its first bound is our target.
 * Evictions through the webhook, through one that does nothing and past both take turns, in namespaces of their own, so
 * that whatever else the machine does weighs on all alike. The first eviction under a budget waits for a write of
 * the ledger and is shown by itself; what such a write takes by itself, by a client that does nothing else, is measured in
 * turn as well.
 */
export async function measureLatency(client: Client, measured: Measured): Promise<void> {
  const { pid, systemNamespace } = measured;
  const evictions = Math.min(WARM_UP + 600, PLACES.past.length * (Math.floor(gangsIn(measured) / 2) - 1));
  if (evictions <= WARM_UP) {
    report('operator: an eviction through the webhook', 'not measured: it takes 30,000 pods at least');
    return;
  }
  const secret: Secret = await client.get(secretType, { namespace: systemNamespace, name: CERTIFICATE_SECRET });
  const textOf = ({ data }: Secret, name: string): string => Buffer.from(data?.[name] ?? '', 'base64').toString('utf8');
  const text = (name: string): string => textOf(secret, name);
  const tokens: Secret = await client.get(secretType, { namespace: systemNamespace, name: TOKEN_SECRET });
  const ca = text('ca.crt');
  const bareWebhook = await startBareWebhook({ cert: text('tls.crt'), key: text('tls.key') });
  await guard(client, measured, { ca, barePort: bareWebhook.port });
  const write = await bareWrite(client);
  const quiet = load();
  const evict = (round: number, side: Side): Promise<number> =>
    evictPod(client, target(measured, round, { side, lane: 0 }));
  const waitsNow = (): Promise<WaitedFor> => readWaits(client, EVICTIONS_WEBHOOK);
  const start = await waitsNow();
  for (let round = 0; round < GUARDED; round += 1) for (const side of SIDES) await evict(round, side);
  const first = waitsSince(start, await waitsNow());
  for (let round = GUARDED; round < WARM_UP; round += 1) for (const side of SIDES) await evict(round, side);
  const guarded: number[] = [];
  const past: number[] = [];
  const writesBetween: number[] = [];
  const bareNow = (): Promise<WaitedFor> => readWaits(client, BARE_WEBHOOK);
  const before = { waits: await waitsNow(), bare: await bareNow(), cpuMs: processorMs(pid) };
  for (let round = WARM_UP; round < evictions; round += 1) {
    past.push(await evict(round, 'past'));
    await evict(round, 'bare');
    guarded.push(await evict(round, 'guarded'));
    writesBetween.push(await write());
  }
  const cpuMs = (processorMs(pid) - before.cpuMs) / (3 * guarded.length);
  const others = busyWithOthers(quiet, load());
  const waits = waitsSince(before.waits, await waitsNow());
  summarize('operator: an eviction through the webhook', guarded);
  summarize('  the same past it, in turn', past);
  summarize('  one write by compare-and-swap, in turn', writesBetween);
  const paired = guarded.map((ms, at) => ms - (past[at] ?? 0));
  report('  added, median of pairs', `${percentile(paired, 0.5).toFixed(2)} ms`);
  report('  added at p99', `${(percentile(guarded, 0.99) - percentile(past, 0.99)).toFixed(2)} ms`);
  report('  waited for the first under each budget', told(first));
  reportWaits(waits, others);
  report('  the same for a webhook that does nothing, in turn', told(waitsSince(before.bare, await bareNow())));
  const free = await waitsForNothing(client, measured);
  report('  the same for pods without a budget', `${told(free)}: nothing is decided or written`);
  report('  processor time of the operator per eviction', `${cpuMs.toFixed(2)} ms, watching and counting included`);
  await askDirectly(measured, { ca, token: textOf(tokens, 'token') }, evictions / 2, write);
  bareWebhook.close();
}

/** A review sent as the API server sends it, and a bare write, in turn. */
async function askDirectly(
  measured: Measured,
  { ca, token }: { ca: string; token: string },
  rounds: number,
  write: () => Promise<number>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, ca, maxSockets: 1 });
  const reviews: number[] = [];
  const writes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const wrote = await write();
    const asked = await ask(
      agent,
      { port: measured.port, token },
      target(measured, round, { side: 'guarded', lane: 1 }),
    );
    if (round < WARM_UP) continue;
    writes.push(wrote);
    reviews.push(asked);
  }
  agent.destroy();
  summarize('operator: a charged review, asked directly over TLS', reviews);
  summarize('  one write by compare-and-swap, in turn', writes);
}

/** The verdict: the API server's own measure of what it waited for the webhook. */
function reportWaits(waits: WaitedFor, others: number): void {
  const { count, within } = waits;
  if (count === 0) {
    report('  waited for the webhook, by the API server', 'not measured: it counted no call');
    return;
  }
  const share = (within.get(TARGET_MS) ?? 0) / count;
  const judged = others <= QUIET;
  const note = judged ? '' : `; not judged: others kept ${others.toFixed(1)} processors busy`;
  report(
    '  waited for the webhook, by the API server',
    `${told(waits)}${note}`,
    judged ? { target: `99 % in ${TARGET_MS} ms`, met: share >= 0.99 } : undefined,
  );
}

/** How long the API server waits where the webhook has nothing to decide: the pods of ReplicaSets have no budget. */
async function waitsForNothing(client: Client, { pods }: Measured): Promise<WaitedFor> {
  const perNamespace = podsInNamespace(pods);
  const before = await readWaits(client, EVICTIONS_WEBHOOK);
  for (let round = 0; round < 300; round += 1) {
    const place = PLACES.guarded[round % GUARDED] ?? 0;
    const at = (place + 1) * perNamespace - 1 - Math.floor(round / GUARDED);
    await evictPod(client, { namespace: namespaceOf(place), name: podName(at) });
  }
  return waitsSince(before, await readWaits(client, EVICTIONS_WEBHOOK));
}

/** Every other namespace opts out, and half of these go to the bare webhook; the rest are guarded by ours. */
async function guard(
  client: Client,
  { port, systemNamespace }: Measured,
  { ca, barePort }: { ca: string; barePort: number },
): Promise<void> {
  await setApart(client, ['bare', 'past']);
  const options = { namespace: systemNamespace, failOpen: false, certManager: false };
  const type = builtinType('ValidatingWebhookConfiguration', 'admissionregistration.k8s.io');
  for (const configuration of webhookConfigurations(options, { url: `https://127.0.0.1:${port}`, caBundle: ca })) {
    const of = builtinType(configuration.kind ?? '', 'admissionregistration.k8s.io');
    await client.create(of, configuration as KubeObject);
  }
  await client.create(type, bareConfiguration(barePort, ca) as KubeObject);
}

const gangsIn = ({ pods }: Measured): number => trainingGangs(pods) - 1;

/** One pod each of ever other gangs: each eviction takes a gang down and is charged. */
function target(measured: Measured, round: number, { lane, side }: { side: Side; lane: 0 | 1 }): Target {
  const gangs = gangsIn(measured);
  const places = PLACES[side];
  const place = places[round % places.length] ?? 0;
  const gang = 1 + ((Math.floor(round / places.length) + lane * Math.floor(gangs / 2)) % gangs);
  const first = place * podsInNamespace(measured.pods);
  return { namespace: namespaceOf(place), name: podName(first + gang * GANG_SIZE) };
}

async function evictPod(client: Client, { name, namespace }: Target): Promise<number> {
  const metadata = { name, namespace };
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { gracePeriodSeconds: 0 } };
  const started = performance.now();
  await client.createSubresource(podType, { namespace, name }, 'eviction', body);
  return performance.now() - started;
}

/** Writes a ledger that no budget goes with and that is as large as those in use. */
async function bareWrite(client: Client): Promise<() => Promise<number>> {
  const { status } = await client.get(disruptionLedgerType, { namespace: namespaceOf(0), name: 'training' });
  const metadata = { name: 'bare', namespace: namespaceOf(1) };
  let ledger: DisruptionLedger = await client.create(disruptionLedgerType, { metadata });
  let allowed = 0;
  return async () => {
    const started = performance.now();
    allowed += 1;
    ledger = await client.updateStatus(disruptionLedgerType, {
      ...ledger,
      status: { ...status, disruptionsAllowed: allowed },
    });
    return performance.now() - started;
  };
}

function summarize(what: string, times: readonly number[]): void {
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((part) => percentile(times, part).toFixed(2));
  report(what, `p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms (${times.length})`);
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

interface Asked {
  readonly port: number;
  /** The secret in the path of reviews. */
  readonly token: string;
}

/** Sends the review the API server would send; answers with the time it took, and throws when it was not granted. */
function ask(agent: Agent, { port, token }: Asked, { name, namespace }: Target): Promise<number> {
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: name,
      operation: 'CREATE',
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      namespace,
      name,
      userInfo: { username: 'bench' },
      object: { metadata: { name, namespace } },
    },
  });
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    const options = {
      host: '127.0.0.1',
      port,
      path: withToken(token, '/validate-eviction'),
      method: 'POST',
      agent,
      headers,
    };
    const call = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const took = performance.now() - started;
        if (text.includes('"allowed":true')) resolve(took);
        else reject(new Error(`the webhook refused ${name}: ${text}`));
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}
