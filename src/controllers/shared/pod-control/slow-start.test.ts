import { expect, test } from 'vitest';
import { slowStart } from './slow-start.ts';

/** Calls that succeed until `good` of them have. */
function limited(good: number) {
  const batches: number[] = [];
  let calls = 0;
  let open = 0;
  const call = async (): Promise<void> => {
    calls += 1;
    open += 1;
    if (open === 1) batches.push(0);
    batches[batches.length - 1] = open;
    const refused = calls > good;
    await Promise.resolve();
    open = 0;
    if (refused) throw new Error('refused');
  };
  return { call, batches, calls: () => calls };
}

test.each([
  { name: 'all fail', good: 0, calls: 1, successes: 0, skipped: 9, batches: [1] },
  { name: 'all succeed', good: 10, calls: 10, successes: 10, skipped: 0, batches: [1, 2, 4, 3] },
  { name: 'five succeed', good: 5, calls: 7, successes: 5, skipped: 3, batches: [1, 2, 4] },
])('S1 slowStart() of 10 when $name', async ({ batches, calls, good, skipped, successes }) => {
  const attempt = limited(good);
  const result = await slowStart(10, attempt.call);
  expect(attempt.calls()).toBe(calls);
  expect(attempt.batches).toEqual(batches);
  expect(result).toMatchObject({ successes, skipped });
  expect(result.errors).toHaveLength(calls - successes);
});

test('slowStart() of nothing calls nothing', async () => {
  expect(await slowStart(0, () => Promise.reject(new Error('called')))).toEqual({
    successes: 0,
    skipped: 0,
    errors: [],
  });
});
