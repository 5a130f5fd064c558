import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTime } from '../../machinery/values/index.ts';
import { gatherGroups, isGroupAvailable } from './groups.ts';
import { isRecorded } from './ledger.ts';
import { UnavailabilityTally, type CoveredPod, type Ledger } from './tally.ts';

interface Counts {
  readonly availablePods: number;
  readonly availableGroups: number;
  readonly seenGroups: number;
  readonly ungrouped: number;
  readonly ungroupedAvailable: number;
}

/** The naive count, from nothing but the pods and the ledger. */
function recount(pods: readonly CoveredPod[], ledger: Ledger, minReady: number): Counts {
  const isAvailable = (pod: CoveredPod): boolean => pod.serving && !isRecorded(ledger, pod);
  const groups = gatherGroups(
    pods.flatMap((pod) =>
      pod.group === undefined
        ? []
        : [{ identity: pod.group, active: pod.active, available: isAvailable(pod), declaredSize: pod.declaredSize }],
    ),
  );
  const loose = pods.filter(({ group }) => group === undefined);
  return {
    availablePods: pods.filter(isAvailable).length,
    availableGroups: [...groups.values()].filter((group) => isGroupAvailable(group, minReady)).length,
    seenGroups: groups.size,
    ungrouped: loose.filter(({ active }) => active).length,
    ungroupedAvailable: loose.filter(isAvailable).length,
  };
}

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const seconds = fc.integer({ min: 0, max: 30 }).map((value) => value * 1000);
const pods = fc.record({
  name: fc.constantFrom(...names),
  uid: fc.constant('u'),
  createdAtMs: seconds,
  active: fc.boolean(),
  serving: fc.boolean(),
  group: fc.option(fc.constantFrom('0', '1', '2'), { nil: undefined }),
  declaredSize: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  ownerUid: fc.constant(undefined),
});
const entries = fc.dictionary(fc.constantFrom(...names), seconds.map(formatTime));
const changes = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), pod: pods }),
  fc.record({ kind: fc.constant('delete' as const), name: fc.constantFrom(...names) }),
  fc.record({ kind: fc.constant('ledger' as const), disruptedPods: entries, unavailablePods: entries }),
);

test('BudgetTally equals a recount after every change', () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), (sequence, minReady) => {
      const tally = new UnavailabilityTally(minReady);
      const known = new Map<string, CoveredPod>();
      let ledger: Ledger = {};
      for (const change of sequence) {
        if (change.kind === 'set') {
          tally.set(change.pod);
          known.set(change.pod.name, change.pod);
        } else if (change.kind === 'delete') {
          tally.delete(change.name);
          known.delete(change.name);
        } else {
          ledger = change;
          tally.setLedger(change);
        }
        const { availablePods, availableGroups, seenGroups, ungrouped, ungroupedAvailable } = tally;
        expect({ availablePods, availableGroups, seenGroups, ungrouped, ungroupedAvailable }).toEqual(
          recount([...known.values()], ledger, minReady),
        );
      }
    }),
    { numRuns: 500 },
  );
});

const member = (group: string, index: number, serving = true): CoveredPod => ({
  name: `llm-${group}-${index}`,
  uid: 'u',
  createdAtMs: 0,
  active: true,
  serving,
  group: `llm/${group}`,
  declaredSize: 3,
  ownerUid: undefined,
});

test('BudgetTally G20 a granted pod no longer holds its group up', () => {
  const tally = new UnavailabilityTally(3);
  for (const group of ['0', '1', '2']) for (const index of [0, 1, 2]) tally.set(member(group, index));
  expect(tally.availableGroups).toBe(3);
  tally.setLedger({ disruptedPods: { 'llm-0-1': formatTime(1000) } });
  expect(tally.availableGroups).toBe(2);
  expect(tally.group('llm/0')).toMatchObject({ ready: 2, needed: 3 });
  expect(tally.unavailableGroupNames(5)).toEqual(['llm/0']);
});
