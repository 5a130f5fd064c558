import { expect, test } from 'vitest';
import type { Condition } from '../../../api/generated/meta-v1.ts';
import type { LeaderWorkerSet } from '../../../api/lws/types.ts';
import { LWS } from '../../../api/lws/types.ts';
import { gatherGroups } from './groups.ts';
import { computeStatus } from './status.ts';

interface Group {
  readonly ready?: boolean;
  readonly old?: boolean;
}

const set = (partition = 0, conditions: Condition[] = []): LeaderWorkerSet => ({
  metadata: { name: 'llm', namespace: 'default', generation: 7 },
  spec: {
    replicas: 2,
    leaderWorkerTemplate: { size: 1 },
    rolloutStrategy: { rollingUpdateConfiguration: { partition } },
  },
  status: { conditions },
});

const groupsOf = (...groups: Group[]) =>
  gatherGroups(
    groups.map(({ old = false, ready = true }, index) => ({
      metadata: {
        name: `llm-${index}`,
        labels: { [LWS.groupIndex]: String(index), [LWS.workerIndex]: '0', [LWS.revision]: old ? 'old' : 'new' },
      },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    })),
    [],
  );

const updating: Condition[] = [{ type: 'UpdateInProgress', status: 'True' } as Condition];
const cases: [name: string, groups: Group[], want: string, partition?: number, before?: Condition[]][] = [
  ['all serve', [{}, {}], 'Available AllGroupsReady'],
  ['one is missing', [{}], 'Progressing GroupsProgressing'],
  ['one is not ready', [{}, { ready: false }], 'Progressing GroupsProgressing'],
  ['one is of the older revision', [{ old: true }, {}], 'Progressing UpdateInProgress GroupsUpdating'],
  ['the older one is below the partition', [{ old: true }, {}], 'Available AllGroupsReady', 1],
  ['a group of an update stands in for none', [{}, { ready: false }, {}], 'Progressing GroupsProgressing'],
  [
    'the last of an update is not ready yet',
    [{ ready: false }, {}],
    'Progressing UpdateInProgress GroupsProgressing',
    0,
    updating,
  ],
  ['the update is over', [{}, {}], 'Available AllGroupsReady', 0, updating],
];
for (const [name, groups, want, partition, before] of cases) {
  test(`23.3: computeStatus() says ${want} when ${name}`, () => {
    const { conditions = [] } = computeStatus(set(partition, before), groupsOf(...groups), { now: 0, revision: 'new' });
    const held = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
    expect([...held, ...new Set(conditions.map(({ reason }) => reason))].join(' ')).toBe(want);
    expect(new Set(conditions.map(({ observedGeneration }) => observedGeneration))).toEqual(new Set([7]));
    expect(conditions.some(({ type }) => type === 'UpdateInProgress')).toBe(
      want.includes('UpdateInProgress') || before !== undefined,
    );
  });
}
