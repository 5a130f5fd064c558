/**
 * `npm run test:drain-plan -- [--nodes 200] [--drain 40] [--gangs 100] [--start-seconds 30]`: a fleet of simulated GPU
 * nodes with gangs that the real kube-scheduler places; some nodes are drained by `quorate plan drain` and `quorate drain
 * --plan`. Ends with 1 unless every gang went down at most once, none stays down, and it took as long as the plan says,
 * within a fifth.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startNodes } from '../../src/app/index.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import type { PlannedDrain } from '../../src/tasks/index.ts';
import { runProgram } from '../cluster/program.ts';
import * as stage from '../cluster/stage.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import { fleetObjects, NODE_SHAPE, watchGangs, ZONES } from './gpu-fleet.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '200' },
    drain: { type: 'string', default: '40' },
    gangs: { type: 'string', default: '100' },
    'start-seconds': { type: 'string', default: '30' },
  },
});
const count = Number(values.nodes);
const gangs = Number(values.gangs);
const startSeconds = Number(values['start-seconds']);
const ERROR = 0.2;

const begunAt = Date.now();
const say = (text: string): boolean =>
  process.stdout.write(`${((Date.now() - begunAt) / 1000).toFixed(0).padStart(5)} s  ${text}\n`);
const wrong: string[] = [];

const plane = await stage.startPlane({
  ...stage.servingGroups('TopologyAwareWorkloadScheduling=true'),
  flags: {
    'kube-controller-manager': ['--kube-api-qps=500', '--kube-api-burst=1000'],
    'kube-scheduler': ['--kube-api-qps=500', '--kube-api-burst=1000'],
    etcd: ['--unsafe-no-fsync'],
  },
});
const shape = { count, zones: ZONES, shape: NODE_SHAPE };
const nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: shape });
const client = createNetworkClient(plane, 'drain-plan');
await stage.prepareCluster(plane);
const operator = await stage.startReplica(plane, 'only', 'adopt');
await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
const watch = watchGangs(client, gangs);
try {
  await stage.apply(plane, ...fleetObjects({ gangs, startSeconds }));
  await stage.until('every gang to serve', () => watch.down().length === 0, 300_000);
  say(`${count} nodes, ${gangs} gangs serve`);
  await drain();
} catch (error) {
  wrong.push(String(error));
} finally {
  watch.stop();
  await operator.stop();
  nodes.stop();
  await plane.stop();
}
for (const one of wrong) say(`WRONG: ${one}`);
process.exit(wrong.length === 0 ? 0 : 1);

async function drain(): Promise<void> {
  // Every fifth node, so that all zones lose some.
  const every = Math.floor(count / Number(values.drain));
  const going = Array.from({ length: Number(values.drain) }, (_, at) => `node-${at * every}`);
  const kubeconfig = ['--kubeconfig', plane.kubeconfig];
  const times = ['--ready-after', `${startSeconds}s`];
  const planned = await runProgram('plan', 'drain', ...going, ...times, '-o', 'json', ...kubeconfig);
  const file = join(plane.folder, 'plan.json');
  writeFileSync(file, planned.stdout);
  const { plan } = JSON.parse(planned.stdout) as PlannedDrain;
  const predicted = plan.time?.seconds ?? 0;
  const moved = new Set(
    plan.steps.flatMap(({ evictions }) => evictions.filter((one) => one.disrupts).map((one) => one.unit)),
  );
  say(
    `plan: ${plan.steps.length} steps, ${moved.size} gangs go down, about ${predicted} s, ${plan.blocked.length} blocked`,
  );
  for (const { text, unit } of plan.blocked.slice(0, 5)) say(`  blocked: ${unit}: ${text ?? ''}`);
  if (plan.blocked.length > 0 || planned.code !== 0) wrong.push(`the plan leaves ${plan.blocked.length} behind`);
  watch.count();
  const began = Date.now();
  const drained = await runProgram('drain', '--plan', file, '--timeout', '20m', ...kubeconfig);
  const took = (Date.now() - began) / 1000;
  if (drained.code !== 0) wrong.push(`the drain ended with ${drained.code}: ${drained.stderr.slice(-600)}`);
  await stage
    .until('every gang to serve again', () => watch.down().length === 0, 120_000)
    .catch(() => {
      wrong.push(`down at the end: ${watch.down().join(', ')}`);
    });
  const error = Math.abs(predicted - took) / took;
  const often = [...watch.outages()].filter(([, times]) => times > 1);
  say(
    `drained in ${took.toFixed(0)} s, ${(error * 100).toFixed(0)} % beside the plan; ${watch.outages().size} gangs went down, ${often.length} more than once`,
  );
  if (often.length > 0)
    wrong.push(`down more than once: ${often.map(([name, times]) => `${name} ${times}`).join(', ')}`);
  if (error > ERROR) wrong.push(`predicted ${predicted} s, measured ${took.toFixed(0)} s`);
}
