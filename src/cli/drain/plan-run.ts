/** `quorate drain --plan`: carries out a saved plan; what is done is kept beside the plan. */
import { watchForPause } from './pause.ts';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import {
  type ExecuteOutcome,
  type ExecuteResult,
  executePlan,
  planClusterDrain,
  type PlannedDrain,
  readPlanFile,
} from '../../tasks/index.ts';
import { nodeType } from '../../api/resource-types.ts';
import { type Client, systemClock } from '../../machinery/runtime/index.ts';
import { failWith } from '../shared/fail.ts';
import { openCluster } from '../shared/cluster.ts';
import type { DrainFlags } from './flags.ts';
import { progressReport } from './run.ts';
import { tellLast } from '../shared/plan-text.ts';
import { formatOutput } from '../shared/output.ts';
import { count } from '../shared/terminal.ts';

export const PLAN_EXIT_CODES: Readonly<Record<ExecuteOutcome, number>> = {
  Done: 0,
  WouldRun: 0,
  Failed: 1,
  NotEvictable: 1,
  TimedOut: 2,
  MovedOn: 4,
  NoRoom: 4,
  Paused: 5,
};
const BLOCKED = 3;

export async function runDrainPlan(file: string, flags: DrainFlags): Promise<number> {
  try {
    readPlanFile(file);
    const cluster = openCluster(flags);
    const report = progressReport(process.stderr);
    const alive = setInterval(() => {}, 60_000);
    const pause = watchForPause(() => report.step('pausing after what is under way; Ctrl-C again ends at once'));
    try {
      const isDry = (flags.dryRun ?? 'none') !== 'none';
      const fresh = flags.replan === true ? await replan(cluster.client, file, flags) : undefined;
      // A look changes nothing, the plan's file included.
      if (fresh !== undefined && !isDry) keepPlan(file, fresh);
      const planned = fresh ?? readPlanFile(file);
      const progress = new ProgressFile(file);
      const stepsDone = fresh !== undefined && isDry ? 0 : progress.stepsDone;
      const result = await executePlan({ client: cluster.client, clock: systemClock, report }, planned, {
        rules: {
          force: flags.force === true,
          ignoreDaemonSets: true,
          deleteEmptyDirData: flags.deleteEmptydirData === true,
          skipWaitForDeleteTimeoutSeconds: flags.skipWaitForDeleteTimeout,
        },
        gracePeriodSeconds: flags.gracePeriod,
        timeoutMs: flags.timeout,
        dryRun: isDry,
        stepsDone,
        bringBack: flags.uncordon === true ? (node) => uncordon(cluster.client, node) : undefined,
        save: (stepsDone) => progress.save(stepsDone),
        isPaused: pause.isPaused,
      });
      report.end();
      if (result.outcome === 'Done') progress.remove();
      const blocked = planned.plan.blocked.map(({ unit }) => unit);
      process.stdout.write(
        formatOutput(
          { ...result, blocked },
          describe(result, { again: resumeCommand(file, flags), blocked, last: planned.leftForLast }),
          flags.output,
        ),
      );
      const ends = result.outcome === 'Done' || result.outcome === 'WouldRun';
      return ends && blocked.length > 0 ? BLOCKED : PLAN_EXIT_CODES[result.outcome];
    } finally {
      pause.stop();
      clearInterval(alive);
      cluster.close();
    }
  } catch (error) {
    return failWith('drain', error);
  }
}

/** How far a plan has come, in a file beside it. It belongs to that very plan: another one starts from the beginning. */
export class ProgressFile {
  readonly #path: string;
  readonly #plan: string;
  #stepsDone = 0;

  constructor(planFile: string) {
    this.#path = `${planFile}.progress`;
    this.#plan = createHash('sha256').update(readFileSync(planFile)).digest('hex');
    try {
      const { plan, stepsDone } = JSON.parse(readFileSync(this.#path, 'utf8')) as { plan?: string; stepsDone?: number };
      if (plan === this.#plan && Number.isInteger(stepsDone)) this.#stepsDone = stepsDone ?? 0;
    } catch {
      // None yet, or one that a crash has cut short: the plan's pods tell by themselves which of them have gone.
    }
  }

  get stepsDone(): number {
    return this.#stepsDone;
  }

  save(stepsDone: number): void {
    this.#stepsDone = stepsDone;
    writeFileSync(`${this.#path}.new`, `${JSON.stringify({ plan: this.#plan, stepsDone })}\n`);
    renameSync(`${this.#path}.new`, this.#path);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}

/** Plans the same nodes again, for the cluster as it is now. */
function replan(client: Client, file: string, flags: DrainFlags): Promise<PlannedDrain> {
  const { allowExchange, nodes, nodesReturn } = readPlanFile(file);
  return planClusterDrain(client, {
    nodes,
    selector: undefined,
    all: false,
    nodesReturn,
    now: Date.now(),
    allowExchange: allowExchange === true || flags.allowExchange === true,
  });
}

function keepPlan(file: string, planned: PlannedDrain): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(planned, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

async function uncordon(client: Client, name: string): Promise<void> {
  await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable: null } } });
}

type Word = string | number | boolean | undefined;

/** The command that goes on with a plan as it was begun. Every flag has its row, so that none is forgotten. */
export function resumeCommand(file: string, flags: DrainFlags): string {
  const rows: Readonly<Record<keyof DrainFlags, readonly [string, Word | readonly string[]] | undefined>> = {
    kubeconfig: ['--kubeconfig', flags.kubeconfig],
    context: ['--context', flags.context],
    as: ['--as', flags.as],
    asGroup: ['--as-group', flags.asGroup],
    requestTimeout: ['--request-timeout', flags.requestTimeout && seconds(flags.requestTimeout)],
    uncordon: ['--uncordon', flags.uncordon],
    force: ['--force', flags.force],
    deleteEmptydirData: ['--delete-emptydir-data', flags.deleteEmptydirData],
    gracePeriod: ['--grace-period', flags.gracePeriod],
    skipWaitForDeleteTimeout: ['--skip-wait-for-delete-timeout', flags.skipWaitForDeleteTimeout || undefined],
    timeout: ['--timeout', flags.timeout > 0 ? seconds(flags.timeout) : undefined],
    output: ['-o', flags.output === 'text' ? undefined : flags.output],
    // A plan has its own nodes and order, leaves DaemonSets alone, and was planned anew already where that was asked.
    plan: undefined,
    selector: undefined,
    replan: undefined,
    allowExchange: undefined,
    detach: undefined,
    dryRun: undefined,
    bestEffort: undefined,
    podSelector: undefined,
    ignoreDaemonsets: undefined,
    namespace: undefined,
  };
  const words = Object.values(rows).flatMap(([name, given] = ['', undefined]) =>
    (Array.isArray(given) ? (given as string[]) : [given as Word]).flatMap((value) =>
      value === undefined || value === false ? [] : value === true ? [name] : [name, quoted(String(value))],
    ),
  );
  return ['quorate drain --plan', quoted(file), ...words].join(' ');
}

const seconds = (ms: number): string => `${ms / 1000}s`;

/** As a shell takes it for one word. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

function describe(
  { outcome, problems, steps, stepsDone }: ExecuteResult,
  { again, blocked, last }: { again: string; blocked: readonly string[]; last: string | undefined },
): string[] {
  const shown = problems.slice(0, 10).map((problem) => `  ${problem}`);
  if (problems.length > shown.length) shown.push(`  and ${problems.length - shown.length} more`);
  switch (outcome) {
    case 'Done':
      return blocked.length === 0
        ? [`Drained in ${count(steps, 'step')}.`, ...(last === undefined ? [] : tellLast(last))]
        : [`All ${steps} steps are done; not in the plan, because they cannot go: ${blocked.join(', ')}.`];
    case 'WouldRun':
      return [
        `${stepsDone} of ${steps} steps are done, ${steps - stepsDone} would be run; nothing was touched.`,
        ...shown,
        ...(blocked.length === 0 ? [] : [`Not in the plan, because they cannot go: ${blocked.join(', ')}.`]),
      ];
    case 'Paused':
      return [`Paused after ${stepsDone} of ${steps} steps; nodes stay cordoned. To go on: ${again}`];
    case 'TimedOut':
      return [`Time is up after ${stepsDone} of ${steps} steps. To go on: ${again}`];
    case 'MovedOn':
      return [
        'The cluster has changed since the plan was made; nothing was touched.',
        ...shown,
        `To plan again and go on: ${again} --replan`,
      ];
    case 'NoRoom':
      return [
        `Stopped after ${stepsDone} of ${steps} steps: what would go next has no place to go any more. Nothing of it was evicted.`,
        ...shown,
        `To plan again and go on: ${again} --replan`,
      ];
    case 'NotEvictable':
      return ['Nothing was touched: some pods would be lost.', ...shown];
    case 'Failed':
      return [`Failed after ${stepsDone} of ${steps} steps.`, ...shown];
  }
}
