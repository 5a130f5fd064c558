/** `quorate simulate`: what would happen, played on a snapshot with simulated time. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../machinery/values/index.ts';
import { OUTPUT_FORMATS } from './output.ts';
import { wholeNumber } from './parse.ts';
import type { ReadyAfter, SimulateFlags } from './simulate-run.ts';

export function register(program: Command): void {
  program
    .command('simulate')
    .description('Play drains, upgrades, scale-downs and node failures on a snapshot, in simulated time')
    .argument('<file>', 'a snapshot, as quorate snapshot makes it')
    .option('--drain <nodes...>', 'drain these nodes')
    .option('--upgrade', 'drain every node; each comes back empty after --node-downtime')
    .option('--scale-down <workload=replicas...>', 'such as deployment/web=2 or team-a/lws/llm=1')
    .option('--fail <nodes...>', 'these nodes lose power')
    .option('--recover-after <duration>', 'failed nodes get power again after this long (default: never)', duration)
    .option('--node-downtime <duration>', 'how long an upgraded node is away', duration, 60_000)
    .option(
      '--ready-after <[workload=]duration...>',
      'how long new pods take until they are ready, such as 5m or llm=20m (default: at once)',
      readyAfter,
      { defaultMs: 0, byWorkload: new Map() },
    )
    .addOption(new Option('--order <order>', 'how nodes are drained').choices(['plan', 'node-by-node']).default('plan'))
    .option('--for <duration>', 'stop after this much simulated time', duration, 4 * 3_600_000)
    .option('--step <duration>', 'how often to look', duration, 1000)
    .option('--seed <number>', 'the same seed gives the same story', wholeNumber, 1)
    .option('--svg <file>', 'also draw the timeline')
    .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  quorate simulate snapshot.json --drain node-1 node-2 --ready-after 5m
  quorate simulate snapshot.json --upgrade --ready-after 1m llm=20m --svg a.svg
  quorate simulate snapshot.json --upgrade --order node-by-node
  quorate simulate snapshot.json --fail node-3 --recover-after 10m
  quorate simulate snapshot.json --scale-down deployment/web=2 -o json

Exit codes: 0 no budget was broken, 3 one was, or the work could not be
finished, 6 cannot tell (the snapshot lacks what its taker was not allowed to
read), 1 anything else.`,
    )
    .action(async (file: string, flags: SimulateFlags) => {
      const { runSimulate } = await import('./simulate-run.ts');
      process.exitCode = await runSimulate(file, flags);
    });
}

function duration(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError('It must be a duration such as 30s or 5m.');
  return ms;
}

function readyAfter(text: string, before: ReadyAfter): ReadyAfter {
  const at = text.lastIndexOf('=');
  const ms = duration(text.slice(at + 1));
  if (at < 0) return { ...before, defaultMs: ms };
  return { ...before, byWorkload: new Map([...before.byWorkload, [text.slice(0, at), ms]]) };
}
