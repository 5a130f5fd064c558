import { expect, test } from 'vitest';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { tellBlockedDrains } from './drain-events.ts';
import { settle } from '../../machinery/runtime/index.ts';
import { DRAIN_BLOCKED } from '../../webhook/blocked-condition.ts';
import { DrainReports } from '../../webhook/drain-reports.ts';
import { refusedFor } from '../../webhook/judged.ts';
import { LedgerCluster, namespace } from '../../webhook/ledger-cluster.fixture.ts';
import { withGrants } from '../../webhook/ledger-grants.ts';

const budget: PodDisruptionBudget = { metadata: { name: 'foo', namespace, uid: 'b' } };
const pod = { namespace, name: 'a-0' };

/** Two replicas that refuse, and the leader that tells. */
function stage() {
  const cluster = new LedgerCluster({ currentHealthy: 2, desiredHealthy: 2, expectedPods: 3, unit: 'PodGroup' });
  const replicas = ['one', 'two'].map((identity) => cluster.replica(identity));
  const reports = replicas.map(({ desk }) => new DrainReports({ ledgers: desk, clock: cluster.clock }));
  const events: string[] = [];
  const [leader] = replicas;
  tellBlockedDrains({
    ledgers: { addHandler: (handler) => (leader?.desk.follow((one) => handler.updated?.(one, one)), () => false) },
    budget: () => budget,
    events: { record: (_, type, reason, message) => events.push(`${type} ${reason}: ${message}`) },
    clock: cluster.clock,
    isLeading: () => true,
  });
  const answer = async (result: 'refused' | 'granted'): Promise<void> => {
    const judged =
      result === 'refused'
        ? refusedFor('BudgetExhausted', 'foo', 'default/a')
        : { result, reason: 'WithinBudget', budget: 'foo' };
    for (const report of reports) report.judged(pod, judged);
    await settle();
    for (const replica of replicas) replica.showAll();
  };
  return { cluster, events, reports, answer };
}

test('HL-05 1,000 refusals of one budget are one DrainBlocked event in ten minutes', async () => {
  const { answer, cluster, events, reports } = stage();
  for (let asked = 0; asked < 1000; asked += 1) {
    await answer('refused');
    await cluster.clock.advance(500);
  }
  expect(events).toHaveLength(1);
  expect(events[0]).toMatch(
    /^Warning DrainBlocked: Every eviction has been refused since .*\(BudgetExhausted\): 2 of 3 groups are available, 2 must stay\. The last was of pod a-0 of group default\/a\./,
  );
  expect(Math.round([...(reports[0]?.refused() ?? [])][0]?.seconds ?? 0)).toBe(500);
  for (let asked = 0; asked < 1000; asked += 1) {
    await answer('refused');
    await cluster.clock.advance(500);
  }
  expect(events).toHaveLength(2);
});

test('HL-05 refusals between grants are what a drain that gets on looks like: no event', async () => {
  const { answer, cluster, events, reports } = stage();
  for (let asked = 0; asked < 1000; asked += 1) {
    await answer(asked % 50 === 49 ? 'granted' : 'refused');
    await cluster.clock.advance(1000);
  }
  expect(events).toEqual([]);
  await cluster.clock.advance(301_000);
  expect([...(reports[0]?.refused() ?? [])][0]?.seconds).toBe(0);
});

test('a grant ends what the ledger says about a drain that was stuck', () => {
  const conditions = [
    { type: DRAIN_BLOCKED, status: 'True', reason: 'X', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const grant = { name: 'p', uid: 'u', cost: 1, kind: 'Charged', by: 'one' } as const;
  const before = withGrants({ conditions }, [{ ...grant, at: '2025-12-31T23:59:59.000Z' }]);
  expect(before.conditions).toEqual(conditions);
  const after = withGrants({ conditions }, [{ ...grant, at: '2026-01-01T00:00:01.500Z' }]);
  expect(after.conditions?.[0]).toMatchObject({ status: 'False', lastTransitionTime: '2026-01-01T00:00:01Z' });
});
