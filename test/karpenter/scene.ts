/** What runs on the nodes that Karpenter is to consolidate: gangs under three budgets, and gangs under none. */
import type { SchedulingVersion } from '../../src/api/scheduling/index.ts';
import { SIMULATED } from '../../src/nodes/index.ts';
import { podGroup, workload } from '../scenarios/stories/groups.ts';
import { GANG, NAMESPACE, SIZE, type StormBudget } from '../storm/gangs.ts';

export const NODES = 20;
/** A node takes so many members of gangs, or half as many beside a pod that keeps it busy. */
const MEMBERS_PER_NODE = 4;

const named = (name: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${name}-${at}`);

interface Scene extends StormBudget {
  /** Undefined: no budget at all. */
  readonly spec?: object;
}

/** As many gangs as fill the rest of the nodes while each is kept busy. */
export const SCENES: readonly Scene[] = [
  { name: 'serving', gangs: named('serving', 4), mayGo: 1, spec: { maxUnavailable: 1 } },
  // In pods this is four of twelve, which may be members of all three gangs.
  { name: 'training', gangs: named('training', 3), mayGo: 1, spec: { minAvailable: '60%' } },
  { name: 'kept', gangs: named('kept', 1), mayGo: 0, spec: { maxUnavailable: 0 } },
  { name: 'free', gangs: named('free', 2), mayGo: 2 },
];

/** So few nodes hold all gangs. */
export const FULL_NODES = (SCENES.flatMap(({ gangs }) => gangs).length * SIZE) / MEMBERS_PER_NODE;

/** One machine, with room for four members beside what a kubelet keeps for itself. */
export const INSTANCE_TYPES = [
  {
    name: 'four',
    architecture: 'amd64',
    operatingSystems: ['linux'],
    resources: { cpu: '4100m', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' },
    offerings: [
      {
        Price: 1,
        Available: true,
        Requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['zone-a'] },
        ],
      },
    ],
  },
];

/** Nodes that our simulation plays; nothing is consolidated before `consolidateAfter` is another. */
export const nodePool = (consolidateAfter: string): object[] => [
  { apiVersion: 'karpenter.kwok.sh/v1alpha1', kind: 'KWOKNodeClass', metadata: { name: 'default' } },
  {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      template: {
        metadata: { annotations: { [SIMULATED]: 'true' } },
        spec: {
          requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }],
          nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
          expireAfter: 'Never',
        },
      },
      // Karpenter itself holds nothing back: budgets must.
      disruption: {
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        consolidateAfter,
        budgets: [{ nodes: '100%' }],
      },
    },
  },
];

const container = (cpu: string): object => ({
  name: 'c',
  image: 'registry.k8s.io/pause:3.9',
  resources: { requests: { cpu } },
});

function replicaSet(name: string, replicas: number, labels: Record<string, string>, spec: object): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, ...spec } },
    },
  };
}

/** One pod on each node that takes half of it, so that there are that many nodes. */
export function busyPods(): object {
  const labels = { app: 'busy' };
  const apart = [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } }];
  return replicaSet('busy', NODES, labels, {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart } },
    containers: [container('2')],
  });
}

export function gangObjects(version: SchedulingVersion): object[] {
  return SCENES.flatMap(({ gangs, name, spec }) => [
    workload(version, name, SIZE),
    ...gangs.map((gang) => podGroup(version, gang, name, SIZE)),
    ...(spec === undefined
      ? []
      : [
          {
            apiVersion: 'policy/v1',
            kind: 'PodDisruptionBudget',
            metadata: { name, namespace: NAMESPACE },
            spec: { selector: { matchLabels: { budget: name } }, ...spec },
          },
        ]),
    ...gangs.map((gang) =>
      replicaSet(
        gang,
        SIZE,
        { budget: name, [GANG]: gang },
        { schedulingGroup: { podGroupName: gang }, containers: [container('1')] },
      ),
    ),
  ]);
}
