/** What a plan is about, as manifests. */
import type { Plan } from './plan.ts';

export interface Manifest {
  readonly path: string;
  readonly body: object;
}

const POLICY = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const SETS = '/apis/apps/v1/namespaces/default/replicasets';
const SCHEDULING = '/apis/scheduling.k8s.io/v1beta1/namespaces/default';

/** CPUs per node: two of the nodes may be away and everything still has a place. */
export function cpusOf({ gangs, nodes, plain }: Plan): number {
  const pods = gangs.reduce((sum, { size }) => sum + size + 1, plain + 1);
  return Math.ceil(pods / (nodes - 2)) + 2;
}

export function manifestsOf({ gangs, plain, toldSeconds }: Plan): Manifest[] {
  return [
    ...(toldSeconds === undefined ? [] : [policy(toldSeconds)]),
    budget('gangs', Math.max(1, gangs.length - 1)),
    budget('plain', Math.max(1, plain - 1)),
    {
      path: `${SCHEDULING}/workloads`,
      body: {
        apiVersion: 'scheduling.k8s.io/v1beta1',
        kind: 'Workload',
        metadata: { name: 'train' },
        spec: {
          podGroupTemplates: gangs.map(({ minimum, name }) => ({
            name,
            schedulingPolicy: { gang: { minCount: minimum } },
          })),
        },
      },
    },
    ...gangs.flatMap(({ minimum, name, size }) => [
      {
        path: `${SCHEDULING}/podgroups`,
        body: {
          apiVersion: 'scheduling.k8s.io/v1beta1',
          kind: 'PodGroup',
          metadata: { name },
          spec: {
            workloadRef: { workloadName: 'train', templateName: name },
            schedulingPolicy: { gang: { minCount: minimum } },
          },
        },
      },
      replicaSet(name, size, 'gangs', { schedulingGroup: { podGroupName: name } }),
    ]),
    replicaSet('plain', plain, 'plain', {}),
  ];
}

function budget(name: string, minAvailable: number): Manifest {
  const spec = { minAvailable, selector: { matchLabels: { budget: name } } };
  return {
    path: POLICY,
    body: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec },
  };
}

function policy(seconds: number): Manifest {
  const spec = { selector: { matchLabels: { budget: 'gangs' } }, notice: { duration: `${seconds}s` } };
  return {
    path: '/apis/policy.quorate.dev/v1alpha1/namespaces/default/disruptionpolicies',
    body: { apiVersion: 'policy.quorate.dev/v1alpha1', kind: 'DisruptionPolicy', metadata: { name: 'told' }, spec },
  };
}

function replicaSet(name: string, replicas: number, budgetName: string, podSpec: object): Manifest {
  const labels = { budget: budgetName, set: name };
  const container = { name: 'main', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu: '1' } } };
  const spec = {
    replicas,
    selector: { matchLabels: { set: name } },
    template: {
      metadata: { labels },
      spec: { terminationGracePeriodSeconds: 3, containers: [container], ...podSpec },
    },
  };
  return { path: SETS, body: { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name }, spec } };
}
