import { expect, test } from 'vitest';
import type { StoredPodGroup, StoredWorkload } from '../../../api/scheduling/index.ts';
import { readGroupLink } from '../../disruption/index.ts';
import { pod, type PodOptions } from '../../placement/fixtures.ts';
import { admitGroup, checkMembers } from './admission.ts';
import { backoffMs } from './backoff.ts';
import { findTerms, groupIdOf, type GroupTerms } from './terms.ts';
import { findTree } from './tree.ts';

const gangOf = (minCount: number) => ({ gang: { minCount } });

function objects(
  podGroups: Record<string, StoredPodGroup['spec']>,
  workloads: Record<string, StoredWorkload['spec']> = {},
) {
  return {
    podGroup: (name: string) =>
      podGroups[name] && ({ metadata: { name, namespace: 'default' }, spec: podGroups[name] } as StoredPodGroup),
    workload: (name: string) =>
      workloads[name] && ({ metadata: { name, namespace: 'default' }, spec: workloads[name] } as StoredWorkload),
  };
}

function ask(options: PodOptions, known: ReturnType<typeof objects>) {
  const link = readGroupLink(pod('p', options));
  if (link === undefined) throw new Error('the pod names no group');
  return findTerms(link, known);
}

const found = (answer: ReturnType<typeof findTerms>): GroupTerms => {
  if (answer.reason !== 'Found') throw new Error(answer.message);
  return answer.terms;
};

test('S4-09 findTerms() names the PodGroup that is missing', () => {
  const answer = ask({ schedulingGroup: { podGroupName: 'x' } }, objects({}));
  expect(answer).toEqual({ reason: 'PodGroupMissing', message: 'PodGroup "x" does not exist' });
});

test('S4-10 findTerms() needs no Workload where the PodGroup has its own policy', () => {
  const spec = { schedulingPolicy: gangOf(3), workloadRef: { workloadName: 'gone', templateName: 't' } };
  expect(found(ask({ schedulingGroup: { podGroupName: 'x' } }, objects({ x: spec }))).needed).toBe(3);
});

test('S4-10 findTerms() needs the Workload of a draft PodGroup and of a 1.35 reference', () => {
  const draft = objects({ x: { workloadRef: { workloadName: 'w', templateName: 't' } } });
  expect(ask({ workloadRef: { name: 'w', podGroupName: 'x' } }, draft).reason).toBe('WorkloadMissing');
  expect(ask({ workloadRef: { name: 'w', podGroup: 't' } }, draft).reason).toBe('WorkloadMissing');
});

test('S4-11 findTerms() names the template that is missing', () => {
  const known = objects(
    { x: { workloadRef: { workloadName: 'w', templateName: 't' } } },
    { w: { podGroupTemplates: [{ name: 'other', schedulingPolicy: gangOf(2) }] } },
  );
  const answer = ask({ workloadRef: { name: 'w', podGroupName: 'x' } }, known);
  expect(answer).toEqual({ reason: 'TemplateMissing', message: 'Workload "w" has no pod group named "t"' });
});

test('S4-13 findTerms() takes the policy of the template', () => {
  const known = objects(
    { x: { workloadRef: { workloadName: 'w', templateName: 't' } } },
    { w: { podGroupTemplates: [{ name: 't', schedulingPolicy: gangOf(2) }] } },
  );
  expect(found(ask({ workloadRef: { name: 'w', podGroupName: 'x' } }, known)).needed).toBe(2);
  expect(found(ask({ workloadRef: { name: 'w', podGroup: 't' } }, known)).podGroup).toBeUndefined();
});

test('G-17 groupIdOf() tells replica keys apart', () => {
  const id = (key?: string) => {
    const link = readGroupLink(
      pod('p', { workloadRef: { name: 'w', podGroup: 'g', ...(key && { podGroupReplicaKey: key }) } }),
    );
    return link && groupIdOf('default', link);
  };
  expect(new Set([id('a'), id('b'), id()]).size).toBe(3);
});

test('G-22 findTree() holds a group whose composite parent is missing', () => {
  const spec = { schedulingPolicy: gangOf(1), parentCompositePodGroupName: 'c' };
  const link = readGroupLink(pod('p', { schedulingGroup: { podGroupName: 'x' } }));
  if (link === undefined) throw new Error('no link');
  const childrenOf = () => ({ groups: [], composites: [] });
  const known = { ...objects({ x: spec }), composite: () => undefined, childrenOf };
  expect(findTree(link, 'default', known).reason).toBe('CompositePodGroupMissing');
});

const terms = (over: Partial<GroupTerms> = {}): GroupTerms => ({
  name: 'g',
  gang: true,
  needed: 3,
  topologyKey: undefined,
  disruption: { mode: 'single' },
  priority: undefined,
  preemptionPolicy: undefined,
  podGroup: undefined,
  ...over,
});
const members = (count: number, options: PodOptions = {}) =>
  Array.from({ length: count }, (_, index) => pod(`p${index}`, options));

test('G-01 admitGroup() holds a gang with too few members', () => {
  expect(admitGroup(terms(), members(2))).toEqual({
    reason: 'WaitingForMembers',
    message: 'group "g" has 2 of at least 3 members',
  });
  expect(admitGroup(terms(), members(3)).reason).toBe('Admitted');
});

test('G-09 admitGroup() holds the whole group while one member is gated', () => {
  const gated = pod('gated', { schedulingGates: [{ name: 'example.com/wait' }] });
  expect(admitGroup(terms(), [...members(3), gated]).reason).toBe('SchedulingGated');
});

test('S4-06 G-11 checkMembers() refuses members that cannot be scheduled as one', () => {
  expect(checkMembers(terms(), [...members(2), pod('odd', { schedulerName: 'other' })]).reason).toBe(
    'SchedulerNamesDiffer',
  );
  expect(checkMembers(terms({ priority: 5 }), members(2, { priority: 7 })).reason).toBe('PriorityDiffers');
  expect(checkMembers(terms(), [...members(1), pod('odd', { preemptionPolicy: 'Never' })]).reason).toBe(
    'PreemptionPoliciesDiffer',
  );
  expect(checkMembers(terms({ priority: 7 }), members(2, { priority: 7 })).reason).toBe('Consistent');
});

test('G-19 backoffMs() grows to ten seconds times the root of the group size', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map((attempts) => backoffMs(attempts, 9) / 1000)).toEqual([1, 2, 4, 8, 16, 30, 30]);
  expect([1, 2, 3, 4, 5].map((attempts) => backoffMs(attempts) / 1000)).toEqual([1, 2, 4, 8, 10]);
});
