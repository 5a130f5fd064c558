/** What the operator and the scheduler serve, read over the network as Prometheus does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClusterScheduler, type EmbeddedHost, type Operator } from '../../src/app/index.ts';
import { startClusterScheduler, startOperator } from '../../src/app/index.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  FeatureGates,
  loadKubeconfig,
  METRICS,
  type MetricRow,
  silentLogger,
} from '../../src/machinery/runtime/index.ts';
import { startHost } from './host.ts';

let host: EmbeddedHost;
let client: Client;
let operator: Operator;
let scheduler: ClusterScheduler;

beforeAll(async () => {
  host = await startHost();
  const { kubeconfig } = host;
  client = createClient({
    transport: createHttpTransport(loadKubeconfig({ path: kubeconfig })).send,
    userAgent: 'test',
  });
  const shared = { kubeconfig, bind: '127.0.0.1', metricsPort: 0, metricsOpen: true, log: silentLogger };
  await client.request('POST', '/api/v1/namespaces', { metadata: { name: 'quorate-system' } });
  operator = await startOperator({
    ...shared,
    namespace: 'quorate-system',
    mode: 'alongside',
    webhookPort: 0,
    identity: 'one',
    // Pickers of the embedded host are fields of workloads.
    gates: new FeatureGates({ DownscalePodPicker: false }),
    lost: () => {},
  });
  await operator.ready;
  scheduler = await startClusterScheduler(shared);
  await scheduler.elected;
});
afterAll(async () => {
  scheduler?.stop();
  await operator?.stop();
  await host?.stop();
});

const page = async (port: number, path = '/metrics'): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).text();

/** Names of the metrics on a page that the table knows or ought to. */
function ownNames(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)]
    .map(([, name = '']) => name)
    .filter((name) => !/^(nodejs|process)_/.test(name))
    .sort();
}

function tableOf(process: 'operator' | 'scheduler'): string[] {
  return Object.entries(METRICS as Record<string, MetricRow>)
    .filter(([, { on }]) => on.includes(process))
    .map(([name]) => name)
    .sort();
}

test('HL-03 operator and scheduler serve exactly the metrics of the table, and those of their process', async () => {
  const served = await page(operator.metricsPort);
  expect(ownNames(served)).toEqual(tableOf('operator'));
  expect(served).toMatch(/^process_resident_memory_bytes \d/m);
  const scheduling = await page(scheduler.metricsPort);
  expect(ownNames(scheduling)).toEqual(tableOf('scheduler'));
  expect(scheduling).toContain('quorate_leader 1');
});

test('HL-03 names and labels are as Prometheus asks: units last, _total on counters, nothing of single pods', () => {
  const kept = /^(pod_unavailable_budget|workqueue|scheduler|apiserver|etcd|kubernetes)_?/;
  for (const [name, { labels, type }] of Object.entries(METRICS as Record<string, MetricRow>)) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(labels).not.toContain('pod');
    expect(labels).not.toContain('uid');
    if (kept.test(name)) continue;
    expect(name.endsWith('_total')).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
  }
});

test('the scheduler answers probes, and says which check each is', async () => {
  await expect
    .poll(() => page(scheduler.metricsPort, '/readyz?verbose'))
    .toBe('[+]caches ok\n[+]api-server ok\n[+]not-stopping ok\n');
  for (const path of ['/livez', '/readyz', '/startupz']) expect(await page(scheduler.metricsPort, path)).toBe('ok\n');
});
