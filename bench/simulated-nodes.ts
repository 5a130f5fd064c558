/**
 * What simulated nodes cost: NODES nodes heartbeat and PODS pods come up on them, server and nodes in one process with
 * a store in memory. Prints the CPU used, as a share of one core, while pods start and when all is quiet.
 */
import type { Pod } from '../src/api/generated/core-v1.ts';
import { podType } from '../src/api/resource-types.ts';
import { type Informer, systemClock } from '../src/machinery/runtime/index.ts';
import { startSimulatedNodes } from '../src/nodes/index.ts';
import { startControlPlane } from '../src/testkit/index.ts';

const NODES = Number(process.env['NODES'] ?? 5000);
const PODS = Number(process.env['PODS'] ?? 100_000);
const QUIET_SECONDS = Number(process.env['QUIET_SECONDS'] ?? 60);
const CREATORS = 32;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** CPU time of this process as a share of one core since the last call. */
function meter(): () => { seconds: number; share: number } {
  let cpu = process.cpuUsage();
  let at = process.hrtime.bigint();
  return () => {
    const used = process.cpuUsage(cpu);
    const seconds = Number(process.hrtime.bigint() - at) / 1e9;
    cpu = process.cpuUsage();
    at = process.hrtime.bigint();
    return { seconds, share: (used.user + used.system) / 1e6 / seconds };
  };
}

const print = (what: string, { seconds, share }: { seconds: number; share: number }, more = ''): void => {
  process.stdout.write(`${what.padEnd(34)} ${seconds.toFixed(1).padStart(7)} s  ${share.toFixed(2)} cores${more}\n`);
};

let pods: Informer<Pod> | undefined;
const read = meter();
const plane = await startControlPlane({
  clock: systemClock,
  controllers: [
    (context) => {
      pods = context.informers.of(podType);
      return startSimulatedNodes(context, { count: NODES });
    },
  ],
});
const ready = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isDone())) await wait(200);
};
await ready(async () => {
  const { items } = await plane.client.list({ ...podType, kind: 'Node', plural: 'nodes', namespaced: false });
  return items.filter((node) => (node as { status?: { conditions?: unknown[] } }).status?.conditions).length === NODES;
});
print(`${NODES} nodes registered`, read());

let created = 0;
const create = async (): Promise<void> => {
  while (created < PODS) {
    const index = created++;
    await plane.client.create(podType, {
      metadata: { namespace: 'default', name: `pod-${index}` },
      spec: { nodeName: `node-${index % NODES}`, containers: [{ name: 'main', image: 'web:1' }] },
    });
  }
};
await Promise.all(Array.from({ length: CREATORS }, create));
await ready(() => (pods?.list() ?? []).filter(({ status }) => status?.phase === 'Running').length === PODS);
print(`${PODS} pods created and running`, read());

await wait(5000);
read();
await wait(QUIET_SECONDS * 1000);
const rss = Math.round(process.memoryUsage().rss / 1e6);
print('quiet: heartbeats only', read(), `  ${rss} MB resident`);
await plane.stop();
process.exit(0);
