import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import { decideLeftover, GARBAGE_COLLECTOR, ownerInQuestion, ownerStateOf } from './leftovers.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true };
const pod: Pod = { metadata: { name: 'web-1', ownerReferences: [owner] } };

test('18.5: only deletes by the garbage collector ask what became of the controller', () => {
  expect(ownerInQuestion('DELETE', GARBAGE_COLLECTOR, pod)).toBe(owner);
  expect(ownerInQuestion('DELETE', 'system:kube-controller-manager', pod)).toBe(owner);
  expect(ownerInQuestion('DELETE', 'alice', pod)).toBeUndefined();
  expect(ownerInQuestion('EVICT', GARBAGE_COLLECTOR, pod)).toBeUndefined();
  const shared = { ...owner, controller: false };
  expect(ownerInQuestion('DELETE', GARBAGE_COLLECTOR, { metadata: { ownerReferences: [shared] } })).toBeUndefined();
});

test('18.5: an owner is gone also when another has taken its name', () => {
  expect(ownerStateOf(owner, undefined)).toBe('Gone');
  expect(ownerStateOf(owner, { metadata: { uid: 'u2' } })).toBe('Gone');
  expect(ownerStateOf(owner, { metadata: { uid: 'u1', deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe('Going');
  expect(ownerStateOf(owner, { metadata: { uid: 'u1' } })).toBe('Present');
});

test('18.5: a namespace that goes lets everything go; an owner that cannot be read nothing', () => {
  expect(decideLeftover(true, 'Present')).toBe('NamespaceGoing');
  expect(decideLeftover(false, 'Gone')).toBe('OwnerGone');
  expect(decideLeftover(false, 'Going')).toBe('OwnerGoing');
  expect(decideLeftover(false, 'Present')).toBeUndefined();
  expect(decideLeftover(false, 'Unknown')).toBeUndefined();
  expect(decideLeftover(false, undefined)).toBeUndefined();
});
