/**
 * `npm run test:placement -- --seed S --clusters N [--level 1.36|1.37] [--lanes L] [--seconds S]
 * [--found FOLDER]`: draws clusters and
 * asks about each whether a group fits once some nodes are gone: our function, and a real kube-scheduler that is given
 * the group. Ends with 1 when we say yes where it says no, or miss more of its yeses than we may.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GROUP_MINORS } from '../kubernetes/binaries.ts';
import { compare, type Compared } from './compare.ts';
import { drawScene } from './draw.ts';
import { startRealScheduler } from './real.ts';
import { complaints, tableOf } from './verdict.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    clusters: { type: 'string', default: '1000' },
    level: { type: 'string', default: '1.36' },
    lanes: { type: 'string', default: '12' },
    /** Begin no other cluster after so long. */
    seconds: { type: 'string' },
    found: { type: 'string' },
  },
});
const level = GROUP_MINORS.find((minor) => minor === values.level);
if (level === undefined) throw new Error(`--level is ${GROUP_MINORS.join(' or ')}`);
const first = Number(values.seed);
const clusters = Number(values.clusters);

/** Everything about a difference, so that it can be looked at without a cluster. */
function keep(result: Compared): void {
  if (values.found === undefined) return;
  mkdirSync(values.found, { recursive: true });
  const scene = drawScene(result.seed);
  const gone = { nodes: [...scene.gone.nodes], pods: [...scene.gone.pods] };
  const text = JSON.stringify({ ...result, scene: { ...scene, gone } }, null, 1);
  writeFileSync(join(values.found, `${result.class}-${result.seed}.json`), text);
}

const begin = Date.now();
const end = values.seconds === undefined ? Number.POSITIVE_INFINITY : begin + Number(values.seconds) * 1000;
const scheduler = await startRealScheduler(level);
const results: Compared[] = [];
let next = 0;
async function lane(): Promise<void> {
  while (next < clusters && Date.now() < end) {
    const seed = first + next;
    next += 1;
    const result = await compare(seed, scheduler, level as '1.36' | '1.37');
    results.push(result);
    if (results.length % 50 === 0) process.stderr.write(`${results.length} clusters\n`);
    if (result.class === 'Agree') continue;
    keep(result);
    const real = result.real.map(({ fits }) => fits).join(', ');
    process.stdout.write(
      `${result.class} seed ${seed} [${result.traits.join(', ')}]: ours ${result.ours}; real ${real}\n`,
    );
  }
}
try {
  await Promise.all(Array.from({ length: Number(values.lanes) }, lane));
} finally {
  await scheduler.stop();
}
const wrong = complaints(results);
const seconds = Math.round((Date.now() - begin) / 1000);
process.stdout.write(
  `${results.length} clusters from seed ${first} on ${level} in ${seconds} s\n${tableOf(results)}\n`,
);
for (const one of wrong) process.stdout.write(`WRONG: ${one}\n`);
process.exit(wrong.length === 0 ? 0 : 1);
