import { expect, test } from 'vitest';
import { NOW, pod, type PodSketch } from './fixtures.ts';
import { type PickerAnswer, planPickerCall, readPickerAnswer } from './picker.ts';
import { chooseVictims, type Ranks } from './rank.ts';

const abcde: PodSketch[] = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));

function ask(sketches: readonly PodSketch[], count: number) {
  const plan = planPickerCall(sketches.map(pod), count);
  if (!plan.ask) throw new Error(`no call: ${plan.reason}`);
  return plan.question;
}

function victims(sketches: readonly PodSketch[], count: number, answer: PickerAnswer): (string | undefined)[] {
  const reading = readPickerAnswer(ask(sketches, count), answer);
  if (reading.reason === 'NoOpinion') throw new Error('no opinion');
  return pick(sketches, count, reading.ranks);
}

const pick = (sketches: readonly PodSketch[], count: number, ranks: Ranks): (string | undefined)[] =>
  chooseVictims({ pods: sketches.map(pod), count, ranks, now: NOW }).map((victim) => victim.pod.metadata.name);

test('K1 the chosen pod goes, then a tied one by the remaining rules', () => {
  const sketches = abcde.map((sketch) => (sketch.name === 'b' ? { ...sketch, restarts: 4 } : sketch));
  expect(victims(sketches, 2, { chosen: ['c'], tied: ['a', 'b'] })).toEqual(['c', 'b']);
});

test('K2 one chosen plus one of the tied', () => {
  const sketches = ['p1', 'p2', 'p3', 'p4'].map((name) => ({ name }));
  const gone = victims(sketches, 2, { chosen: ['p1'], tied: ['p2', 'p3', 'p4'] });
  expect(gone[0]).toBe('p1');
  expect(['p2', 'p3', 'p4']).toContain(gone[1]);
});

test('K3 pods that are no candidates go first and are not asked about', () => {
  const sketches = [{ name: 'unready', ready: false }, ...abcde.slice(0, 4)];
  expect(ask(sketches, 2)).toEqual({ count: 1, candidates: ['a', 'b', 'c', 'd'] });
  expect(victims(sketches, 2, { chosen: ['d'], tied: [] })).toEqual(['unready', 'd']);
});

test('K4 no call when enough pods are no candidates', () => {
  const sketches = [{ name: 'u1', ready: false }, { name: 'u2', ready: false }, ...abcde];
  expect(planPickerCall(sketches.map(pod), 2)).toEqual({ ask: false, reason: 'EnoughNonCandidates' });
  expect(pick(sketches, 2, { by: 'Tied' })).toEqual(['u1', 'u2']);
});

test('K5 no call when every pod goes', () => {
  expect(planPickerCall(abcde.map(pod), 5)).toEqual({ ask: false, reason: 'AllPodsGo' });
});

test('K6 a deletion cost outranks the choice', () => {
  const sketches = abcde.map((sketch) => (sketch.name === 'c' ? { ...sketch, cost: '100' } : sketch));
  expect(victims(sketches, 4, { chosen: ['c'], tied: [] })).toEqual(['a', 'b', 'd', 'e']);
});

test('K13 two empty lists are no opinion', () => {
  expect(readPickerAnswer(ask(abcde, 1), { chosen: [], tied: [] })).toEqual({ reason: 'NoOpinion', ignoredNames: 0 });
});

test('K14 names that were not asked about are ignored and counted', () => {
  const sketches = [...abcde, { name: 'unready', ready: false }];
  const question = ask(sketches, 2);
  const reading = readPickerAnswer(question, { chosen: ['unready', 'foreign'], tied: ['e'] });
  expect(reading).toMatchObject({ reason: 'Ranked', ignoredNames: 2 });
  expect(victims(sketches, 2, { chosen: ['unready', 'foreign'], tied: ['e'] })).toEqual(['unready', 'e']);
  const useless = readPickerAnswer(question, { chosen: ['foreign'], tied: [] });
  expect(useless).toMatchObject({ reason: 'NothingUsable', ignoredNames: 1 });
});

test('K15 repeats count once and chosen beats tied', () => {
  const reading = readPickerAnswer(ask(abcde, 1), { chosen: ['a', 'a'], tied: ['a', 'b'] });
  expect(reading).toEqual({
    reason: 'Ranked',
    ignoredNames: 0,
    ranks: {
      by: 'PickerRank',
      perName: new Map([
        ['a', 0],
        ['b', 1],
      ]),
      others: 3,
    },
  });
});

test('K16 more chosen than asked for leaves the rest to rules 6 to 8', () => {
  const sketches = abcde.map((sketch) => (sketch.name === 'd' ? { ...sketch, restarts: 9 } : sketch));
  expect(victims(sketches, 1, { chosen: ['a', 'b', 'd'], tied: [] })).toEqual(['d']);
});

test('a pod without a phase is no candidate', () => {
  expect(ask([...abcde, { name: 'f', phase: '' }], 2).candidates).not.toContain('f');
});

test('fewer names than asked for leave the rest to the later rules', () => {
  const sketches = abcde.map((sketch) => (sketch.name === 'e' ? { ...sketch, restarts: 9 } : sketch));
  expect(victims(sketches, 2, { chosen: ['a'], tied: [] })).toEqual(['a', 'e']);
});
