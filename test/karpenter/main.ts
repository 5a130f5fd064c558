/**
 * The real Karpenter with its kwok provider consolidates 20 simulated nodes while gangs run on them (PB-27):
 * `npm run test:karpenter -- [--mode adopt|alongside|replace] [--bare]`, with --bare without the operator. Prints what it
 * cost; exits with 1 where more gangs of a budget were down at once than it allows, a pod was taken of the gang that may
 * not go, no gang without a budget moved, or the nodes were not consolidated.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { podDisruptionBudgetType, nodeType } from '../../src/api/resource-types.ts';
import { startNodes } from '../../src/app/index.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  loadKubeconfig,
  silentLogger,
} from '../../src/machinery/runtime/index.ts';
import * as stage from '../cluster/stage.ts';
import { requireKarpenter } from '../kubernetes/binaries.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { type Checker, watchPods } from '../storm/checker.ts';
import { NAMESPACE } from '../storm/gangs.ts';
import { busyPods, FULL_NODES, gangObjects, INSTANCE_TYPES, nodePool, NODES, SCENES } from './scene.ts';

const { values } = parseArgs({
  options: { mode: { type: 'string', default: 'adopt' }, bare: { type: 'boolean', default: false } },
});
const mode = stage.parseMode(values.mode);
/** Karpenter leaves some room: it never takes a node whose pods would not fit elsewhere. */
const CONSOLIDATED = FULL_NODES + 3;
const STEP_MS = 240_000;
const CONSOLIDATION_MS = 900_000;
const OFF = ['--controllers=*,-disruption-controller'];
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Process {
  stop(): Promise<void>;
}

async function startKarpenter(plane: RealControlPlane): Promise<Process> {
  const { definitions, program } = requireKarpenter();
  for (const file of readdirSync(definitions)) await stage.kubectl(plane, 'apply', '-f', join(definitions, file));
  const types = join(plane.folder, 'instance-types.json');
  writeFileSync(types, JSON.stringify(INSTANCE_TYPES));
  const child = spawn(program, [], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      KUBECONFIG: plane.kubeconfig,
      INSTANCE_TYPES_FILE_PATH: types,
      DISABLE_LEADER_ELECTION: 'true',
      METRICS_PORT: '0',
      HEALTH_PROBE_PORT: '0',
    },
  });
  const log = createWriteStream(join(plane.folder, 'karpenter.log'));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const endWithParent = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithParent);
  return {
    async stop() {
      child.kill('SIGKILL');
      await ended;
      process.removeListener('exit', endWithParent);
    },
  };
}

const nodesOf = async (client: Client): Promise<number> => (await client.list(nodeType)).items.length;

const uidsOf = (checker: Checker, name: string): string[] =>
  checker
    .pods()
    .filter(({ metadata }) => metadata.labels?.['budget'] === name)
    .map(({ metadata }) => metadata.uid ?? '')
    .toSorted();

/** Twenty nodes, each half taken by a pod of its own and half by members of gangs. */
async function fill(plane: RealControlPlane, client: Client): Promise<Checker> {
  await stage.until('Karpenter to take the node pool', async () => {
    await stage.apply(plane, ...nodePool('Never'));
    return true;
  });
  await stage.apply(plane, busyPods());
  await stage.until(`${NODES} nodes`, async () => (await nodesOf(client)) === NODES, STEP_MS);
  await stage.until(
    'a busy pod on each',
    async () =>
      (await stage.kubectl(plane, 'get', 'rs', 'busy', '-o', 'jsonpath={.status.readyReplicas}')) === String(NODES),
    STEP_MS,
  );
  await stage.apply(plane, ...gangObjects(stage.groupVersion));
  const checker = await watchPods(client, SCENES);
  await stage.until('all gangs to be ready', () => checker.areAllReady(), STEP_MS);
  await stage.until('the budgets to have their numbers', async () => {
    const { items } = await client.list(podDisruptionBudgetType, { namespace: NAMESPACE });
    return items.every(({ metadata, status }) => (status?.disruptionsAllowed ?? 0) > 0 || metadata.name === 'kept');
  });
  return checker;
}

interface Outcome {
  readonly nodes: number;
  readonly keptMoved: boolean;
  readonly freeMoved: boolean;
  readonly isWhole: boolean;
}

/** The busy pods go; so do the nodes, and the gangs with them, until few are left. */
async function consolidate(plane: RealControlPlane, client: Client, checker: Checker): Promise<Outcome> {
  const before = { kept: uidsOf(checker, 'kept'), free: uidsOf(checker, 'free') };
  checker.begin();
  await stage.kubectl(plane, 'delete', 'rs', 'busy');
  await stage.apply(plane, ...nodePool('0s'));
  const started = Date.now();
  let nodes = NODES;
  const isOver = async (): Promise<boolean> => {
    const now = await nodesOf(client);
    if (now !== nodes) say(`${Math.round((Date.now() - started) / 1000)} s: ${now} nodes`);
    nodes = now;
    const left = (await client.list(nodeType)).items;
    const going = left.some(({ spec }) => spec?.taints?.some(({ key }) => key === 'karpenter.sh/disrupted'));
    return nodes <= CONSOLIDATED && !going && checker.areAllReady();
  };
  const isWhole = await stage.until('the nodes to be consolidated', isOver, CONSOLIDATION_MS).then(
    () => true,
    () => false,
  );
  return {
    nodes,
    keptMoved: uidsOf(checker, 'kept').join() !== before.kept.join(),
    freeMoved: uidsOf(checker, 'free').join() !== before.free.join(),
    isWhole,
  };
}

function judge(checker: Checker, { freeMoved, isWhole, keptMoved, nodes }: Outcome): string[] {
  for (const { gangs, mayGo, name, spec } of SCENES) {
    const allowed = spec === undefined ? 'no budget' : `${JSON.stringify(spec)} allows ${mayGo}`;
    say(`${name}: ${gangs.length} gangs, ${allowed}, at most ${checker.worst.get(name) ?? 0} down at once`);
  }
  say(`${checker.outages()} outages of gangs; ${NODES} nodes became ${nodes}`);
  return [
    ...new Set(checker.violations),
    ...(keptMoved ? ['a pod of the gang that may not go was taken'] : []),
    ...(freeMoved ? [] : ['no pod moved of the gangs that no budget protects']),
    ...(isWhole ? [] : [`the nodes were not consolidated to ${CONSOLIDATED} with all gangs ready`]),
  ];
}

async function run(): Promise<string[]> {
  const flags = mode === 'replace' ? { flags: { 'kube-controller-manager': OFF } } : {};
  const plane = await stage.startPlane(flags);
  const ends: (() => void | Promise<void>)[] = [() => plane.stop()];
  try {
    const nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 0 } });
    ends.push(() => nodes.stop());
    const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
    ends.push(() => transport.close());
    const client = createClient({ transport: transport.send, userAgent: 'karpenter-test' });
    await stage.prepareCluster(plane);
    if (!values.bare) {
      const operator = await stage.startReplica(plane, 'only', mode);
      ends.push(() => operator.stop());
      await stage.registerWebhooks(plane, operator, stage.groupKinds, mode);
    }
    const karpenter = await startKarpenter(plane);
    ends.push(() => karpenter.stop());
    const checker = await fill(plane, client);
    ends.push(() => checker.stop());
    return judge(checker, await consolidate(plane, client, checker));
  } catch (error) {
    const log = readFileSync(join(plane.folder, 'karpenter.log'), 'utf8').split('\n').slice(-20).join('\n');
    say(`the last lines of Karpenter:\n${log}`);
    throw error;
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

const problems = await run();
for (const problem of problems) say(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
