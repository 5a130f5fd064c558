/** `quorate drain --plan`: carries out a saved plan; what is done is kept beside the plan. */
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
import { type DrainFlags, progressReport } from './run.ts';
import { tellLast } from '../shared/plan-text.ts';
import { formatOutput } from '../shared/output.ts';

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
      const fresh = flags.replan === true ? await replan(cluster.client, file) : undefined;
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

/** The first interrupt asks for a pause, the second ends the program. */
function watchForPause(onPause: () => void): { isPaused: () => boolean; stop: () => void } {
  let paused = false;
  const pause = (): void => {
    if (paused) process.exit(130);
    paused = true;
    onPause();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pause);
  return {
    isPaused: () => paused,
    stop: () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, pause);
    },
  };
}

/** Plans the same nodes again, for the cluster as it is now. */
function replan(client: Client, file: string): Promise<PlannedDrain> {
  const { nodes, nodesReturn } = readPlanFile(file);
  return planClusterDrain(client, { nodes, selector: undefined, all: false, nodesReturn, now: Date.now() });
}

function keepPlan(file: string, planned: PlannedDrain): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(planned, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

async function uncordon(client: Client, name: string): Promise<void> {
  await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable: null } } });
}

/** The command that goes on with a plan as it was begun. */
export function resumeCommand(file: string, flags: DrainFlags): string {
  const given: readonly (readonly [string, string | number | boolean | undefined])[] = [
    ['--kubeconfig', flags.kubeconfig],
    ['--context', flags.context],
    ['--uncordon', flags.uncordon],
    ['--force', flags.force],
    ['--delete-emptydir-data', flags.deleteEmptydirData],
    ['--grace-period', flags.gracePeriod],
    ['--skip-wait-for-delete-timeout', flags.skipWaitForDeleteTimeout || undefined],
    ['--timeout', flags.timeout > 0 ? `${flags.timeout / 1000}s` : undefined],
    ['-o', flags.output === 'text' ? undefined : flags.output],
  ];
  const words = given.flatMap(([name, value]) =>
    value === undefined || value === false ? [] : value === true ? [name] : [name, quoted(String(value))],
  );
  return ['quorate drain --plan', quoted(file), ...words].join(' ');
}

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
        ? [`Drained in ${steps} steps.`, ...(last === undefined ? [] : tellLast(last))]
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
