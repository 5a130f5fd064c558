/**
 * The real kube-controller-manager, each controller under its own account, and the real kube-scheduler as the only
 * controllers of the embedded API server: everything they ask for is allowed and understood.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type EmbeddedHost, type NodesHost, startEmbedded, startNodes } from '../../src/app/index.ts';
import { openCluster } from '../../src/cli/shared/cluster.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { chosenMinor, requireBinaries } from '../kubernetes/binaries.ts';
import { until } from '../scenarios/stories/host.ts';

let folder: string;
let host: EmbeddedHost;
let nodes: NodesHost;
let client: Client;
const started: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-real-controllers-'));
  const dataDirectory = join(folder, 'data');
  const kubeconfig = join(folder, 'kubeconfig');
  host = await startEmbedded({
    port: 0,
    bind: '127.0.0.1',
    dataDirectory,
    kubeconfig,
    nodes: 0,
    apiOnly: true,
    log: silentLogger,
  });
  const shared = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'];
  run('kube-controller-manager', [
    ...shared,
    `--service-account-private-key-file=${join(dataDirectory, 'pki', 'service-account.key')}`,
    `--root-ca-file=${join(dataDirectory, 'pki', 'ca.crt')}`,
    '--use-service-account-credentials=true',
  ]);
  run('kube-scheduler', shared);
  nodes = await startNodes({ kubeconfig, log: silentLogger, nodes: { count: 3, prefix: 'sim-' } });
  ({ client } = openCluster({ kubeconfig }));
});

afterAll(async () => {
  nodes?.stop();
  for (const child of started) child.kill('SIGTERM');
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function run(name: 'kube-controller-manager' | 'kube-scheduler', flags: string[]): void {
  const child = spawn(join(requireBinaries(chosenMinor(), [name]), name), flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(join(folder, `${name}.log`));
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  started.push(child);
}

const template = (app: string, more: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'main:1' }], ...more },
});
const selector = (app: string) => ({ matchLabels: { app } });
const create = (kind: string, group: string, name: string, spec: object): Promise<KubeObject> =>
  client.create(builtinType(kind, group), { metadata: { name, namespace: 'default' }, spec } as KubeObject);

async function running(app: string): Promise<number> {
  const { items } = await client.list(podType, { namespace: 'default', labelSelector: `app=${app}` });
  return items.filter(({ status }) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'))
    .length;
}

test('23.6: every workload kind comes up and goes again under kube-controller-manager and kube-scheduler', async () => {
  const shared = { replicas: 2 };
  await create('Deployment', 'apps', 'web', { ...shared, selector: selector('web'), template: template('web') });
  await create('StatefulSet', 'apps', 'db', {
    ...shared,
    serviceName: 'db',
    selector: selector('db'),
    template: template('db'),
  });
  await create('DaemonSet', 'apps', 'agent', { selector: selector('agent'), template: template('agent') });
  await create('ReplicationController', '', 'old', { ...shared, selector: { app: 'old' }, template: template('old') });
  await create('Job', 'batch', 'work', {
    parallelism: 2,
    completions: 2,
    template: template('work', { restartPolicy: 'Never' }),
  });
  await create('PodDisruptionBudget', 'policy', 'web', { minAvailable: 1, selector: selector('web') });

  const wanted = { web: 2, db: 2, agent: 3, old: 2, work: 2 };
  for (const [app, count] of Object.entries(wanted)) {
    await until(`${count} pods of ${app} run`, async () => (await running(app)) === count);
  }
  const budget = builtinType('PodDisruptionBudget', 'policy');
  await until('the budget counts its pods', async () => {
    const { status } = (await client.get(budget, { namespace: 'default', name: 'web' })) as KubeObject & {
      status?: { disruptionsAllowed?: number };
    };
    return status?.disruptionsAllowed === 1;
  });

  await client.delete(builtinType('Deployment', 'apps'), { namespace: 'default', name: 'web' });
  await until('the pods of a deleted Deployment are collected', async () => (await running('web')) === 0);
});

test('23.1: nothing that they asked for was forbidden or could not be read', () => {
  for (const name of ['kube-controller-manager', 'kube-scheduler']) {
    const lines = readFileSync(join(folder, `${name}.log`), 'utf8').split('\n');
    expect(lines.filter((line) => /forbidden|unable to decode|no kind .* is registered/i.test(line))).toEqual([]);
  }
});
