/**
 * Kubernetes 1.36 becomes 1.37 under running gangs, whose groups 1.37 does not know: by `quorate migrate groups`, as the
 * guide has it. And what the newer one makes by itself, we leave to it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import type { DisruptionLedger } from '../../src/api/quorate/types.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { definitions } from '../../src/webhook/index.ts';
import { groupServing } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { budget, budgetsOn, numbersOf, pod } from './gangs.ts';
import { runProgram } from './program.ts';
import * as stage from './stage.ts';

const { until } = stage;
const OLD = { minor: '1.36', ...groupServing('1.36') } as const;
const NEW = { minor: '1.37', ...groupServing('1.37') } as const;
let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;
let operator: Operator | undefined;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
const { read, shows } = budgetsOn(() => plane);
const serving = (version: string): string => `scheduling.k8s.io/${version}=true`;

beforeAll(async () => {
  const { featureGates, minor, version } = OLD;
  plane = await startRealControlPlane({ minor, featureGates, runtimeConfig: serving(version) });
  client = createNetworkClient(plane, 'quorate-test');
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  await startOperator();
});
afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

/** One that looks for what is served now. */
async function startOperator(): Promise<void> {
  await operator?.stop();
  operator = await stage.startReplica(plane, `replica-${Math.random()}`, 'adopt');
  await stage.registerWebhooks(plane, operator, 'native', 'adopt', { groupCreation: true });
}

/** So many gangs in the version that is going, and their pods on a node. */
const gangs = (app: string, count: number, size: number): object[] =>
  Array.from({ length: count }, (_, at) => `${app}-g${at}`).flatMap((name) => [
    groups.podGroup(OLD.version, name, app, size),
    ...Array.from({ length: size }, (_, at) => pod(`${name}-${at}`, app, { schedulingGroup: { podGroupName: name } })),
  ]);

const pods = async (): Promise<readonly Pod[]> => (await client.list(podType, { namespace: 'default' })).items;
/** What a restart would change. */
const lives = async (): Promise<string[]> =>
  (await pods()).map(({ metadata, spec, status }) => {
    const restarts = status?.containerStatuses?.map(({ restartCount }) => restartCount).join();
    return `${metadata.name} ${metadata.uid} ${spec?.schedulingGroup?.podGroupName} ${status?.startTime} ${restarts}`;
  });

const BUDGETS = ['train', 'serve', 'plain'];
/** Every number of every budget, by pods and by groups. */
const numbers = async (): Promise<string[]> =>
  Promise.all(
    BUDGETS.map(async (name) => {
      const found = numbersOf(await read(name));
      const ledger = await kubectl('get', 'disruptionledger', name, '--ignore-not-found', '-o', 'json');
      if (ledger === '') return `${name} ${found}`;
      const { status } = JSON.parse(ledger) as DisruptionLedger;
      const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, unit } = status ?? {};
      return `${name} ${found} ${unit} ${expectedPods}/${currentHealthy}/${desiredHealthy}/${disruptionsAllowed}`;
    }),
  );

async function migrate(...flags: string[]): Promise<string> {
  const { code, stderr, stdout } = await runProgram('migrate', 'groups', '--kubeconfig', plane.kubeconfig, ...flags);
  expect(`${code} ${stderr}`).toBe('0 ');
  return stdout;
}

test('GC-11 quorate migrate groups over 1.36 to 1.37: no pod restarts, and every budget counts as before', async () => {
  await apply(
    groups.workload(OLD.version, 'train', 2),
    groups.workload(OLD.version, 'serve', 3),
    ...gangs('train', 3, 2),
    ...gangs('serve', 2, 3),
    ...[0, 1].map((at) => pod(`plain-${at}`, 'plain')),
    budget('train', { maxUnavailable: 1 }),
    budget('serve', { minAvailable: '40%' }),
    budget('plain', { minAvailable: 1 }),
  );
  await shows('train', '6/6/4/2');
  await shows('serve', '6/6/3/3');
  await shows('plain', '2/2/1/1');
  const [before, running] = [await numbers(), await lives()];
  /** The same after every step, whoever is asked. */
  const same = async (when: string): Promise<void> => {
    await until(
      `the numbers to be the same ${when}`,
      async () => (await numbers()).join() === before.join(),
      30_000,
    ).catch(async () => expect(await numbers(), when).toEqual(before));
    expect(await lives(), when).toEqual(running);
    expect(await stage.evict(plane, 'train-g0-0', { dryRun: true }), when).toBe('granted');
  };

  await apply(...definitions('crd').filter(({ metadata }) => metadata.name?.endsWith('.scheduling.quorate.dev')));
  await startOperator();
  await same('with the definitions of twins');
  expect(await migrate('--dry-run')).toContain('nothing was changed');
  const file = join(plane.folder, 'groups.yaml');
  await migrate('--export', file);
  const copies = parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS() as KubeObject);
  expect(copies.map(({ apiVersion, kind }) => `${kind} ${apiVersion}`).toSorted()).toEqual([
    ...Array.from({ length: 5 }, () => 'PodGroup scheduling.k8s.io/v1beta1'),
    ...Array.from({ length: 2 }, () => 'Workload scheduling.k8s.io/v1beta1'),
  ]);
  await same('with twins');
  await migrate('--delete-old');
  expect(await kubectl('get', 'workloads.scheduling.k8s.io,podgroups.scheduling.k8s.io', '-o', 'name')).toBe('');
  await same('without the old groups');

  await operator?.stop();
  operator = undefined;
  const featureGates = `${NEW.featureGates},WorkloadWithJob=true`;
  await plane.upgrade({ minor: NEW.minor, featureGates, runtimeConfig: serving(NEW.version) });
  expect(await kubectl('version', '-o', 'json')).toContain(`"gitVersion": "v${NEW.minor}.`);
  await startOperator();
  await same('after the upgrade');
  await migrate('--import');
  const names = await kubectl(
    'get',
    'workloads.v1beta1.scheduling.k8s.io,podgroups.v1beta1.scheduling.k8s.io',
    '-o',
    'name',
  );
  expect(names.trim().split('\n')).toHaveLength(7);
  expect(await kubectl('get', 'workloads,podgroups', '-l', 'none!=x', '-o', 'name')).toBe(names);
  await same('at the end');
  expect((await pods()).flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}))).toEqual(
    expect.not.arrayContaining([expect.stringContaining('groups.quorate.dev')]),
  );
});

test('GC-02 a Job with spec.scheduling, whose own controller makes groups, gets none from us', async () => {
  const before = (await kubectl('get', 'workloads,podgroups', '-o', 'name')).trim().split('\n');
  await apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'own', namespace: 'default', annotations: { 'groups.quorate.dev/create': 'true' } },
    spec: {
      parallelism: 2,
      completions: 2,
      completionMode: 'Indexed',
      scheduling: { schedulingPolicy: { gang: {} } },
      template: {
        metadata: { labels: { app: 'own' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }] },
      },
    },
  });
  const own = async (): Promise<readonly Pod[]> =>
    (await pods()).filter(({ metadata }) => metadata.labels?.['app'] === 'own');
  await until('its pods to run', async () => {
    const found = await own();
    return found.length === 2 && found.every(({ status }) => status?.phase === 'Running');
  });
  const made = (await kubectl('get', 'workloads,podgroups', '-o', 'name')).trim().split('\n');
  expect(made.filter((name) => !before.includes(name))).toHaveLength(2);
  expect(await kubectl('get', 'workloads,podgroups', '-l', 'app.kubernetes.io/managed-by=quorate', '-o', 'name')).toBe(
    '',
  );
  const named = new Set((await own()).map(({ spec }) => spec?.schedulingGroup?.podGroupName));
  expect([...named].map((name) => made.some((one) => one.endsWith(`/${name}`)))).toEqual([true]);
});
