import { expect, test } from 'vitest';
import type { Node } from '../../../api/generated/core-v1.ts';
import { defaultHealthPolicy, seeHealth, silentAt, unknownConditions } from './health.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const node = (heartbeat?: string): Node => ({
  metadata: { name: 'n', creationTimestamp: '2026-01-01T00:00:00Z' },
  status: { conditions: heartbeat ? [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat }] : [] },
});
const lease = (renewTime: string) => ({ metadata: {}, spec: { renewTime } });

test('seeHealth() trusts the moment news arrive, not the times they carry', () => {
  const first = seeHealth(undefined, node('2020-01-01T00:00:00Z'), undefined, START);
  expect(first.probedAt).toBe(START);
  const same = seeHealth(first, node('2020-01-01T00:00:00Z'), undefined, START + 10_000);
  expect(same.probedAt).toBe(START);
});

test('seeHealth() counts a renewed Lease, and not one that went back in time', () => {
  const first = seeHealth(undefined, node('x'), lease('2026-01-01T00:00:10.000000Z'), START);
  const back = seeHealth(first, node('x'), lease('2026-01-01T00:00:05.000000Z'), START + 10_000);
  expect(back.probedAt).toBe(START);
  const on = seeHealth(first, node('x'), lease('2026-01-01T00:00:20.000000Z'), START + 10_000);
  expect(on.probedAt).toBe(START + 10_000);
});

test('silentAt() gives a node that never reported the start-up time, from its creation', () => {
  const seen = seeHealth(undefined, node(), undefined, START + 30_000);
  expect(silentAt(node(), seen, defaultHealthPolicy)).toBe(START + 60_000);
  const known = seeHealth(undefined, node('x'), undefined, START);
  expect(silentAt(node('x'), known, defaultHealthPolicy)).toBe(START + 50_000);
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
