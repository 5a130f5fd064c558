/** What the record says of the past is what drains expect. */
import { afterEach, expect, test } from 'vitest';
import { disruptionHistoryType, type HistoryEntry } from '../../../src/api/quorate/disruption-history.ts';
import { formatPlan } from '../../../src/cli/shared/plan-text.ts';
import type { ToldTimes } from '../../../src/decisions/drain-question/index.ts';
import { planClusterDrain } from '../../../src/tasks/index.ts';
import { namespace, Recorded } from './fixture.ts';

let recorded: Recorded;
afterEach(() => recorded.stop());

const group = 'default/PodGroup/gang0';
const entry = (id: string, groupSeconds: number): HistoryEntry => ({
  id,
  at: '1970-01-01T00:00:00.000000Z',
  outcome: 'Granted',
  way: 'Eviction',
  voluntary: true,
  namespace,
  group,
  pods: [],
  podsTotal: 0,
  wholeAt: '1970-01-01T00:05:00.000000Z',
  groupSeconds,
  end: 'Whole',
});

function remember(...entries: HistoryEntry[]): Promise<unknown> {
  return recorded.client.create(disruptionHistoryType, {
    metadata: { namespace, name: '19700101-other-00' },
    spec: { writer: 'other', entries },
  });
}

test('8.3: a Maintenance expects of a group what it took the last times', async () => {
  recorded = await Recorded.start(3);
  await recorded.world.gangs(1, { size: 2, prefix: 'gang', allowed: 1 });
  await remember(entry('1', 200), entry('2', 300), entry('3', 900));
  const [pod] = await recorded.pods('gang0');
  await recorded.world.maintain('kernel', { nodes: { names: [pod?.spec?.nodeName ?? ''] } });
  await recorded.world.until(async () => (await recorded.world.get('kernel')).status?.plan !== undefined);
  const { plan } = (await recorded.world.get('kernel')).status ?? {};
  const planned = plan?.steps.flatMap(({ evictions }) => evictions).filter((one) => one.group === group);
  expect(planned?.map(({ seconds }) => seconds)).toEqual([300]);
});

test('8.3: a plan expects the same, says that the record told it, and believes a person first', async () => {
  recorded = await Recorded.start(3);
  await recorded.world.gangs(1, { size: 2, prefix: 'gang', allowed: 1 });
  await remember(entry('1', 200), entry('2', 300), entry('3', 900));
  const [pod] = await recorded.pods('gang0');
  const plan = (times: ToldTimes) =>
    planClusterDrain(recorded.client, {
      nodes: [pod?.spec?.nodeName ?? ''],
      all: false,
      nodesReturn: false,
      now: recorded.world.plane.clock.now(),
      times,
    });
  const planned = await plan({});
  expect(planned.plan.steps.flatMap(({ evictions }) => evictions)).toMatchObject([
    { unit: group, seconds: 300, secondsBy: 'Recorded' },
  ]);
  expect(formatPlan(planned)).toContain('It takes about 5 min.\nKnown of what goes down, until it serves again: 1 by');
  const told = await plan({ readyByName: new Map([['gang0', 20]]), stopSeconds: 1 });
  expect(told.plan.time).toMatchObject({ by: { Told: 1 } });
  expect(told.plan.time?.seconds).toBeLessThan(60);
});
