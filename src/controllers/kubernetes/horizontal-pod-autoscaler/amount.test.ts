import { expect, test } from 'vitest';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { type AmountQuestion, recommendByAmount } from './amount.ts';

const pod = (ready: boolean): Pod => ({
  metadata: {},
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const ask = (over: Partial<AmountQuestion>): AmountQuestion => ({
  amountMillis: 30_000,
  target: { perPodMillis: 10_000 },
  currentReplicas: 3,
  observedReplicas: 3,
  pods: [pod(true), pod(true), pod(true)],
  tolerance: { up: 0.1, down: 0.1 },
  ...over,
});

const cases = [
  { name: 'keeps the size when each pod has its share', given: ask({}), want: [3, 10_000] },
  { name: 'takes as many pods as there are shares', given: ask({ amountMillis: 71_000 }), want: [8, 23_667] },
  { name: 'keeps the size within the tolerance', given: ask({ amountMillis: 32_900 }), want: [3, 10_967] },
  {
    name: 'has a tolerance for each direction',
    given: ask({ amountMillis: 32_900, tolerance: { up: 0.05, down: 0.5 } }),
    want: [4, 10_967],
  },
  { name: 'goes to nothing when nothing is there', given: ask({ amountMillis: 0 }), want: [0, 0] },
  { name: 'counts shares before any pod is seen', given: ask({ observedReplicas: 0 }), want: [3, 30_000] },
  {
    name: 'multiplies the Ready pods by the ratio to a target for the whole',
    given: ask({ target: { totalMillis: 20_000 }, pods: [pod(true), pod(true), pod(false)] }),
    want: [3, 30_000],
  },
  {
    name: 'keeps the size near a target for the whole, whatever is Ready',
    given: ask({ target: { totalMillis: 30_000 }, pods: [] }),
    want: [3, 30_000],
  },
  {
    name: 'never asks for more than a size can say',
    given: ask({ amountMillis: 2 ** 50, target: { perPodMillis: 1 } }),
    want: [2 ** 31 - 1, Math.ceil(2 ** 50 / 3)],
  },
];

for (const { name, given, want } of cases) {
  test(`recommendByAmount() ${name}`, () => {
    const [replicas, shownMillis] = want;
    expect(recommendByAmount(given)).toEqual({ ok: true, replicas, shownMillis });
  });
}

test('recommendByAmount() cannot scale pods that it does not see', () => {
  expect(recommendByAmount(ask({ target: { totalMillis: 1000 }, pods: [] }))).toMatchObject({
    ok: false,
    reason: 'NoPods',
  });
});
