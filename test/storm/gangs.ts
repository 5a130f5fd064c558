/** Twenty gangs of four that every kind of owner makes, under two budgets that count them. */
import { podGroup, workload } from '../scenarios/stories/groups.ts';
import type { SchedulingVersion } from '../../src/api/scheduling/index.ts';

export const NAMESPACE = 'default';
export const SIZE = 4;
/** On every pod: the gang it belongs to. */
export const GANG = 'storm/gang';

export interface StormBudget {
  readonly name: string;
  readonly gangs: readonly string[];
  /** How many of them may be down. */
  readonly mayGo: number;
}

type Owner = 'statefulset' | 'replicaset' | 'job' | 'lws';

const named = (owner: Owner): string[] => Array.from({ length: 5 }, (_, at) => `${owner}-${at}`);

export const BUDGETS: readonly StormBudget[] = [
  { name: 'gangs', gangs: [...named('statefulset'), ...named('replicaset'), ...named('job')], mayGo: 3 },
  { name: 'labelled', gangs: named('lws'), mayGo: 2 },
];

export const PODS = BUDGETS.flatMap(({ gangs }) => gangs).length * SIZE;

/** Everything the storm is about, in the order in which it has to be made. */
export function stormObjects(version: SchedulingVersion): object[] {
  const [gangs, labelled] = BUDGETS as [StormBudget, StormBudget];
  return [
    workload(version, 'storm', SIZE),
    ...gangs.gangs.map((gang) => podGroup(version, gang, 'storm', SIZE)),
    budget(gangs, {}),
    budget(labelled, {
      'policy.quorate.dev/group-by': 'leaderworkerset',
      'policy.quorate.dev/group-replicas': String(labelled.gangs.length),
    }),
    ...BUDGETS.flatMap(({ gangs: names, name }) => names.map((gang, at) => owner(gang, name, at))),
  ];
}

function budget({ gangs, mayGo, name }: StormBudget, annotations: Record<string, string>): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: NAMESPACE, annotations },
    spec: { minAvailable: gangs.length - mayGo, selector: { matchLabels: { budget: name } } },
  };
}

function owner(gang: string, budgetName: string, at: number): object {
  const kind = gang.split('-')[0] as Owner;
  const lws = kind === 'lws';
  const labels = {
    budget: budgetName,
    [GANG]: gang,
    ...(lws && {
      'leaderworkerset.sigs.k8s.io/name': 'lws',
      'leaderworkerset.sigs.k8s.io/group-index': gang.split('-')[1],
    }),
  };
  const annotations = {
    // Pending for a while, each for its own time.
    'nodes.quorate.dev/start-delay': `${200 + (at % 5) * 300}ms`,
    ...(lws && { 'leaderworkerset.sigs.k8s.io/size': String(SIZE) }),
  };
  const pod = {
    nodeName: `node-${at % 2}`,
    terminationGracePeriodSeconds: 1,
    ...(!lws && { schedulingGroup: { podGroupName: gang } }),
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
  };
  const metadata = { name: gang, namespace: NAMESPACE };
  const selector = { matchLabels: { [GANG]: gang } };
  if (kind === 'job') {
    const template = { metadata: { labels, annotations }, spec: { ...pod, restartPolicy: 'Never' } };
    const spec = { parallelism: SIZE, completions: 100_000, backoffLimit: 100_000, template };
    return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec };
  }
  const spec = { replicas: SIZE, selector, template: { metadata: { labels, annotations }, spec: pod } };
  if (kind === 'replicaset') return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec };
  const ordered = { serviceName: gang, podManagementPolicy: 'Parallel' };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { ...spec, ...ordered } };
}
