import { expect, test } from 'vitest';
import { effectiveRules } from '../../../api/autoscaling/index.ts';
import { decidePace, emptyHistory, type PaceQuestion, remember } from './pace.ts';

const NOW = 10_000_000;
const ask = (over: Partial<PaceQuestion>): PaceQuestion => ({
  current: 10,
  recommended: 10,
  min: 1,
  max: 100,
  up: effectiveRules(undefined, 'up'),
  down: effectiveRules(undefined, 'down'),
  history: emptyHistory,
  now: NOW,
  ...over,
});
const seen = (secondsAgo: number, replicas: number) => ({
  ...emptyHistory,
  recommendations: [{ at: NOW - secondsAgo * 1000, replicas }],
});

test.each([
  ['follows a recommendation within limits', { recommended: 15 }, 15, 'DesiredWithinRange'],
  ['at most doubles within 15 seconds', { recommended: 50 }, 20, 'ScaleUpLimit'],
  ['adds four pods when that is more', { current: 1, recommended: 9 }, 5, 'ScaleUpLimit'],
  ['stops at the maximum', { recommended: 18, max: 12 }, 12, 'TooManyReplicas'],
  ['stops at the minimum', { recommended: 1, min: 3 }, 3, 'TooFewReplicas'],
  ['shrinks at once without a past', { recommended: 2 }, 2, 'DesiredWithinRange'],
] satisfies [string, Partial<PaceQuestion>, number, string][])('decidePace() %s', (_name, over, replicas, reason) => {
  expect(decidePace(ask(over))).toMatchObject({ replicas, reason });
});

test('decidePace() shrinks to the highest recommendation of the last five minutes', () => {
  const question = ask({ recommended: 2, history: seen(299, 7) });
  expect(decidePace(question)).toMatchObject({ replicas: 7, stabilized: 'ScaleDownStabilized' });
  expect(decidePace({ ...question, history: seen(301, 7) })).toMatchObject({ replicas: 2, stabilized: undefined });
});

test('decidePace() counts what policies already let through', () => {
  const history = remember(emptyHistory, NOW - 5_000, { change: -2 });
  const down = {
    selectPolicy: 'Max',
    stabilizationWindowSeconds: 0,
    policies: [{ type: 'Pods', value: 3, periodSeconds: 60 }],
  };
  expect(decidePace(ask({ recommended: 1, down, history }))).toMatchObject({ replicas: 9, reason: 'ScaleDownLimit' });
  expect(decidePace(ask({ recommended: 1, down: { ...down, selectPolicy: 'Disabled' } })).replicas).toBe(10);
});

test('decidePace() takes the smallest change when asked to', () => {
  const policies = [
    { type: 'Pods', value: 1, periodSeconds: 60 },
    { type: 'Percent', value: 50, periodSeconds: 60 },
  ];
  const down = { selectPolicy: 'Min', stabilizationWindowSeconds: 0, policies };
  expect(decidePace(ask({ recommended: 1, down })).replicas).toBe(9);
  expect(decidePace(ask({ recommended: 1, down: { ...down, selectPolicy: 'Max' } })).replicas).toBe(5);
});

test('remember() forgets what no window reaches', () => {
  const old = remember(emptyHistory, NOW - 3_700_000, { recommended: 5, change: 1 });
  expect(remember(old, NOW, { recommended: 6 })).toEqual({
    recommendations: [{ at: NOW, replicas: 6 }],
    ups: [],
    downs: [],
  });
});
