/**
 * What simulated nodes cost: NODES nodes heartbeat and PODS pods come up on them, half of them at a steady RATE, half as
 * fast as they can be created. Once as `quorate nodes`, whose process does nothing else; once in the same process as the
 * API server and whoever creates the pods, as in `quorate up`. Flat out, the share of a core says how busy the one
 * thread is and not what a pod costs, so the processor time per pod stands beside it.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { nodeType, podType } from '../src/api/resource-types.ts';
import {
  type Client,
  defineController,
  type Informer,
  type Informers,
  systemClock,
} from '../src/machinery/runtime/index.ts';
import { freezeSharedObjects } from '../src/machinery/values/index.ts';
import type { Node, Pod } from '../src/api/generated/core-v1.ts';
import { createSimulatedNodes } from '../src/nodes/index.ts';
import { startControlPlane } from '../src/testkit/index.ts';
import { cpuSecondsOf, meter, ownCpuSeconds, type Spent } from './processor-time.ts';
import { report } from './report.ts';
import { command } from './scheduling/hosts.ts';

const NODES = Number(process.env['NODES'] ?? 5000);
const PODS = Number(process.env['PODS'] ?? 100_000);
const RATE = Number(process.env['RATE'] ?? 500);
const QUIET_SECONDS = Number(process.env['QUIET_SECONDS'] ?? 30);
const CREATORS = 32;

/** Copies to look at: asking the server each time would cost more than what is measured. */
interface Seen {
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
}

const follow = (informers: Informers): Seen => ({ nodes: informers.of(nodeType), pods: informers.of(podType) });

/** The processes to judge, and a way to see how far the pods are. */
interface Subject {
  readonly name: string;
  readonly client: Client;
  readonly cpuSeconds: () => number;
  readonly residentMB: () => number;
  readonly seen: Seen;
  readonly stop: () => Promise<void>;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await wait(500);
}

export async function benchSimulatedNodes(): Promise<void> {
  await measure(await nodesAlone());
  await measure(await allInOne());
}

/** Over HTTPS, as against any cluster; the server is in this process and not counted. */
async function nodesAlone(): Promise<Subject> {
  let seen: Seen | undefined;
  const plane = await startControlPlane({
    clock: systemClock,
    port: 0,
    controllers: [
      defineController({
        name: 'bench',
        deps({ informers }) {
          seen = follow(informers);
        },
      }),
    ],
  });
  const args = [...command, 'nodes', '--count', String(NODES), '--kubeconfig', plane.kubeconfig];
  const nodes = spawn(process.execPath, [...(process.env['NODE_FLAGS']?.split(' ') ?? []), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const pid = nodes.pid ?? 0;
  return {
    name: 'quorate nodes',
    client: plane.client,
    seen: seen as unknown as Seen,
    cpuSeconds: () => cpuSecondsOf([pid]),
    residentMB: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000,
    async stop() {
      const ended = new Promise((resolve) => nodes.once('exit', resolve));
      nodes.kill('SIGTERM');
      await ended;
      await plane.stop();
    },
  };
}

async function allInOne(): Promise<Subject> {
  let seen: Seen | undefined;
  const plane = await startControlPlane({
    clock: systemClock,
    controllers: [
      createSimulatedNodes({ count: NODES }),
      defineController({
        name: 'bench',
        deps({ informers }) {
          seen = follow(informers);
        },
      }),
    ],
  });
  return {
    name: 'server, nodes and clients in one process',
    client: plane.client,
    seen: seen as unknown as Seen,
    cpuSeconds: ownCpuSeconds,
    residentMB: () => process.memoryUsage().rss / 1e6,
    stop: () => plane.stop(),
  };
}

async function measure({ client, cpuSeconds, name, residentMB, seen, stop }: Subject): Promise<void> {
  // What the testkit freezes for tests costs time that no user spends.
  freezeSharedObjects(false);
  console.log(`${name}: ${NODES} nodes, ${PODS} pods`);
  const read = meter(cpuSeconds);
  await until(() => seen.nodes.list().filter(({ status }) => status?.nodeInfo !== undefined).length >= NODES);
  report('  nodes register', spell(read()));

  let created = 0;
  /** Creates up to `total` pods and waits until they run. */
  const start = async (total: number, perSecond: number): Promise<void> => {
    const [from, began] = [created, performance.now()];
    const create = async (): Promise<void> => {
      while (created < total) {
        const index = created++;
        const early = began + ((index - from) / perSecond) * 1000 - performance.now();
        if (early > 1) await wait(early);
        await client.create(podType, {
          metadata: { namespace: 'default', name: `pod-${index}` },
          spec: { nodeName: `node-${index % NODES}`, containers: [{ name: 'main', image: 'web:1' }] },
        });
      }
    };
    await Promise.all(Array.from({ length: CREATORS }, create));
    await until(() => seen.pods.size >= total && seen.pods.list().every(({ status }) => status?.phase === 'Running'));
  };
  const half = Math.floor(PODS / 2);
  const phases: { label: string; count: number; spent: Spent }[] = [];
  for (const [label, total, perSecond] of [
    [`asked for ${RATE} pods/s`, half, RATE],
    ['flat out', PODS, Number.POSITIVE_INFINITY],
  ] as const) {
    const before = created;
    read();
    await start(total, perSecond);
    phases.push({ label, count: total - before, spent: read() });
  }
  await wait(5000);
  read();
  await wait(QUIET_SECONDS * 1000);
  const quiet = read();
  for (const { count, label, spent } of phases) {
    // Heartbeats go on meanwhile, at the same pace however long the pods take.
    const micros = Math.round(((spent.cpuSeconds - quiet.share * spent.seconds) / count) * 1e6);
    report(
      `  pods start, ${label}`,
      `${Math.round(count / spent.seconds)} pods/s, ${spell(spent)}: ${micros} us of processor time per pod`,
      under(spent),
    );
    report(`    which at ${RATE} pods/s makes`, `${(quiet.share + (RATE * micros) / 1e6).toFixed(2)} cores`);
  }
  report('  all quiet, heartbeats only', `${spell(quiet)}, ${Math.round(residentMB())} MB resident`, under(quiet));
  await stop();
}

const under = ({ share }: Spent) => ({ target: 'under one core', met: share < 1 });
const spell = ({ seconds, share }: Spent): string => `${share.toFixed(2)} cores over ${seconds.toFixed(0)} s`;
