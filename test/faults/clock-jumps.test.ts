/** A clock that is set, or a machine that slept: it is noticed and said, and nothing that was alive counts as dead. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Deployment } from '../../src/api/generated/apps-v1.ts';
import type { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { builtinType } from '../../src/api/registry.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { type EmbeddedHost, startEmbedded } from '../../src/app/embedded.ts';
import { ManualClock, silentLogger } from '../../src/machinery/runtime/index.ts';
import { type ControlPlane, deployment, podDisruptionBudget, startControlPlane } from '../../src/testkit/index.ts';

const HOUR_MS = 3_600_000;
const SET: [string, number][] = [
  ['forward by an hour', HOUR_MS],
  ['back by an hour', -HOUR_MS],
];

const budget = (name: string, minAvailable: number) =>
  podDisruptionBudget({ name, spec: { minAvailable, selector: { matchLabels: { app: name } } } });
const deployments = builtinType('Deployment', 'apps');
let plane: ControlPlane | undefined;
let host: EmbeddedHost | undefined;
const directories: string[] = [];
afterEach(async () => {
  await plane?.stop();
  await host?.stop();
  plane = undefined;
  host = undefined;
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

test.each(SET)('17: with the clock set %s no node dies, pods start and budgets count on', async (_, byMs) => {
  plane = await startControlPlane({ nodes: 3, controllers: true });
  const { client, clock } = plane;
  await client.create(deployments, deployment({ name: 'before', replicas: 3 }));
  await client.create(podDisruptionBudgetType, budget('before', 2));
  await clock.advance(30_000);
  const uidsOf = async (): Promise<string[]> =>
    (await client.list(podType, { namespace: 'default', labelSelector: 'app=before' })).items.map(
      ({ metadata }) => metadata.uid ?? '',
    );
  const uids = await uidsOf();
  expect(uids).toHaveLength(3);

  await client.create(deployments, deployment({ name: 'after', replicas: 3 }));
  // Bound and not yet running.
  await clock.advance(20);
  clock.set(clock.now() + byMs);
  const scale = { type: 'merge', body: { spec: { replicas: 5 } } } as const;
  await client.patch(deployments, { namespace: 'default', name: 'before' }, scale);
  await client.create(podDisruptionBudgetType, budget('after', 1));
  await clock.advance(120_000);

  const { items: nodes } = await client.list(nodeType, {});
  const ready = nodes.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status);
  expect(ready).toEqual(['True', 'True', 'True']);
  expect(nodes.flatMap(({ spec }) => spec?.taints ?? [])).toEqual([]);
  // Nor were they meanwhile, nor was a pod evicted.
  const { items: events } = await client.list(builtinType('Event'), {});
  const reasons = events.map((event) => (event as unknown as { reason?: string }).reason);
  expect(reasons.filter((reason) => /NodeNotReady|Evict|Killing/.test(reason ?? ''))).toEqual([]);
  expect(await uidsOf()).toEqual(expect.arrayContaining(uids));
  const readyOf = async (name: string): Promise<number | undefined> =>
    ((await client.get(deployments, { namespace: 'default', name })) as Deployment).status?.readyReplicas;
  expect([await readyOf('before'), await readyOf('after')]).toEqual([5, 3]);
  const budgetOf = async (name: string): Promise<number | undefined> =>
    ((await client.get(podDisruptionBudgetType, { namespace: 'default', name })) as PodDisruptionBudget).status
      ?.disruptionsAllowed;
  expect([await budgetOf('before'), await budgetOf('after')]).toEqual([3, 2]);
});

function readyz(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request(`${url}/readyz?verbose`, { rejectUnauthorized: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}

test.each([
  ['forward', 400 * 24 * HOUR_MS],
  ['back', -24 * HOUR_MS],
])('17: quorate up says that the clock was set %s, and serves a certificate that is valid then', async (way, byMs) => {
  const directory = mkdtempSync(join(tmpdir(), 'quorate-clock-'));
  directories.push(directory);
  const clock = new ManualClock(Date.now());
  const lines: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object, message: string) => lines.push({ ...fields, message }) };
  host = await startEmbedded({
    dataDirectory: join(directory, 'data'),
    kubeconfig: join(directory, 'kubeconfig'),
    port: 0,
    bind: '127.0.0.1',
    nodes: 0,
    apiOnly: true,
    clock,
    log,
  });
  const { client, url } = host;
  expect(await readyz(url)).toMatchObject({ status: 200, text: expect.stringContaining('[+]certificate ok') });

  clock.set(clock.now() + byMs);
  const wrong = await readyz(url);
  expect(wrong.status).toBe(500);
  expect(wrong.text).toContain('[-]certificate failed: it ');
  await clock.advance(1000);
  await expect.poll(() => readyz(url).then(({ status }) => status), { timeout: 30_000 }).toBe(200);

  const bySeconds = Math.abs(byMs) / 1000;
  expect(lines).toContainEqual(expect.objectContaining({ direction: way, bySeconds }));
  const said = async (): Promise<string | undefined> => {
    const { items } = await client.list(builtinType('Event'), { namespace: 'default' });
    const events = items.map((event) => event as unknown as { reason?: string; message?: string });
    return events.find(({ reason }) => reason === 'ClockJumped')?.message;
  };
  await expect.poll(said, { timeout: 30_000 }).toContain(`set ${way} by ${bySeconds} s`);
});
