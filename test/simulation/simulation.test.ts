/** `npm run test:simulate -- --seeds N` plays many more. */
import { describe, expect, test } from 'vitest';
import { findCrashPoints, nameOf, tryCrashPoint } from './crash-points.ts';
import { drawPlan, type Plan } from './plan.ts';
import { PLANTED } from './planted.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

test('whatever goes wrong, every rule holds and all comes to rest; the same seed gives the same history', async () => {
  const one = await simulate(drawPlan(13));
  expect(one.violation).toBeUndefined();
  expect(one.faults.size).toBeGreaterThan(0);
  expect(await simulate(drawPlan(13))).toEqual(one);
});

test('on a cluster, two replicas of the operator judge evictions; every rule holds and all comes to rest', async () => {
  const plan = drawPlan(2, 'cluster');
  const drain = { kind: 'drain', node: 1 } as const;
  const kill = { kind: 'kill', process: 'operator-0', afterWrites: 1, when: 'after', downMs: 500 } as const;
  const steps = [kill, drain].map((what) => ({ atMs: 1000, what }));
  const { drains, evictions, violation } = await simulate({ ...plan, gangs: plan.gangs.slice(0, 2), steps });
  expect(violation).toBeUndefined();
  expect([drains, evictions > 0]).toEqual([1, true]);
});

test('a process that dies at one of its writes leaves the same end behind', async () => {
  const { end, points } = await findCrashPoints('embedded');
  const point = points.find(({ process, write }) => process === 'controllers' && write === 40);
  if (point === undefined) throw new Error('controllers write less than they did');
  const { difference, outcome } = await tryCrashPoint('embedded', point, { expected: end });
  expect([nameOf(point), outcome.violation, difference]).toEqual([nameOf(point), undefined, undefined]);
  expect([...outcome.faults.keys()]).toContain('controllers killed before a write');
});

test('4: a process that dies in the middle of a notice: nothing goes early, it is not begun anew, and can be taken back', async () => {
  const { end, points } = await findCrashPoints('embedded', 'notice');
  const own = points.filter(({ process }) => process === 'controllers');
  const last = own.at(-1)?.write ?? 0;
  // Of the first gang, while it is told; away for longer than the second one is told; the third, as it goes.
  const chosen = [Math.floor(last * 0.3), Math.floor(last * 0.55), last - 20].map((write, at) =>
    own.find(
      (point) => point.write === write && point.variant.name === ['killed after', 'away from', 'killed before'][at],
    ),
  );
  for (const point of chosen) {
    if (point === undefined) throw new Error('controllers write less than they did');
    const { difference, outcome } = await tryCrashPoint('embedded', point, { expected: end, story: 'notice' });
    expect([nameOf(point), outcome.violation, difference]).toEqual([nameOf(point), undefined, undefined]);
  }
});

describe('a bug that was planted is found', () => {
  /** Nothing goes wrong: the bug alone must show. */
  const calm: Plan = { ...drawPlan(1), steps: [] };

  test('writes that are confirmed before they are on the disk', async () => {
    const { violation } = await simulate(calm, { planted: PLANTED['lying-disk'] });
    expect(violation?.rule).toBe('durable');
  });

  test('watches that lose events', async () => {
    const { violation } = await simulate(calm, { planted: PLANTED['deaf-watches'] });
    expect(violation?.rule).toBe('watch');
  });

  test('evictions that ask no budget', async () => {
    const evict = (choice: number) => ({ atMs: 1000, what: { kind: 'evict', choice, twice: false } as const });
    // Enough of them to reach pods of every gang, whatever they are called.
    const steps = Array.from({ length: 20 }, (_, choice) => evict(choice));
    const { violation } = await simulate({ ...calm, steps }, { planted: PLANTED['blind-evictions'] });
    expect(violation?.rule).toBe('budget');
  });
});

test('replicas that let everything pass are found', async () => {
  const evict = (choice: number) => ({ atMs: 1000, what: { kind: 'evict', choice, twice: false } as const });
  const plan: Plan = { ...drawPlan(2, 'cluster'), steps: [0, 1, 2, 3, 4, 5, 6, 7].map(evict) };
  const { violation } = await simulate(plan, { planted: PLANTED['blind-reviews'] });
  expect(violation?.rule).toBe('budget');
});

test('a plan shrinks to what makes it fail', async () => {
  const plan = drawPlan(9);
  const [first, last] = [plan.steps[1], plan.steps.at(-1)];
  const fails = ({ gangs, steps }: Plan) =>
    Promise.resolve(gangs.length >= 2 && [first, last].every((step) => steps.includes(step as never)));
  expect(await shrink(plan, fails)).toMatchObject({ steps: [first, last], plain: 1, gangs: plan.gangs.slice(0, 2) });
});
