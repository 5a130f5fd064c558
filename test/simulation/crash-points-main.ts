/** `npm run test:crash-points [-- --every N] [--process NAME] [--host embedded|cluster] [--story drains|notice]`: every crash point of the story, or one of so many. */
import { parseArgs } from 'node:util';
import { onDefect } from '../../src/machinery/runtime/index.ts';
import { freezeSharedObjects } from '../../src/machinery/values/index.ts';
import { findCrashPoints, nameOf, tryCrashPoint } from './crash-points.ts';

const { values } = parseArgs({
  options: {
    every: { type: 'string', default: '1' },
    process: { type: 'string' },
    host: { type: 'string', default: 'embedded' },
    story: { type: 'string', default: 'drains' },
  },
});
const every = Number(values.every);
if (!Number.isInteger(every) || every < 1) throw new Error('--every is a whole number, such as --every 10');

const { host } = values;
if (host !== 'embedded' && host !== 'cluster') throw new Error('--host is embedded or cluster');

const { story } = values;
if (story !== 'drains' && story !== 'notice') throw new Error('--story is drains or notice');

freezeSharedObjects();
const defects: string[] = [];
onDefect((error) => defects.push(error.stack ?? error.message));
process.on('unhandledRejection', (error) => defects.push(String(error instanceof Error ? error.stack : error)));

const begin = performance.now();
const { end, points } = await findCrashPoints(host, story);
const chosen = points
  .filter((point) => values.process === undefined || point.process === values.process)
  .filter((_, at) => at % every === 0);
let broken = 0;
for (const [at, point] of chosen.entries()) {
  const { difference, outcome } = await tryCrashPoint(host, point, { expected: end, story });
  const problem = outcome.violation?.text ?? difference ?? defects[0];
  defects.length = 0;
  if (problem !== undefined) {
    broken += 1;
    process.stdout.write(`${nameOf(point)}: ${problem}\n`);
  }
  if ((at + 1) % 50 === 0) process.stderr.write(`${at + 1} of ${chosen.length} points, ${broken} broken\n`);
}
const seconds = Math.round((performance.now() - begin) / 1000);
process.stdout.write(`${chosen.length} of ${points.length} crash points in ${seconds} s: ${broken} broken\n`);
process.exit(broken === 0 ? 0 : 1);
