/**
 * `npm run bench:simulate -- --nodes 1000 --pods 20000 --seed 1`: how long a rolling upgrade of a fleet of gangs takes to
 * simulate, and whether it ends as it must. With `--twice` it is played again: the same seed must tell the same story.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { simulate, type SimulationResult, type Snapshot } from '../../src/tasks/index.ts';
import { snapshotOfFleet } from './fleet.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    pods: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    /** Keeps the fleet there, and takes it from there the next time. */
    fleet: { type: 'string' },
    twice: { type: 'boolean', default: false },
    hours: { type: 'string', default: '48' },
  },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const LIMIT_SECONDS = 120;

async function fleet(): Promise<Snapshot> {
  const file = values.fleet;
  if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Snapshot;
  const snapshot = await snapshotOfFleet({ nodes: Number(values.nodes), pods: Number(values.pods) });
  if (file !== undefined) writeFileSync(file, JSON.stringify(snapshot));
  return snapshot;
}

async function play(snapshot: Snapshot): Promise<{ result: SimulationResult; seconds: number }> {
  const began = performance.now();
  let told = began;
  const result = await simulate(snapshot, {
    actions: [{ kind: 'upgrade' }],
    order: 'plan',
    nodeDowntimeMs: 60_000,
    reload: { defaultMs: 30_000, byWorkload: new Map() },
    limitMs: Number(values.hours) * 3_600_000,
    stepMs: 1000,
    seed: Number(values.seed),
    onProgress(simulatedMs) {
      if (performance.now() - told < 10_000) return;
      told = performance.now();
      process.stderr.write(`${Math.round((told - began) / 1000)} s: ${Math.round(simulatedMs / 1000)} s simulated\n`);
    },
  });
  return { result, seconds: (performance.now() - began) / 1000 };
}

const digest = (result: SimulationResult): string =>
  createHash('sha256').update(JSON.stringify(result)).digest('hex').slice(0, 12);

const began = performance.now();
const snapshot = await fleet();
say(`fleet: ${snapshot.objects.length} objects in ${Math.round((performance.now() - began) / 1000)} s`);
const { result, seconds } = await play(snapshot);
const memory = (process.resourceUsage().maxRSS / 1024 / 1024).toFixed(2);
const down = result.disruptedOnce.length;
say(
  `rolling upgrade of ${result.nodes} nodes and ${result.pods.before.total} pods: ${seconds.toFixed(1)} s, ${memory} GB`,
);
say(`${result.end} after ${result.seconds} simulated s: ${result.actions.map(({ outcome }) => outcome).join(', ')}`);
say(`groups down once ${down}, more often ${result.disruptedAgain.length}; pods ${JSON.stringify(result.pods)}`);
say(
  `budgets broken: ${result.budgets.filter(({ violations }) => violations.length > 0).length}; story ${digest(result)}`,
);
const wrong: string[] = [];
if (result.end !== 'Finished') wrong.push(`it ended ${result.end}`);
if (result.pods.after.ready !== result.pods.before.total) wrong.push('not all pods are ready at the end');
if (seconds > LIMIT_SECONDS) wrong.push(`it took ${seconds.toFixed(0)} s, and may take ${LIMIT_SECONDS}`);
if (values.twice) {
  const again = await play(snapshot);
  say(`again: ${again.seconds.toFixed(1)} s, story ${digest(again.result)}`);
  if (digest(again.result) !== digest(result)) wrong.push('the same seed told another story');
}
for (const one of wrong) say(`WRONG: ${one}`);
process.exit(wrong.length === 0 ? 0 : 1);
