/** `quorate simulate`: what would happen, played on a snapshot with simulated time. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { withOutputFlag } from '../shared/flags.ts';
import { someDuration, wholeNumber } from '../shared/parse.ts';
import { readyAfterOption } from '../shared/ready-after.ts';
import type { SimulateFlags } from './run.ts';

export function register(program: Command): void {
  const simulate = program
    .command('simulate')
    .description('Play drains, upgrades, scale-downs and node failures on a snapshot, in simulated time')
    .argument('<file>', 'a snapshot, as quorate snapshot makes it')
    .option('--drain <nodes...>', 'drain these nodes')
    .option('--upgrade', 'drain every node; each comes back empty after --node-downtime')
    .option('--scale-down <workload=replicas...>', 'such as deployment/web=2 or team-a/lws/llm=1')
    .option('--rollout <workload...>', 'a new template for these, such as statefulset/db or team-a/lws/llm')
    .option('--replace <nodes...>', 'new nodes of the same kind come first; then these are drained and deleted')
    .addOption(span('--node-start <duration>', 'how long a new node takes to be ready', 90_000, '90s'))
    .option('--spot <node=notice...>', 'these nodes are taken away after a notice, such as node-2=2m (the default)')
    .option('--wait <duration>', 'let time pass, such as for CronJobs', someDuration)
    .option('--fail <nodes...>', 'these nodes lose power')
    .option('--recover-after <duration>', 'failed nodes get power again after this long (default: never)', someDuration)
    .addOption(span('--node-downtime <duration>', 'how long an upgraded node is away', 60_000, '1m'))
    .addOption(readyAfterOption({ defaultMs: 0, byWorkload: new Map() }, 'at once'))
    .addOption(new Option('--order <order>', 'how nodes are drained').choices(['plan', 'node-by-node']).default('plan'))
    .addOption(span('--for <duration>', 'stop after this much simulated time', 4 * 3_600_000, '4h'))
    .addOption(span('--step <duration>', 'how often to look', 1000, '1s'))
    .option('--seed <number>', 'the same seed gives the same result', wholeNumber, 1)
    .option('--out <file>', 'also draw the timeline: a picture as .svg or .png, a whole report as .html', pictureFile);
  withOutputFlag(simulate)
    .addHelpText(
      'after',
      `
Examples:
  quorate simulate snapshot.json --drain node-1 node-2 --ready-after 5m
  quorate simulate snapshot.json --upgrade --ready-after 1m llm=20m --out a.html
  quorate simulate snapshot.json --upgrade --order node-by-node
  quorate simulate snapshot.json --fail node-3 --recover-after 10m
  quorate simulate snapshot.json --scale-down deployment/web=2 -o json

Exit codes:
  0  no budget was broken
  1  anything else: no such file or node, not a snapshot
  3  a budget was broken, or the work could not be finished
  6  cannot tell: whoever took the snapshot was not allowed to read it all`,
    )
    .action(async (file: string, flags: SimulateFlags) => {
      const { runSimulate } = await import('./run.ts');
      process.exitCode = await runSimulate(file, flags);
    });
}

function span(flags: string, description: string, ms: number, shown: string): Option {
  return new Option(flags, description).argParser(someDuration).default(ms, shown);
}

function pictureFile(file: string): string {
  if (!/\.(svg|png|html)$/i.test(file)) {
    throw new InvalidArgumentError('It must end in .svg or .png for a picture, or in .html for a report.');
  }
  return file;
}
