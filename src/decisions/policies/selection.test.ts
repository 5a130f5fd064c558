import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { DisruptionPolicySpec } from '../../api/quorate/disruption-policy.ts';
import { readPod } from '../disruption/pod-facts.ts';
import { readSelection, selectsGroup } from './selection.ts';

interface Given {
  readonly labels?: Record<string, string>;
  readonly owner?: string;
  readonly podGroup?: string;
  readonly phase?: string;
}

function pod({ labels = {}, owner, phase = 'Running', podGroup }: Given) {
  const [kind = '', name = ''] = owner?.split('/') ?? [];
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'v1', kind, name, uid: owner, controller: true }];
  return readPod({
    metadata: { namespace: 'ml', name: 'p', labels, ownerReferences },
    spec: podGroup === undefined ? {} : { schedulingGroup: { podGroupName: podGroup } },
    status: { phase },
  } as unknown as Pod);
}

const workloadOf = (podGroup: string): string | undefined => ({ 'trainer-0': 'trainer' })[podGroup];
const selects = (spec: DisruptionPolicySpec, ...members: Given[]): boolean =>
  selectsGroup(readSelection(spec), members.map(pod), workloadOf);
const target = (kind: string, name: string): DisruptionPolicySpec => ({ targetRef: { kind, name } });

test('DP-21: one member with the label brings the whole group under the policy, unless it has finished', () => {
  const spec = { selector: { matchLabels: { app: 'trainer' } } };
  expect(selects(spec, {}, { labels: { app: 'trainer' } })).toBe(true);
  expect(selects(spec, {}, { labels: { app: 'trainer' }, phase: 'Succeeded' })).toBe(false);
  expect(selects(spec, {}, {})).toBe(false);
});

test('an empty selector selects every group of the namespace', () => {
  expect(selects({ selector: {} }, {})).toBe(true);
});

test.each<[string, string, Given]>([
  ['PodGroup', 'trainer-0', { podGroup: 'trainer-0' }],
  ['Workload', 'trainer', { podGroup: 'trainer-0' }],
  ['LeaderWorkerSet', 'chat', { labels: { 'leaderworkerset.sigs.k8s.io/name': 'chat' } }],
  ['JobSet', 'train', { labels: { 'jobset.sigs.k8s.io/jobset-name': 'train' } }],
  ['Job', 'train', { owner: 'Job/train' }],
  ['StatefulSet', 'db', { owner: 'StatefulSet/db' }],
  ['ReplicaSet', 'web-5d', { owner: 'ReplicaSet/web-5d' }],
  ['Deployment', 'web', { owner: 'ReplicaSet/web-5d', labels: { 'pod-template-hash': '5d' } }],
])('a reference to %s %s selects its groups and no others', (kind, name, given) => {
  expect(selects(target(kind, name), given)).toBe(true);
  expect(selects(target(kind, `${name}x`), given)).toBe(false);
  expect(selects(target(kind, name), {})).toBe(false);
});
