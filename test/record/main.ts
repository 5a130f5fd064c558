/**
 * `npm run test:record -- [--days 30] [--nodes 200] [--seed 1] [--minutes 60] [--every 24]`: says after so many
 * simulated hours how it stands; exits with 1 where something is wrong.
 */
import { parseArgs } from 'node:util';
import { type Played, play } from './play.ts';

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '30' },
    nodes: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '0' },
    every: { type: 'string', default: '24' },
  },
});
const begunAt = Date.now();
const minutes = Number(values.minutes);

function say({ done, entries, hours, problems, taken, voluntary, went }: Played): void {
  const seconds = ((Date.now() - begunAt) / 1000).toFixed(0).padStart(5);
  const processor = (process.cpuUsage().user / 1e6).toFixed(0);
  const acts = [...done].map(([name, count]) => `${name} ${count}`).join(', ');
  process.stdout.write(
    `${seconds} s (${processor} s of processor)  ${hours} h: ${went} pods went, ${taken} of them taken; ${voluntary} gangs let go; ${entries} entries; ${problems.length} wrong (${acts})\n`,
  );
  for (const problem of problems.slice(0, 20)) process.stdout.write(`  ${problem}\n`);
}

const played = await play({
  hours: Number(values.days) * 24,
  nodes: Number(values.nodes),
  seed: Number(values.seed),
  everyHours: Number(values.every),
  told(sofar) {
    say(sofar);
    return minutes === 0 || Date.now() - begunAt < minutes * 60_000;
  },
});
say(played);
process.exit(played.problems.length === 0 ? 0 : 1);
