import { expect, test } from 'vitest';
import type { GivenAnswer } from './answers.ts';
import { causeOf, type PodDeparture } from './cause.ts';

const departure = (more: Partial<PodDeparture> = {}): PodDeparture => ({
  namespace: 'ml',
  group: 'ml/PodGroup/trainer-0',
  owner: 'Job/trainer-0',
  pod: { name: 'trainer-0-0', uid: 'u0', node: 'node-1' },
  at: 0,
  isFinished: false,
  target: undefined,
  node: 'Fine',
  isUnwanted: false,
  drain: undefined,
  ...more,
});

const answer = (more: Partial<GivenAnswer> = {}): GivenAnswer => ({
  at: 0,
  kind: 'Eviction',
  namespace: 'ml',
  pod: { name: 'trainer-0-0', uid: 'u0' },
  who: 'ada',
  allowed: true,
  ...more,
});

const told = (reason: string, message = ''): Partial<PodDeparture> => ({ target: { reason, message } });
const isOurs = (who: string): boolean => who === 'quorate';
const nobody = { granted: undefined, deleted: undefined, isOurs };
const ours = { name: 'kernel', driver: undefined };

const rows: readonly [string, PodDeparture, typeof nobody | object, object | undefined][] = [
  ['a pod that had finished', departure({ isFinished: true }), {}, undefined],
  ['a grant', departure(), { granted: answer() }, { way: 'Eviction', outcome: 'Granted', voluntary: true, who: 'ada' }],
  [
    'a grant to Quorate on a node of a Maintenance',
    departure({ drain: ours }),
    { granted: answer({ who: 'quorate' }) },
    { way: 'Maintenance', who: 'quorate', cause: { kind: 'Maintenance', name: 'kernel' } },
  ],
  ['a grant to somebody on such a node', departure({ drain: ours }), { granted: answer() }, { way: 'Eviction' }],
  [
    'a grant on a node that Karpenter drains',
    departure({ drain: { name: 'observed-node-1', driver: 'Karpenter' } }),
    { granted: answer({ who: 'karpenter' }) },
    { way: 'Eviction', cause: { kind: 'Drain', name: 'observed-node-1', reason: 'Karpenter' } },
  ],
  ['an eviction that nobody heard of', departure(told('EvictionByEvictionAPI')), {}, { way: 'Eviction' }],
  [
    'a member that goes with its group',
    departure(told('EvictionByEvictionAPI', 'GroupEviction: evicting')),
    {},
    { way: 'GroupEviction' },
  ],
  ['a planned maintenance', departure(told('PlannedMaintenance')), {}, { way: 'Maintenance', voluntary: true }],
  [
    'preemption, whoever deletes',
    departure(told('PreemptionByScheduler')),
    { deleted: answer({ kind: 'Delete', who: 'system:kube-scheduler' }) },
    { way: 'Preemption', outcome: 'Seen', voluntary: true, who: 'system:kube-scheduler' },
  ],
  [
    'a taint',
    departure(told('DeletionByTaintManager')),
    {},
    { way: 'TaintManager', outcome: 'Seen', voluntary: false },
  ],
  ['a device taint', departure(told('DeletionByDeviceTaintManager')), {}, { way: 'DeviceTaint', voluntary: false }],
  ['pod garbage collection', departure(told('DeletionByPodGC')), {}, { way: 'PodGC', voluntary: false }],
  [
    'the kubelet, of a pod that it made fail',
    departure({ isFinished: true, ...told('TerminationByKubelet') }),
    {},
    { way: 'Kubelet', voluntary: false },
  ],
  ['a scale-down', departure({ isUnwanted: true }), { deleted: answer({ kind: 'Delete' }) }, undefined],
  [
    'a delete',
    departure(),
    { deleted: answer({ kind: 'Delete', who: 'bob' }) },
    { way: 'Delete', outcome: 'Seen', voluntary: false, who: 'bob' },
  ],
  [
    'a delete that a PodUnavailableBudget agreed to',
    departure(),
    { deleted: answer({ kind: 'Delete', who: 'bob', judged: true }) },
    { way: 'Delete', outcome: 'Granted', voluntary: true },
  ],
  [
    'a node that is gone',
    departure({ node: 'Gone' }),
    {},
    { way: 'NodeGone', cause: { kind: 'Node', name: 'node-1', reason: 'Gone' } },
  ],
  ['a node that is not Ready', departure({ node: 'NotReady' }), {}, { way: 'NodeGone' }],
  ['nothing that is known', departure(), {}, { way: 'Unknown', outcome: 'Seen', voluntary: false }],
];

test.each(rows)('8.3 causeOf() of %s', (_, given, known, wanted) => {
  const found = causeOf(given, { ...nobody, ...known });
  if (wanted === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(wanted);
});
