/**
 * `npm run test:corpus -- --inputs N [--seed S] [--subject NAME] [--dry]`: tries so many inputs made from the kept ones. What
 * shows something new is kept, in `kept`, unless `--dry`. Ends with an error where a rule is broken.
 */
import { parseArgs } from 'node:util';
import { Dice } from '../attacks/fuzz/dice.ts';
import { Explorer } from './explore.ts';
import { readCorpus, writeCorpus } from './kept.ts';
import type { Subject } from './subject.ts';
import { openSubjects } from './subjects.ts';

const { values: flags } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    subject: { type: 'string' },
    dry: { type: 'boolean', default: false },
  },
});
const inputs = Number(flags.inputs);
const seed = Number(flags.seed);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const EVERY = 100_000;

const subjects = (await openSubjects()).filter(({ name }) => flags.subject === undefined || name === flags.subject);
const running = subjects.map((subject) => {
  const corpus = readCorpus(subject);
  return { subject, corpus, explorer: new Explorer(subject, corpus) };
});
say(`seed ${seed}, ${inputs} inputs for ${subjects.map(({ name }) => name).join(', ')}`);

const stray: unknown[] = [];
process.on('unhandledRejection', (error) => stray.push(error));
process.on('uncaughtException', (error) => stray.push(error));
let isEnding = false;
process.once('SIGINT', () => (isEnding = true));

const begun = performance.now();
for (const { explorer } of running) await explorer.replay();
const dice = new Dice(seed);
const weighed = running.map((one) => [one.subject.weight, one] as const);
for (let at = 1; at <= inputs && !isEnding; at += 1) {
  await dice.weighed(weighed).explorer.explore(dice);
  if (at % EVERY !== 0) continue;
  // Signals and stray errors are heard of between inputs.
  await new Promise((resolve) => setImmediate(resolve));
  process.stderr.write(`${at} inputs in ${Math.round((performance.now() - begun) / 1000)} s\n`);
}

const describe = (subject: Subject, input: Buffer): string =>
  subject.isBinary === true ? input.toString('base64') : JSON.stringify(input.toString('utf8').slice(0, 600));
let [tried, found] = [0, stray.length];
for (const { corpus, explorer, subject } of running) {
  const { explored } = explorer;
  tried += explored.tried;
  found += explored.findings.length;
  say(
    `${subject.name}: ${explored.tried} tried, ${corpus.size} kept, ${explored.kept} of them new, ${explored.findings.length} findings`,
  );
  say(`  slowest ${Math.round(explored.slowest.ms)} ms: ${describe(subject, explored.slowest.input).slice(0, 120)}`);
  for (const { error, input } of explored.findings) {
    const [line, where] = (error instanceof Error ? (error.stack ?? error.message) : String(error)).split('\n');
    say(`  ${line}\n    ${where?.trim()}\n    ${describe(subject, input)}`);
  }
  if (!flags.dry) writeCorpus(subject, corpus);
  await subject.stop?.();
}
for (const error of stray) say(`nothing caught: ${error instanceof Error ? error.stack : String(error)}`);
say(`${tried} inputs in ${Math.round((performance.now() - begun) / 1000)} s, ${found} findings`);
process.exit(found === 0 ? 0 : 1);
