import { afterEach, expect, test } from 'vitest';
import { ManualClock, silentLogger } from '../../machinery/runtime/index.ts';
import { watchForPauses } from './pauses.ts';

let abort = new AbortController();
afterEach(() => {
  abort.abort();
  abort = new AbortController();
});

function replica() {
  const clock = new ManualClock();
  const state = { seen: false, asked: 0 };
  const check = watchForPauses({
    clock,
    log: silentLogger,
    signal: abort.signal,
    sawPods() {
      state.asked += 1;
      return Promise.resolve(state.seen);
    },
  });
  return { check, clock, state };
}

const AWAY: [string, (clock: ManualClock) => void, RegExp][] = [
  ['stood still for 20 s', (clock) => clock.pass(20_000), /stood still for 20 s/],
  ['slept for an hour', (clock) => clock.set(clock.now() + 3_600_000), /set forward by 3600 s/],
  ['had its clock set back', (clock) => clock.set(clock.now() - 3_600_000), /set back by 3600 s/],
];

test.each(AWAY)('17: a replica that %s decides nothing until it has seen the pods of now', async (_, go, words) => {
  const { check, clock, state } = replica();
  await clock.advance(5000);
  expect(check.problem()).toBeUndefined();
  go(clock);
  // Before any timer has fired: the first review after a pause is the dangerous one.
  expect(check.needed).toBe(true);
  expect(check.problem()).toMatch(words);
  await clock.advance(3000);
  expect(check.problem()).toMatch(words);
  expect(state.asked).toBeGreaterThan(1);
  state.seen = true;
  await clock.advance(1000);
  expect(check.problem()).toBeUndefined();
});

test('17: a pause that no hold outlives is none', async () => {
  const { check, clock, state } = replica();
  clock.pass(10_000);
  expect(check.problem()).toBeUndefined();
  await clock.advance(2000);
  expect(state.asked).toBe(0);
});
