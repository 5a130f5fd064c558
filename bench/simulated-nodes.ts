/**
 * What simulated nodes cost: NODES nodes heartbeat and PODS pods come up on them, server and nodes in one process with
 * a store in memory. The figure is the CPU time of the whole process as a share of one core. While pods are created that
 * includes creating them, as fast as one thread goes; the rate is told there.
 */
import type { Pod } from '../src/api/generated/core-v1.ts';
import { nodeType, podType } from '../src/api/resource-types.ts';
import { type Informer, systemClock } from '../src/machinery/runtime/index.ts';
import { startSimulatedNodes } from '../src/nodes/index.ts';
import { startControlPlane } from '../src/testkit/index.ts';
import { report } from './report.ts';

const NODES = Number(process.env['NODES'] ?? 5000);
const PODS = Number(process.env['PODS'] ?? 100_000);
const QUIET_SECONDS = Number(process.env['QUIET_SECONDS'] ?? 60);
const CREATORS = 32;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Spent {
  readonly seconds: number;
  readonly share: number;
}

/** CPU time of this process since the last call. */
function meter(): () => Spent {
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

const under = ({ share }: Spent) => ({ target: 'under one core', met: share < 1 });
const spell = ({ seconds, share }: Spent): string => `${share.toFixed(2)} cores over ${seconds.toFixed(0)} s`;

export async function benchSimulatedNodes(): Promise<void> {
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
  const until = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isDone())) await wait(500);
  };
  await until(async () => {
    const { items } = await plane.client.list(nodeType);
    return items.filter(({ status }) => status?.nodeInfo !== undefined).length >= NODES;
  });
  report(`${NODES} simulated nodes register`, spell(read()));

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
  await until(() => (pods?.list() ?? []).every(({ status }) => status?.phase === 'Running'));
  const starting = read();
  report(
    `${PODS} pods are created and run on them`,
    `${Math.round(PODS / starting.seconds)} pods/s, ${spell(starting)}`,
    under(starting),
  );

  await wait(5000);
  read();
  await wait(QUIET_SECONDS * 1000);
  const quiet = read();
  const resident = Math.round(process.memoryUsage().rss / 1e6);
  report('all quiet, heartbeats only', `${spell(quiet)}, ${resident} MB resident`, under(quiet));
  await plane.stop();
}
