import { expect, test } from 'vitest';
import { type ContentReport, computeStatus } from './status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const report = (over: Partial<ContentReport> = {}): ContentReport => ({
  remaining: new Map(),
  finalizers: new Map(),
  deletionErrors: [],
  undiscovered: [],
  ...over,
});
const shown = (over: Partial<ContentReport>) =>
  computeStatus({}, report(over), now).conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

test('computeStatus() gives all five conditions their good reasons when nothing is left', () => {
  expect(shown({})).toEqual([
    'NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered',
    'NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions',
    'NamespaceDeletionContentFailure=False ContentDeleted',
    'NamespaceContentRemaining=False ContentRemoved',
    'NamespaceFinalizersRemaining=False ContentHasNoFinalizers',
  ]);
});

test('computeStatus() names what is left, what it waits for, and what failed', () => {
  const { conditions, phase } = computeStatus(
    { phase: 'Active' },
    report({
      remaining: new Map([
        ['pods.', 2],
        ['deployments.apps', 1],
      ]),
      finalizers: new Map([['example.com/hold', 3]]),
      deletionErrors: ['secrets: forbidden'],
      undiscovered: ['metrics.k8s.io/v1'],
    }),
    now,
  );
  expect(phase).toBe('Terminating');
  expect(conditions?.map(({ status, reason, message }) => [status, reason, message])).toEqual([
    ['True', 'DiscoveryFailed', 'Discovery failed for some groups, 1 failing: metrics.k8s.io/v1'],
    ['False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    ['True', 'ContentDeletionFailed', 'Failed to delete all resource types, 1 remaining: secrets: forbidden'],
    [
      'True',
      'SomeResourcesRemain',
      'Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
    ],
    [
      'True',
      'SomeFinalizersRemain',
      'Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances',
    ],
  ]);
});

test('computeStatus() returns the same object when nothing changed and keeps transition times', () => {
  const first = computeStatus({ phase: 'Terminating' }, report({ remaining: new Map([['pods.', 2]]) }), now);
  expect(computeStatus(first, report({ remaining: new Map([['pods.', 2]]) }), now + 5000)).toBe(first);
  const fewer = computeStatus(first, report({ remaining: new Map([['pods.', 1]]) }), now + 5000);
  expect(fewer.conditions?.[3]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
  const none = computeStatus(fewer, report(), now + 5000);
  expect(none.conditions?.[3]).toMatchObject({ status: 'False', lastTransitionTime: '2026-01-01T00:00:05Z' });
});
