import { expect, test } from 'vitest';
import type { Pod } from '../generated/core-v1.ts';
import { groupKeyOf, markLeaderWorkerPod } from './pod-marks.ts';
import { subGroupIndexOf } from './pod-placement.ts';
import { LWS } from './types.ts';

interface Shape {
  readonly annotations?: Record<string, string>;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
}

/** As a StatefulSet makes it. */
function made(worker: number, { annotations = {}, spec = {} }: Shape = {}): Pod {
  const isLeader = worker === 0;
  const pod: Pod = {
    metadata: {
      name: isLeader ? 'llm-1' : `llm-1-${worker}`,
      labels: { [LWS.name]: 'llm', ...(isLeader ? { [LWS.workerIndex]: '0' } : { [LWS.groupIndex]: '1' }) },
      annotations: { [LWS.size]: '5', ...(isLeader ? {} : { [LWS.leaderName]: 'llm-1' }), ...annotations },
    },
    spec: { containers: [{ name: 'c', image: 'app:1' }], subdomain: 'llm', ...spec },
  };
  expect(markLeaderWorkerPod(pod, 'ns', () => 0)).toBe(true);
  return pod;
}

const indexes: [size: number, subGroupSize: number, want: string][] = [
  // The leader is one too many, and in the first.
  [5, 2, '0 0 0 1 1'],
  [7, 3, '0 0 0 0 1 1 1'],
  [4, 2, '0 0 1 1'],
  [6, 3, '0 0 0 1 1 1'],
  [2, 1, '0 0'],
  [1, 1, '0'],
];
for (const [size, subGroupSize, want] of indexes) {
  test(`23.3: subGroupIndexOf() puts ${size} pods in subgroups of ${subGroupSize} as ${want}`, () => {
    const found = Array.from({ length: size }, (_, worker) => subGroupIndexOf(worker, { size, subGroupSize }));
    expect(found.join(' ')).toBe(want);
  });
}

const inSubGroups = { [LWS.subGroupSize]: '2' };
const subGroup = ({ metadata: { labels } }: Pod): (string | undefined)[] => [
  labels?.[LWS.subGroupIndex],
  labels?.[LWS.subGroupKey],
];

test('23.3: pods say which subgroup they are in, and share its key with nobody else', () => {
  const annotations = { ...inSubGroups, [LWS.subGroupType]: 'LeaderWorker' };
  expect(subGroup(made(0, { annotations }))).toEqual(['0', groupKeyOf('llm-1', '0')]);
  expect(subGroup(made(2, { annotations: inSubGroups }))).toEqual(['0', groupKeyOf('llm-1', '0')]);
  expect(subGroup(made(4, { annotations: inSubGroups }))).toEqual(['1', groupKeyOf('llm-1', '1')]);
  expect(subGroup(made(4))).toEqual([undefined, undefined]);
});

test('23.3: under LeaderExcluded a leader is in no subgroup', () => {
  const annotations = { ...inSubGroups, [LWS.subGroupType]: 'LeaderExcluded' };
  expect(subGroup(made(0, { annotations }))).toEqual([undefined, undefined]);
  expect(subGroup(made(1, { annotations: inSubGroups }))[0]).toBe('0');
});

const term = (key: string, value: string, topologyKey = 'rack') => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey, labelSelector: { matchExpressions: [{ key, operator: 'In', values: [value] }] } },
    ],
  },
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        topologyKey,
        labelSelector: {
          matchExpressions: [
            { key, operator: 'Exists' },
            { key, operator: 'NotIn', values: [value] },
          ],
        },
      },
    ],
  },
});

test('23.3: a leader keeps its group to a domain of its own; its workers follow by node selector', () => {
  const annotations = { [LWS.exclusiveTopology]: 'rack' };
  expect(made(0, { annotations }).spec?.affinity).toEqual(term(LWS.groupKey, groupKeyOf('ns', 'llm-1')));
  expect(made(1, { annotations }).spec?.affinity).toBeUndefined();
});

test('23.3: a subgroup keeps to a domain of its own, leader and workers', () => {
  const annotations = { ...inSubGroups, [LWS.subGroupExclusiveTopology]: 'rack' };
  expect(made(0, { annotations }).spec?.affinity).toEqual(term(LWS.subGroupKey, groupKeyOf('llm-1', '0')));
  expect(made(3, { annotations }).spec?.affinity).toEqual(term(LWS.subGroupKey, groupKeyOf('llm-1', '1')));
});

test('23.3: what a template says of the same topology stays', () => {
  const affinity = term('app', 'x');
  expect(made(0, { annotations: { [LWS.exclusiveTopology]: 'rack' }, spec: { affinity } }).spec?.affinity).toEqual(
    affinity,
  );
});

test('23.3: containers learn where their leader is, before the variables of the template', () => {
  const containers = [{ name: 'c', image: 'a', env: [{ name: 'URL', value: '$(LWS_LEADER_ADDRESS)' }] }];
  const initContainers = [{ name: 'i', image: 'a', env: [{ name: 'LWS_GROUP_SIZE', value: '99' }] }];
  const lws = [
    { name: 'LWS_LEADER_ADDRESS', value: 'llm-1.llm.ns' },
    { name: 'LWS_GROUP_SIZE', value: '5' },
    { name: 'LWS_WORKER_INDEX', value: '3' },
  ];
  const { spec } = made(3, { spec: { containers, initContainers } });
  expect(spec?.containers[0]?.env).toEqual([...lws, { name: 'URL', value: '$(LWS_LEADER_ADDRESS)' }]);
  expect(spec?.initContainers?.[0]?.env).toEqual(lws);
});

test('23.3: under UniquePerReplica a leader is found below its own name', () => {
  const { spec } = made(0, { annotations: { [LWS.subdomainPolicy]: 'UniquePerReplica' } });
  expect(spec?.subdomain).toBe('llm-1');
  expect(spec?.containers[0]?.env?.[0]?.value).toBe('llm-1.llm-1.ns');
});
