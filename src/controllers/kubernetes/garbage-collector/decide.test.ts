import { expect, test } from 'vitest';
import { decide, type OwnerPresence, type CollectionQuestion } from './decide.ts';

const owners = (...states: OwnerPresence[]): CollectionQuestion['owners'] =>
  states.map((state, at) => ({
    state,
    reference: { apiVersion: 'v1', kind: 'ConfigMap', name: `${state}-${at}`, uid: `uid-${at}` },
  }));
const ask = (over: Partial<CollectionQuestion>): CollectionQuestion => ({
  owners: owners('absent'),
  finalizers: [],
  hasDependents: false,
  dependentWaits: false,
  ...over,
});
const remove = (propagationPolicy: string, reason = 'OwnersGone', unblock = false) => ({
  action: 'delete',
  reason,
  propagationPolicy,
  unblock,
});

const cases: { name: string; given: CollectionQuestion; want: object }[] = [
  {
    name: 'keeps what has no owners',
    given: ask({ owners: [] }),
    want: { action: 'keep', reason: 'NoOwners' },
  },
  {
    name: 'keeps what all owners still own',
    given: ask({ owners: owners('present', 'present') }),
    want: { action: 'keep', reason: 'OwnersPresent' },
  },
  {
    name: 'detaches from owners gone and owners waiting while another is there',
    given: ask({ owners: owners('absent', 'present', 'waiting') }),
    want: { action: 'detach', reason: 'SomeOwnersGone', uids: ['uid-0', 'uid-2'] },
  },
  { name: 'deletes in the background when all owners are gone', given: ask({}), want: remove('Background') },
  {
    name: 'deletes in the background for a waiting owner when nothing depends on it',
    given: ask({ owners: owners('waiting') }),
    want: remove('Background'),
  },
  {
    name: 'deletes in the foreground for a waiting owner when others depend on it',
    given: ask({ owners: owners('waiting', 'absent'), hasDependents: true }),
    want: remove('Foreground', 'OwnerWaitsForDependents'),
  },
  {
    name: 'unblocks first when a dependent waits too',
    given: ask({ owners: owners('waiting'), hasDependents: true, dependentWaits: true }),
    want: remove('Foreground', 'OwnerWaitsForDependents', true),
  },
  { name: 'honours its orphan finalizer', given: ask({ finalizers: ['orphan'] }), want: remove('Orphan') },
  {
    name: 'honours its foreground finalizer',
    given: ask({ finalizers: ['foregroundDeletion'] }),
    want: remove('Foreground'),
  },
];

for (const { name, given, want } of cases) test(`decide() ${name}`, () => expect(decide(given)).toEqual(want));
