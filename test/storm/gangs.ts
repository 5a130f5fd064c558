/** Twenty gangs of four that every kind of owner makes, under three budgets that count them. */
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

const [mixedJob = '', ...jobs] = named('job');

/** A Job waits ever longer before it replaces a pod: were all Jobs under one budget with others, those could not go. */
export const BUDGETS: readonly StormBudget[] = [
  { name: 'gangs', gangs: [...named('statefulset'), ...named('replicaset'), mixedJob], mayGo: 3 },
  { name: 'jobs', gangs: jobs, mayGo: 2 },
  { name: 'labelled', gangs: named('lws'), mayGo: 2 },
];

/** Everything the storm is about, in the order in which it has to be made. */
export function stormObjects(version: SchedulingVersion): object[] {
  const [mixed, ofJobs, labelled] = BUDGETS as [StormBudget, StormBudget, StormBudget];
  return [
    ...[mixed, ofJobs].flatMap(({ gangs, name }) => [
      workload(version, name, SIZE),
      ...gangs.map((gang) => podGroup(version, gang, name, SIZE)),
    ]),
    budget(mixed, {}),
    budget(ofJobs, {}),
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
    'nodes.quorate.dev/start-delay': `${100 + (at % 5) * 150}ms`,
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
