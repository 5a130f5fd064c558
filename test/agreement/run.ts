/**
 * `npm run test:agreement -- --host embedded|cluster --states N --seed S`: draws states one after another and asks every
 * door about each. On a cluster `--mode adopt|alongside|replace` says how the operator runs.
 */
import { parseArgs } from 'node:util';
import { parseMode } from '../cluster/stage.ts';
import { startClusterAgreement } from './cluster.ts';
import { startEmbeddedAgreement } from './embedded.ts';
import type { Agreement } from './host.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: 'embedded' },
    mode: { type: 'string', default: 'adopt' },
    states: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
});
const { host } = values;
if (host !== 'embedded' && host !== 'cluster') throw new Error('--host is embedded or cluster');
const mode = parseMode(values.mode);
const states = Number(values.states);
const first = Number(values.seed);
/** An embedded plane remembers every namespace it ever had; a fresh one now and then keeps all states alike. */
const PORTION = 100;
const start = (): Promise<Agreement> => (host === 'embedded' ? startEmbeddedAgreement() : startClusterAgreement(mode));

const begin = Date.now();
const problems: string[] = [];
let agreement = await start();
let at = 0;
async function askSome(lane: number, upTo: number): Promise<void> {
  while (at < upTo) {
    const seed = first + at;
    at += 1;
    for (const problem of await agreement.ask(seed, lane)) {
      problems.push(problem);
      process.stdout.write(`${problem}\n`);
    }
  }
}
while (at < states) {
  if (at > 0 && host === 'embedded') {
    await agreement.stop();
    agreement = await start();
  }
  const upTo = Math.min(states, at + PORTION);
  await Promise.all(Array.from({ length: agreement.lanes }, (_, lane) => askSome(lane, upTo)));
  if (at < states) process.stderr.write(`${at} states, ${problems.length} disagreements\n`);
}
await agreement.stop();
const seconds = Math.round((Date.now() - begin) / 1000);
const where = host === 'embedded' ? host : `cluster, ${mode}`;
process.stdout.write(
  `${states} states from seed ${first} on ${where} in ${seconds} s: ${problems.length} disagreements\n`,
);
process.exit(problems.length === 0 ? 0 : 1);
