/** Adopt mode: Kubernetes' own disruption controller runs, and what it writes into budgets over groups becomes ours. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import type { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import {
  createClient,
  createHttpTransport,
  Informer,
  loadKubeconfig,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { budget, budgetsOn, gangs, markerOf, numbersOf, pod } from './gangs.ts';
import { expectGangToStay } from './preemption.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
const { until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
const evict = (name: string): Promise<string> => stage.evict(plane, name);
const { atRest, read, shows } = budgetsOn(() => plane);

beforeAll(async () => {
  plane = await stage.startPlane();
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'first', 'adopt', { metricsOpen: true });
  await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
});

afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const SPELLINGS: readonly [string, object][] = [
  ['integer', { minAvailable: 2 }],
  ['share', { minAvailable: '60%' }],
  ['max', { maxUnavailable: 1 }],
  ['max-share', { maxUnavailable: '30%' }],
];

test.each(SPELLINGS)('AD-01: three gangs of four under %s: one may go, whole, and not a second', async (name, spec) => {
  await apply(...gangs(name, 3, 4), budget(name, spec));
  await shows(name, '12/12/8/4');
  const marker = markerOf(await read(name));
  expect(marker).toMatchObject({ status: 'True', reason: 'GroupUnits' });
  expect(marker?.message).toBe('3 of 3 groups are available, 2 must stay; up to 4 pods can go now if chosen best');
  expect(await evict(`${name}-g0-0`)).toBe('granted');
  expect(await evict(`${name}-g1-0`)).toContain('disruption budget');
  for (const at of [1, 2, 3]) expect(await evict(`${name}-g0-${at}`)).toBe('granted');
  await shows(name, '8/8/8/0');
});

test('AD-03, AD-05: what the built-in controller proposes is not written, and nothing loops', async () => {
  await apply(...gangs('quiet', 3, 4), budget('quiet', { maxUnavailable: 1 }));
  await shows('quiet', '12/12/8/4');
  const asked = async (): Promise<number> => reviews('rewritten');
  const before = await atRest('quiet');
  const reviewed = await asked();
  // A change that means nothing wakes the built-in controller, which would write 1.
  await kubectl('annotate', 'pdb', 'quiet', 'note=1');
  await until('the built-in controller to propose its numbers', async () => (await asked()) > reviewed);
  const noted = await read('quiet');
  expect(numbersOf(noted)).toBe('12/12/8/4');
  const settled = await asked();
  await kubectl('annotate', 'pdb', 'quiet', 'note=2', '--overwrite');
  await until('it to propose them again', async () => (await asked()) > settled);
  const again = await atRest('quiet');
  // One write of ours in between at most: that of the annotation.
  expect(again.status).toEqual(before.status);
  expect((await read('quiet')).metadata.resourceVersion).toBe(again.metadata.resourceVersion);
});

/** A thousand take some minutes: `npm run test:manager-restart`. */
const BUDGETS = Number(process.env['QUORATE_BUDGETS'] ?? 10);
const LIMIT_MS = 120_000 + BUDGETS * 500;
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

test(`AD-06: kube-controller-manager starts again and proposes numbers for ${BUDGETS} budgets: none is written`, {
  timeout: 3 * LIMIT_MS,
}, async () => {
  const specOf = (at: number) => SPELLINGS[at % SPELLINGS.length]?.[1] ?? {};
  // kubectl takes some minutes for so many.
  await stage.createAll(
    plane,
    Array.from({ length: BUDGETS }, (_, at) => [...gangs(`again${at}`, 3, 2), budget(`again${at}`, specOf(at))]),
  );
  const made = performance.now();
  const proposed = () => reviews('rewritten');
  /** Every budget with its version and numbers. */
  const budgets = async (): Promise<string> => {
    const { items } = JSON.parse(await kubectl('get', 'pdb', '-o', 'json')) as { items: PodDisruptionBudget[] };
    const ours = items.filter(({ metadata }) => metadata.name?.startsWith('again'));
    return ours.map((one) => `${one.metadata.name} ${one.metadata.resourceVersion} ${numbersOf(one)}`).join('\n');
  };
  /** What is read is the same five times in a row. */
  const atEnd = async <T>(what: () => Promise<T>): Promise<T> => {
    let last = await what();
    let unchanged = 0;
    await until('nothing to change any more', async () => {
      const found = await what();
      unchanged = found === last ? unchanged + 1 : 0;
      last = found;
      return unchanged >= 5;
    });
    return last;
  };
  await until(
    'every budget to be counted',
    async () => (await budgets()).split('\n').filter((one) => one.endsWith('6/6/4/2')).length === BUDGETS,
    LIMIT_MS,
  );
  console.info(`${BUDGETS} budgets had our numbers ${seconds(made)} s after the last was made`);
  const before = await atEnd(budgets);
  const asked = await atEnd(proposed);
  const killed = performance.now();
  await plane.kill('kube-controller-manager');
  await plane.restart('kube-controller-manager');
  await until('numbers to be proposed', async () => (await proposed()) >= asked + BUDGETS, LIMIT_MS);
  console.info(`all were proposed anew ${seconds(killed)} s after it was ended`);
  await atEnd(proposed);
  expect(await budgets()).toBe(before);
});

test('AD-04: what the API server counts with an eviction passes without a review', async () => {
  await apply(...gangs('counted', 3, 4), budget('counted', { maxUnavailable: 1 }));
  await shows('counted', '12/12/8/4');
  // The pod stays for a while: only the API server writes.
  await kubectl(
    'patch',
    'pod',
    'counted-g0-0',
    '--type=merge',
    '-p',
    '{"metadata":{"finalizers":["example.com/wait"]}}',
  );
  expect(await evict('counted-g0-0')).toBe('granted');
  await shows('counted', '12/11/8/3');
  await kubectl('patch', 'pod', 'counted-g0-0', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
});

test('AD-08: a budget over pods is left to the built-in controller', async () => {
  await apply(pod('p0', 'plain'), pod('p1', 'plain'), budget('plain', { minAvailable: 1 }));
  await shows('plain', '2/2/1/1');
  const found = await read('plain');
  expect(markerOf(found)).toBeUndefined();
  expect(found.metadata.managedFields?.map(({ manager }) => manager)).toContain('kube-controller-manager');
});

test('AD-09: Jobs under maxUnavailable, which the built-in controller cannot count, get our numbers for good', async () => {
  const [workload, ...others] = gangs('jobs', 2, 2) as { kind: string; metadata: object; spec: object }[];
  const members = others.filter(({ kind }) => kind === 'Pod');
  const jobs = [0, 2].map((at) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `jobs-${at}`, namespace: 'default' },
    spec: {
      parallelism: 2,
      template: {
        metadata: { ...members[at]?.metadata, name: undefined, namespace: undefined },
        spec: { ...members[at]?.spec, restartPolicy: 'Never' },
      },
    },
  }));
  await apply(workload as object, ...others.filter(({ kind }) => kind !== 'Pod'), ...jobs);
  await apply(budget('jobs', { maxUnavailable: 1 }));
  await shows('jobs', '4/4/2/2');
  const failed = 'events.v1.events.k8s.io';
  await until('the built-in controller to have failed', async () =>
    (await kubectl('get', failed, '--field-selector=reason=CalculateExpectedPodCountFailed', '-o', 'name')).includes(
      'jobs',
    ),
  );
  const { status } = await atRest('jobs');
  expect(status).toMatchObject({ expectedPods: 4, currentHealthy: 4, desiredHealthy: 2, disruptionsAllowed: 2 });
  expect(status?.conditions?.find(({ type }) => type === 'DisruptionAllowed')).toMatchObject({
    status: 'True',
    reason: 'SufficientPods',
  });
});

test('PB-25: eight evictions at once under a gang of eight are all granted', async () => {
  await apply(...gangs('eight', 2, 8), budget('eight', { maxUnavailable: 1 }));
  await shows('eight', '16/16/8/8');
  const names = Array.from({ length: 8 }, (_, at) => `eight-g0-${at}`);
  const answers = await Promise.all(names.map((name) => evict(name)));
  expect(answers).toEqual(names.map(() => 'granted'));
  await shows('eight', '8/8/8/0');
});

test('PB-26: where nothing of a group may go, kube-scheduler preempts a pod that no budget protects', async () => {
  await expectGangToStay(plane);
});

const RACES = Number(process.env['QUORATE_STATUS_RACES'] ?? 3);

test(`PB-31: ${RACES} times evictions and foreign statuses at once: nothing that was counted is lost`, async () => {
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'test' });
  const abort = new AbortController();
  const type = podDisruptionBudgetType;
  const watch = new Informer({ client, clock: systemClock, log: silentLogger, type, namespace: 'default' });
  const seen: string[] = [];
  watch.addHandler({ updated: (one) => one.metadata.name?.startsWith('race') && seen.push(numbersOf(one)) });
  watch.start(abort.signal);
  await watch.whenSynced();
  for (let round = 0; round < RACES; round += 1) {
    const app = `race${round}`;
    await apply(...gangs(app, 8, 2), budget(app, { maxUnavailable: 3 }));
    await shows(app, '16/16/10/6');
    const names = Array.from({ length: 16 }, (_, at) => `${app}-g${at % 8}-${at >> 3}`);
    const metadata = (name: string) => ({ name, namespace: 'default' });
    const evictions = names.map((name) =>
      client
        .createSubresource(podType, metadata(name), 'eviction', {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: metadata(name),
        })
        .then(
          () => [name],
          () => [],
        ),
    );
    // Each wakes the built-in controller, which proposes numbers of its own.
    const notes = Array.from({ length: 10 }, (_, at) =>
      client.patch(type, metadata(app), { type: 'merge', body: { metadata: { annotations: { note: String(at) } } } }),
    );
    const granted = (await Promise.all(evictions)).flat();
    await Promise.all(notes);
    const down = new Set(granted.map((name) => name.split('-')[1]));
    expect(down.size).toBeLessThanOrEqual(3);
    await until('the numbers that are left', async () => {
      const { status } = await read(app);
      return status?.currentHealthy === 16 - granted.length && status.disruptionsAllowed === 6 - granted.length;
    });
  }
  expect(seen.filter((numbers) => numbers.split('/').some((one) => Number(one) < 0))).toEqual([]);
  abort.abort();
  transport.close();
});

test('AD-14: with nobody there the built-in numbers stand; who comes back mends them at once', async () => {
  await apply(...gangs('away', 3, 4), budget('away', { maxUnavailable: 1 }));
  await shows('away', '12/12/8/4');
  await operator.stop();
  await kubectl('annotate', 'pdb', 'away', 'note=1');
  // To the built-in controller pods without a controller are none.
  await shows('away', '0/12/0/0');
  expect(await evict('away-g0-0')).toContain('failed calling webhook');
  operator = await stage.startReplica(plane, 'second', 'adopt');
  await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
  await shows('away', '12/12/8/4');
});

test('AD-19: groups that are gone for good leave the budget to the built-in controller', async () => {
  await apply(...gangs('lost', 2, 2), budget('lost', { maxUnavailable: 1 }));
  await shows('lost', '4/4/2/2');
  await operator.stop();
  operator = await stage.startReplica(plane, 'third', 'adopt', { settlingMs: 1000 });
  await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
  await kubectl('delete', 'podgroups', 'lost-g0', 'lost-g1', '--wait=false');
  await kubectl('patch', 'podgroup', 'lost-g0', '--type=merge', '-p', '{"metadata":{"finalizers":null}}').catch(
    () => {},
  );
  await kubectl('patch', 'podgroup', 'lost-g1', '--type=merge', '-p', '{"metadata":{"finalizers":null}}').catch(
    () => {},
  );
  await until('the marker to be False', async () => markerOf(await read('lost'))?.status === 'False');
  expect(markerOf(await read('lost'))?.reason).toBe('PodGroupNotFound');
  await shows('lost', '0/4/0/0');
});

async function reviews(result: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operator.metricsPort}/metrics`)).text();
  const line = text
    .split('\n')
    .find((one) => one.startsWith('quorate_status_reviews_total') && one.includes(`"${result}"`));
  return Number(line?.split(' ').at(-1) ?? 0);
}
