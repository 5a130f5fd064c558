/**
 * `npm run test:simulate -- --seeds N [--from S] [--host embedded|cluster]`: plays so many runs,
 * one after another. A run that breaks a rule is
 * played again, to see that it breaks the same way, and made smaller. `--trace` prints every step of one seed, `--plant
 * NAME` plants a bug.
 */
import { parseArgs } from 'node:util';
import { onDefect } from '../../src/machinery/runtime/index.ts';
import { freezeSharedObjects } from '../../src/machinery/values/index.ts';
import { drawPlan, type Plan } from './plan.ts';
import { PLANTED } from './planted.ts';
import { shrink } from './shrink.ts';
import { type Outcome, simulate, type SimulateOptions } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    plant: { type: 'string' },
    host: { type: 'string', default: 'embedded' },
  },
});
const seeds = Number(values.seeds);
const from = Number(values.from);
if (!Number.isInteger(seeds) || seeds < 1) throw new Error('--seeds is a number of runs, such as --seeds 1000');
if (!Number.isInteger(from)) throw new Error('--from is the first seed, such as --from 1');
const { host } = values;
if (host !== 'embedded' && host !== 'cluster') throw new Error('--host is embedded or cluster');
const names = Object.keys(PLANTED);
if (values.plant !== undefined && !names.includes(values.plant))
  throw new Error(`--plant is one of ${names.join(', ')}`);
const planted = values.plant === undefined ? undefined : PLANTED[values.plant as keyof typeof PLANTED];

const EVERY = 50;

freezeSharedObjects();
const defects: Error[] = [];
onDefect((error) => defects.push(error));
process.on('unhandledRejection', (error) => defects.push(error instanceof Error ? error : new Error(String(error))));

async function run(plan: Plan, options: SimulateOptions = {}): Promise<Outcome> {
  const outcome = await simulate(plan, { planted, ...options });
  const [defect] = defects.splice(0);
  if (defect === undefined) return outcome;
  return { ...outcome, violation: { rule: 'defect', text: defect.stack ?? defect.message, atMs: 0 } };
}

const totals = { commits: 0, events: 0, evictions: 0, drains: 0 };
const faults = new Map<string, number>();
const broken: number[] = [];
const begin = performance.now();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function explain(plan: Plan, { trace, violation }: Outcome): Promise<void> {
  say(`seed ${plan.seed} broke "${violation?.rule}" at ${violation?.atMs} ms: ${violation?.text}`);
  const again = await run(plan);
  say(again.trace === trace ? '  played again: the same trace' : '  PLAYED AGAIN: ANOTHER TRACE');
  const smaller = await shrink(plan, async (other) => (await run(other)).violation?.rule === violation?.rule);
  say(`  made smaller, ${smaller.steps.length} of ${plan.steps.length} steps: ${JSON.stringify(smaller)}`);
}

for (let seed = from; seed < from + seeds; seed += 1) {
  const plan = drawPlan(seed, host);
  const outcome = await run(plan, values.trace ? { tell: say } : {});
  for (const name of ['commits', 'events', 'evictions', 'drains'] as const) totals[name] += outcome[name];
  for (const [fault, count] of outcome.faults) faults.set(fault, (faults.get(fault) ?? 0) + count);
  if (outcome.violation !== undefined) {
    broken.push(seed);
    await explain(plan, outcome);
  }
  if ((seed - from + 1) % EVERY === 0) process.stderr.write(`${seed - from + 1} seeds, ${broken.length} broken\n`);
}
const seconds = Math.round((performance.now() - begin) / 1000);
say(
  `${seeds} seeds from ${from} in ${seconds} s: ${broken.length} broken${broken.length > 0 ? ` (${broken.join(', ')})` : ''}`,
);
say(
  `${totals.commits} commits, ${totals.events} events heard, ${totals.evictions} evictions, ${totals.drains} drains ended`,
);
for (const [fault, count] of [...faults].sort(([one], [other]) => one.localeCompare(other)))
  say(`  ${fault}: ${count}`);
process.exit(broken.length === 0 ? 0 : 1);
