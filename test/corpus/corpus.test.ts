/** `npm run test:corpus -- --inputs N` tries many more, and keeps what shows something new. */
import { afterAll, describe, expect, test } from 'vitest';
import { Dice } from '../attacks/fuzz/dice.ts';
import { type Corpus, Explorer } from './explore.ts';
import { readCorpus } from './kept.ts';
import type { Subject } from './subject.ts';
import { openSubjects } from './subjects.ts';

const SEED = 12;
/** Of each subject, by its weight. */
const INPUTS = 40;

const subjects = await openSubjects();
afterAll(async () => {
  for (const subject of subjects) await subject.stop?.();
});

test.each(subjects.map((subject) => [subject.name, subject] as const))(
  `%s: what is kept, and inputs made from it (seed ${SEED}), break no rule`,
  async (_, subject) => {
    const corpus = readCorpus(subject);
    expect(corpus.size).toBeGreaterThan(0);
    const explorer = new Explorer(subject, corpus);
    await explorer.replay();
    const dice = new Dice(SEED);
    for (let left = Math.ceil(INPUTS * subject.weight); left > 0; left -= 1) await explorer.explore(dice);
    const { findings } = explorer.explored;
    expect(findings.map(({ error, input }) => `${String(error)}: ${JSON.stringify(input.toString('latin1'))}`)).toEqual(
      [],
    );
  },
);

describe('Explorer', () => {
  const subject = (attempt: Subject['attempt']): Subject => ({ name: 'planted', weight: 1, words: ['x'], attempt });
  const explored = async (planted: Subject, corpus: Corpus) => {
    const explorer = new Explorer(planted, corpus);
    await explorer.replay();
    const dice = new Dice(SEED);
    for (let left = 500; left > 0; left -= 1) await explorer.explore(dice);
    return explorer.explored;
  };

  test('finds an input that throws what it may not', async () => {
    const planted = subject((input) => {
      if (input.includes('xx')) throw new TypeError('planted');
      return 'read: well';
    });
    const { findings } = await explored(planted, new Map([['a letter', Buffer.from('a')]]));
    expect(findings.length).toBeGreaterThan(0);
    expect(findings[0]?.input.includes('xx')).toBe(true);
  });

  test('keeps what shows something new, under the name of what it shows, and the shortest of those that are alike', async () => {
    const corpus: Corpus = new Map([['a letter', Buffer.from('a')]]);
    const planted = subject((input) => `read: ${Math.min(input.toString().split('x').length - 1, 4)} of them`);
    const { kept } = await explored(planted, corpus);
    expect([...corpus.keys()].sort()).toEqual(['a letter', ...[1, 2, 3, 4].map((count) => `read: ${count} of them`)]);
    expect(kept).toBe(4);
    expect(corpus.get('a letter')?.toString()).toBe('a');
    expect(corpus.get('read: 1 of them')?.length).toBeLessThan(3);
  });
});
