import { expect, test } from 'vitest';
import { ManualClock } from '../../../machinery/runtime/index.ts';
import { Expectations } from './expectations.ts';

const MINUTE = 60_000;

function expectations() {
  const clock = new ManualClock();
  return { clock, expected: new Expectations(clock) };
}

test('S3 Expectations hold until every creation was observed', () => {
  const { expected } = expectations();
  expect(expected.satisfied('ns/rs')).toBe(true);
  expected.expectCreations('ns/rs', 2);
  expected.creationObserved('ns/rs');
  expect(expected.satisfied('ns/rs')).toBe(false);
  expected.creationObserved('ns/rs');
  expect(expected.satisfied('ns/rs')).toBe(true);
});

test('S4 an expectation older than five minutes counts as met', async () => {
  const { clock, expected } = expectations();
  expected.expectCreations('ns/rs', 1);
  await clock.advance(5 * MINUTE);
  expect(expected.satisfied('ns/rs')).toBe(false);
  await clock.advance(1);
  expect(expected.satisfied('ns/rs')).toBe(true);
});

test('S5 a deletion counts once per pod, and only for pods that were expected to go', () => {
  const { expected } = expectations();
  expected.expectDeletions('ns/rs', ['ns/a', 'ns/b']);
  for (const seen of ['ns/a', 'ns/a', 'ns/other']) expected.deletionObserved('ns/rs', seen);
  expect(expected.satisfied('ns/rs')).toBe(false);
  expected.deletionObserved('ns/rs', 'ns/b');
  expect(expected.satisfied('ns/rs')).toBe(true);
});

test('S14 Expectations are replaced by new ones and dropped by forget', () => {
  const { expected } = expectations();
  expected.expectCreations('ns/rs', 9);
  expected.expectDeletions('ns/rs', ['ns/a']);
  expected.deletionObserved('ns/rs', 'ns/a');
  expect(expected.satisfied('ns/rs')).toBe(true);
  expected.expectCreations('ns/rs', 9);
  expected.forget('ns/rs');
  expect(expected.satisfied('ns/rs')).toBe(true);
});
