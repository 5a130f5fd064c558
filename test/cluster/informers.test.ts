/**
 * Informers of client-go (WatchList, protobuf) and of client-node follow the embedded host through thousands of changes
 * and a restart on the same data. QUORATE_INFORMER_CHANGES sets how many.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type EmbeddedHost, startEmbedded } from '../../src/app/index.ts';
import { openCluster } from '../../src/cli/shared/cluster.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { seededRandom } from '../../src/machinery/values/index.ts';
import { requireBinaries } from '../kubernetes/binaries.ts';
import { until } from '../scenarios/stories/host.ts';

const CHANGES = Number(process.env['QUORATE_INFORMER_CHANGES'] ?? 2000);
const configMapType = builtinType('ConfigMap', '', 'v1');

interface Seen {
  readonly pods: Record<string, string>;
  readonly configMaps: Record<string, string>;
  readonly events: number;
  readonly watchErrors: number;
}

let folder: string;
let host: EmbeddedHost;
let go: ChildProcess;
let lines: Interface;

const start = (port: number): Promise<EmbeddedHost> =>
  startEmbedded({
    port,
    bind: '127.0.0.1',
    dataDirectory: join(folder, 'data'),
    kubeconfig: join(folder, 'kubeconfig'),
    nodes: 0,
    log: silentLogger,
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-informers-'));
  host = await start(0);
  go = spawn(join(requireBinaries('1.36', ['informers']), 'informers'), [host.kubeconfig], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, KUBE_FEATURE_WatchListClient: 'true' },
  });
  lines = createInterface({ input: go.stdout as NodeJS.ReadableStream });
});

afterAll(async () => {
  go?.stdin?.end();
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function goCaches(): Promise<Seen> {
  return new Promise((resolve) => {
    lines.once('line', (line) => resolve(JSON.parse(line) as Seen));
    go.stdin?.write('\n');
  });
}

/** Creates, changes and deletes pods and config maps by chance. */
async function churn(count: number, seed: number): Promise<void> {
  const { client } = openCluster({ kubeconfig: host.kubeconfig });
  const random = seededRandom(seed);
  const worker = async (number: number): Promise<void> => {
    const own = `s${seed}-w${number}`;
    const alive: { type: typeof podType | typeof configMapType; name: string }[] = [];
    for (let at = 0; at < count / 8; at += 1) {
      const draw = random();
      const [victim] = draw < 0.4 ? [] : alive.slice(Math.floor(random() * alive.length));
      const key = { namespace: 'default', name: victim?.name ?? '' };
      if (victim === undefined) {
        const type = random() < 0.5 ? podType : configMapType;
        const name = `${own}-${at}`;
        const spec = { schedulerName: 'nobody', containers: [{ name: 'main', image: 'x' }] };
        const body = { metadata: { name, namespace: 'default' }, ...(type === podType && { spec }) };
        await client.create<KubeObject>(type, body as KubeObject);
        alive.push({ type, name });
      } else if (draw < 0.75) {
        const body = { metadata: { annotations: { round: String(at) } } };
        await client.patch<KubeObject>(victim.type, key, { type: 'merge', body });
      } else {
        await client.delete<KubeObject>(victim.type, key, { gracePeriodSeconds: 0 });
        alive.splice(alive.indexOf(victim), 1);
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, number) => worker(number)));
}

async function onServer(): Promise<Pick<Seen, 'pods' | 'configMaps'>> {
  const { client } = openCluster({ kubeconfig: host.kubeconfig });
  const revisions = async (type: typeof configMapType): Promise<Record<string, string>> => {
    const { items } = await client.list<KubeObject>(type);
    return Object.fromEntries(
      items.map(({ metadata: { name, namespace, resourceVersion } }) => [
        `${namespace}/${name}`,
        resourceVersion ?? '',
      ]),
    );
  };
  return { pods: await revisions(podType), configMaps: await revisions(configMapType) };
}

test(
  'informers hold what the server has, after thousands of changes and a restart',
  async () => {
    const config = new KubeConfig();
    config.loadFromFile(host.kubeconfig);
    const api = config.makeApiClient(CoreV1Api);
    const node = makeInformer(config, '/api/v1/configmaps', () => api.listConfigMapForAllNamespaces());
    // client-node leaves it to its user to begin again after an error; this is the way its documentation shows.
    let wanted = true;
    const again = (): void => void (wanted && setTimeout(() => void node.start().catch(again), 200));
    node.on('error', again);
    await node.start();
    const nodeCache = (): Record<string, string> =>
      Object.fromEntries(
        node
          .list()
          .map(({ metadata }) => [`${metadata?.namespace}/${metadata?.name}`, metadata?.resourceVersion ?? '']),
      );
    const agree = async (): Promise<void> => {
      const have = await onServer();
      await expect
        .poll(
          async () => {
            const { pods, configMaps } = await goCaches();
            return { pods, configMaps };
          },
          { timeout: 120_000, interval: 200 },
        )
        .toEqual(have);
      await expect.poll(nodeCache, { timeout: 120_000, interval: 200 }).toEqual(have.configMaps);
    };

    await churn(CHANGES / 2, 1);
    await agree();
    const before = await goCaches();
    expect(before.watchErrors).toBe(0);
    expect(before.events).toBeGreaterThan(CHANGES / 3);

    const port = Number(new URL(host.url).port);
    await host.stop();
    await until('the port to be free again', async () => {
      host = await start(port);
      return true;
    });
    await churn(CHANGES / 2, 2);
    await agree();
    expect((await goCaches()).events).toBeGreaterThan(before.events);
    wanted = false;
    await node.stop();
  },
  400_000 + CHANGES * 60,
);
