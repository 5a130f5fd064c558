import { expect, test } from 'vitest';
import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { decideGarbage, QUARANTINE_MS, terminatedBeyond } from './decide.ts';

const pod = (nodeName: string | undefined, deleting: boolean): Pod => ({
  metadata: { ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  spec: { containers: [], nodeName },
});
const dead: Node = {
  metadata: {},
  spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
  status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
};

test('decideGarbage() takes a deleted pod that was never scheduled', () => {
  expect(decideGarbage(pod(undefined, true), undefined, 0)).toBe('NeverScheduled');
  expect(decideGarbage(pod(undefined, false), undefined, 0)).toBeUndefined();
});

test('decideGarbage() takes pods of a missing node after the quarantine', () => {
  expect(decideGarbage(pod('n', false), undefined, QUARANTINE_MS - 1)).toBeUndefined();
  expect(decideGarbage(pod('n', false), undefined, QUARANTINE_MS)).toBe('NodeGone');
});

test('decideGarbage() takes deleted pods of a node that is out of service, not of one that is ready', () => {
  expect(decideGarbage(pod('n', true), dead, 0)).toBe('NodeOutOfService');
  expect(decideGarbage(pod('n', false), dead, 0)).toBeUndefined();
  const ready = { ...dead, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  expect(decideGarbage(pod('n', true), ready, 0)).toBeUndefined();
});

test('terminatedBeyond() drops evicted pods first, then the oldest', () => {
  const ended = (name: string, creationTimestamp: string, reason?: string): Pod => ({
    metadata: { name, creationTimestamp },
    status: { phase: 'Failed', reason },
  });
  const pods = [ended('new', '3'), ended('old', '1'), ended('evicted', '4', 'Evicted')];
  expect(terminatedBeyond(pods, 1).map(({ metadata }) => metadata.name)).toEqual(['evicted', 'old']);
  expect(terminatedBeyond(pods, 3)).toEqual([]);
});
