import { expect, test } from 'vitest';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { recommendByUsage, type UsageQuestion } from './usage.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

function pod(name: string, over: { phase?: string; ready?: string; startedAgo?: number; request?: string } = {}): Pod {
  const { phase = 'Running', ready = 'True', request = '100m', startedAgo = 3600 } = over;
  return {
    metadata: { name },
    spec: { containers: [{ name: 'c', ...(request === '' ? {} : { resources: { requests: { cpu: request } } }) }] },
    status: {
      phase,
      startTime: ago(startedAgo),
      conditions: [{ type: 'Ready', status: ready, lastTransitionTime: ago(startedAgo - 5) }],
    },
  };
}

function ask(use: readonly (number | undefined)[], over: Partial<UsageQuestion> = {}): UsageQuestion {
  const pods = use.map((_value, index) => pod(`p${index}`));
  const measured = new Map(
    use.flatMap((value, index) =>
      value === undefined ? [] : [[`p${index}`, { value, at: NOW, windowMs: 15_000 }] as const],
    ),
  );
  const tolerance = { up: 0.1, down: 0.1 };
  return {
    pods,
    measured,
    resource: 'cpu',
    target: { utilization: 50 },
    currentReplicas: use.length,
    tolerance,
    now: NOW,
    ...over,
  };
}

const replicas = (question: UsageQuestion): number | string => {
  const verdict = recommendByUsage(question);
  return verdict.ok ? verdict.replicas : verdict.reason;
};

test.each([
  ['double use doubles the size', [100, 100, 100], 6],
  ['half use halves it, rounded up', [25, 25, 25], 2],
  ['a tenth off changes nothing', [54, 54, 54], 3],
  ['an unmeasured pod counts as full when shrinking', [10, 10, undefined], 3],
  ['an unmeasured pod counts as idle when growing', [100, 100, undefined], 4],
])('recommendByUsage(): %s', (_name, use, want) => {
  expect(replicas(ask(use))).toBe(want);
});

test('recommendByUsage() aims at an average value as well', () => {
  expect(replicas(ask([300, 300], { target: { averageMillis: 100 } }))).toBe(6);
});

test('recommendByUsage() counts pods that start as idle when growing', () => {
  const pods = [pod('p0'), pod('p1', { phase: 'Pending' })];
  expect(replicas(ask([150, undefined], { pods }))).toBe(3);
  const fresh = [pod('p0'), pod('p1', { startedAgo: 20, ready: 'False' })];
  expect(replicas(ask([150, 500], { pods: fresh }))).toBe(3);
});

test('recommendByUsage() ignores pods that are done or going', () => {
  const gone = { ...pod('p1'), metadata: { name: 'p1', deletionTimestamp: ago(1) } };
  const pods = [pod('p0'), gone, pod('p2', { phase: 'Failed' })];
  expect(replicas(ask([50, 900, 900], { pods }))).toBe(3);
});

test('recommendByUsage() says what it lacks', () => {
  expect(replicas(ask([]))).toBe('NoPods');
  expect(replicas(ask([undefined]))).toBe('NothingMeasured');
  const verdict = recommendByUsage(ask([50], { pods: [pod('p0', { request: '' })] }));
  expect(verdict).toEqual({
    ok: false,
    reason: 'MissingRequest',
    message: 'missing request for cpu in container c of Pod p0',
  });
});
