/**
 * Gangs of four on four nodes whose members may only be disrupted together, each with an unmodified `kubectl drain` of one
 * node: the group goes once, and never in part. `npm run test:as-one -- [--host embedded|cluster] [--runs 200] [--seed 1]
 * [--lanes 4]`; of a cluster QUORATE_KUBERNETES_VERSION chooses the minor. Says what was wrong with which seed; exits with 1
 * then.
 */
import { parseArgs } from 'node:util';
import { drainOne, NODES_PER_GANG } from './drain-one.ts';
import { startClusterDrains, startEmbeddedDrains } from './host.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: 'embedded' },
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '4' },
  },
});
const runs = Number(values.runs);
const from = Number(values.seed);
const lanes = Math.min(Number(values.lanes), runs);
const nodes = lanes * NODES_PER_GANG;
const begunAt = Date.now();
const say = (text: string): boolean =>
  process.stdout.write(`${((Date.now() - begunAt) / 1000).toFixed(0).padStart(5)} s  ${text}\n`);

const host = await (values.host === 'cluster' ? startClusterDrains(nodes) : startEmbeddedDrains(nodes));
say(`${runs} drains from seed ${from} on, ${lanes} at a time, host ${values.host}`);
let next = 0;
let wrong = 0;
try {
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const own = Array.from({ length: NODES_PER_GANG }, (__, at) => `node-${lane * NODES_PER_GANG + at}`);
      while (next < runs) {
        const seed = from + next;
        next += 1;
        const problem = await drainOne(host, seed, own);
        if (problem !== undefined) {
          wrong += 1;
          say(`seed ${seed}: ${problem}`);
        }
        if (seed % 20 === 0) say(`${seed - from + 1} of ${runs}, ${wrong} wrong`);
      }
    }),
  );
} finally {
  await host.stop();
}
say(wrong === 0 ? `${runs} drains: each group went once, and never in part` : `${wrong} of ${runs} drains were wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
