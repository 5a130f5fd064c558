import { expect, test } from 'vitest';
import type { Node } from '../../../api/generated/core-v1.ts';
import { defaultHealthPolicy, seeHealth, silentAt, unknownConditions } from './health.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const at = (elapsedMs: number, now = START + elapsedMs) => ({ now: () => now, elapsed: () => elapsedMs });
const node = (heartbeat?: string): Node => ({
  metadata: { name: 'n', creationTimestamp: '2026-01-01T00:00:00Z' },
  status: { conditions: heartbeat ? [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat }] : [] },
});
const lease = (renewTime: string) => ({ metadata: {}, spec: { renewTime } });

test('seeHealth() trusts the moment news arrive, not the times they carry', () => {
  const first = seeHealth(undefined, node('2020-01-01T00:00:00Z'), undefined, at(0));
  expect(first.probedAt).toBe(0);
  const same = seeHealth(first, node('2020-01-01T00:00:00Z'), undefined, at(10_000));
  expect(same.probedAt).toBe(0);
});

test('seeHealth() counts a renewed Lease, whatever time it carries, and not the same one again', () => {
  const first = seeHealth(undefined, node('x'), lease('2026-01-01T00:00:10.000000Z'), at(0));
  const same = seeHealth(first, node('x'), lease('2026-01-01T00:00:10.000000Z'), at(10_000));
  expect(same.probedAt).toBe(0);
  for (const renewTime of ['2026-01-01T00:00:20.000000Z', '2025-12-31T23:00:20.000000Z']) {
    expect(seeHealth(first, node('x'), lease(renewTime), at(10_000)).probedAt).toBe(10_000);
  }
});

test('seeHealth() finds nobody silent because the clock was set', () => {
  const first = seeHealth(undefined, node('x'), undefined, at(0));
  const later = seeHealth(first, node('x'), undefined, at(10_000, START + 3_600_000));
  expect(silentAt(node('x'), later, defaultHealthPolicy)).toBe(50_000);
});

test('silentAt() gives a node that never reported the start-up time, from its creation', () => {
  const seen = seeHealth(undefined, node(), undefined, at(30_000));
  expect(silentAt(node(), seen, defaultHealthPolicy)).toBe(60_000);
  const known = seeHealth(undefined, node('x'), undefined, at(0));
  expect(silentAt(node('x'), known, defaultHealthPolicy)).toBe(50_000);
});

test('unknownConditions() turns each kubelet condition Unknown once', () => {
  const conditions = unknownConditions(node('x'), START);
  expect(conditions.map(({ reason, type }) => `${type} ${reason}`)).toEqual([
    'Ready NodeStatusUnknown',
    'MemoryPressure NodeStatusNeverUpdated',
    'DiskPressure NodeStatusNeverUpdated',
    'PIDPressure NodeStatusNeverUpdated',
  ]);
  expect(unknownConditions({ metadata: {}, status: { conditions } }, START)).toEqual([]);
});
