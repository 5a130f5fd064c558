/** `npm run test:agreement -- --states N --seed S`: draws states one after another and asks every door about each. */
import { parseArgs } from 'node:util';
import { startEmbeddedAgreement } from './embedded.ts';

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
});
const states = Number(values.states);
const first = Number(values.seed);
/** A plane remembers every namespace it ever had; a fresh one now and then keeps all states alike. */
const PER_PLANE = 100;

const begin = Date.now();
const problems: string[] = [];
let agreement = await startEmbeddedAgreement();
for (let at = 0; at < states; at += 1) {
  if (at > 0 && at % PER_PLANE === 0) {
    await agreement.stop();
    agreement = await startEmbeddedAgreement();
    process.stderr.write(`${at} states, ${problems.length} disagreements\n`);
  }
  for (const problem of await agreement.ask(first + at)) {
    problems.push(problem);
    process.stdout.write(`${problem}\n`);
  }
}
await agreement.stop();
const seconds = Math.round((Date.now() - begin) / 1000);
process.stdout.write(`${states} states from seed ${first} in ${seconds} s: ${problems.length} disagreements\n`);
process.exit(problems.length === 0 ? 0 : 1);
