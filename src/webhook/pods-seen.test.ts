import { expect, test } from 'vitest';
import { createClient, ManualClock, settle } from '../machinery/runtime/index.ts';
import { podObjects } from './ledger-cluster.fixture.ts';
import { sawPodsOfNow } from './pods-seen.ts';

type Versions = Record<string, number>;

/** Lists pods at version 50, one to a page; `known` is what is known here, and may change as time passes. */
async function saw(listed: Versions, known: (elapsedMs: number) => Versions): Promise<boolean> {
  const pods = podObjects(new Map(Object.entries(listed)));
  const clock = new ManualClock();
  const startMs = clock.now();
  const client = createClient({
    userAgent: 'test',
    pageSize: 1,
    transport: ({ path }) => {
      const at = Number(new URLSearchParams(path.split('?')[1]).get('continue') ?? 0);
      const metadata = { resourceVersion: '50', ...(at + 1 < pods.length ? { continue: String(at + 1) } : {}) };
      const body = Buffer.from(JSON.stringify({ metadata, items: pods.slice(at, at + 1) }));
      return Promise.resolve({ status: 200, headers: {}, body });
    },
  });
  const podsIn = () => podObjects(new Map(Object.entries(known(clock.now() - startMs))));
  const follower = { client, clock, podsResourceVersion: () => '9', podsIn };
  let answer: boolean | undefined;
  void sawPodsOfNow(follower, 'default', new AbortController().signal).then((given) => (answer = given));
  for (let waited = 0; answer === undefined && waited < 200; waited += 1) {
    await settle();
    await clock.advance(20);
  }
  if (answer === undefined) throw new Error('no answer in four seconds');
  return answer;
}

test.each<[string, Versions, Versions, boolean]>([
  ['the same pods', { a: 3, b: 40 }, { a: 3, b: 40 }, true],
  ['no pods', {}, {}, true],
  ['a pod that has changed since', { a: 3 }, { a: 51 }, true],
  ['a pod that came since', { a: 3 }, { a: 3, b: 51 }, true],
  ['a pod whose change does not show yet', { a: 9 }, { a: 3 }, false],
  ['a pod whose end does not show yet', { a: 3 }, { a: 3, b: 8 }, false],
  ['a pod that does not show yet', { a: 3, b: 8 }, { a: 3 }, false],
])('sawPodsOfNow() of %s', async (_, listed, known, expected) => {
  expect(await saw(listed, () => known)).toBe(expected);
});

test('sawPodsOfNow() waits for what shows a moment later, whatever the version of the copy says', async () => {
  expect(await saw({ a: 3 }, (elapsedMs) => (elapsedMs < 500 ? { a: 3, gone: 8 } : { a: 3 }))).toBe(true);
});
