/** An object of each operator's kind, as its users write them, and what the operator then writes on the pods. */
import type { KubeObject } from '../../../src/testkit/index.ts';

export const SIZE = 3;

const podSpec = (name: string): object => ({
  restartPolicy: 'Never',
  containers: [{ name, image: 'example.com/app' }],
});

const template = (name: string): object => ({ spec: { containers: [{ name, image: 'example.com/app' }] } });

/** A Job or cluster of its own for each group; a set, and a queue, once for all of them. */
export const samples: Readonly<Record<string, (group: number) => KubeObject & { readonly spec: object }>> = {
  leaderworkerset: () => ({
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    metadata: { name: 'llm' },
    spec: { replicas: 2, leaderWorkerTemplate: { size: SIZE, workerTemplate: template('serve') } },
  }),
  jobset: () => ({
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'train' },
    spec: {
      replicatedJobs: [
        {
          name: 'workers',
          replicas: 2,
          template: { spec: { parallelism: SIZE, completions: SIZE, template: { spec: podSpec('train') } } },
        },
      ],
    },
  }),
  trainer: (group) => ({
    apiVersion: 'trainer.kubeflow.org/v1alpha1',
    kind: 'TrainJob',
    metadata: { name: `tune-${group}` },
    spec: { runtimeRef: { name: 'torch-distributed' }, trainer: { image: 'example.com/tune', numNodes: SIZE } },
  }),
  ray: (group) => ({
    apiVersion: 'ray.io/v1',
    kind: 'RayCluster',
    metadata: { name: `chat-${group}` },
    spec: {
      headGroupSpec: { rayStartParams: {}, template: template('head') },
      workerGroupSpecs: [
        {
          groupName: 'workers',
          replicas: SIZE - 1,
          minReplicas: SIZE - 1,
          maxReplicas: SIZE - 1,
          rayStartParams: {},
          template: template('worker'),
        },
      ],
    },
  }),
  volcano: (group) => ({
    apiVersion: 'batch.volcano.sh/v1alpha1',
    kind: 'Job',
    metadata: { name: `mpi-${group}` },
    spec: {
      minAvailable: SIZE,
      queue: 'research',
      tasks: [{ name: 'worker', replicas: SIZE, template: { spec: podSpec('mpi') } }],
    },
  }),
  kueue: () => ({
    apiVersion: 'kueue.x-k8s.io/v1beta1',
    kind: 'LocalQueue',
    metadata: { name: 'research' },
    spec: { clusterQueue: 'research' },
  }),
};

/** What the operator writes on the pod at this place of this group, and who owns it. */
export interface Marks {
  readonly labels: Record<string, string>;
  readonly owner: Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly name: string };
}

export const marks: Readonly<Record<string, (group: number, at: number) => Marks>> = {
  leaderworkerset: (group, at) => ({
    labels: {
      'leaderworkerset.sigs.k8s.io/name': 'llm',
      'leaderworkerset.sigs.k8s.io/group-index': `${group}`,
      'leaderworkerset.sigs.k8s.io/group-key': `key-${group}`,
      'leaderworkerset.sigs.k8s.io/worker-index': `${at}`,
    },
    owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: at === 0 ? 'llm' : `llm-${group}` },
  }),
  jobset: (group) => ({
    labels: {
      'jobset.sigs.k8s.io/jobset-name': 'train',
      'jobset.sigs.k8s.io/replicatedjob-name': 'workers',
      'jobset.sigs.k8s.io/replicatedjob-replicas': '2',
      'jobset.sigs.k8s.io/job-index': `${group}`,
    },
    owner: { apiVersion: 'batch/v1', kind: 'Job', name: `train-workers-${group}` },
  }),
  trainer: (group) => ({
    labels: {
      'jobset.sigs.k8s.io/jobset-name': `tune-${group}`,
      'jobset.sigs.k8s.io/replicatedjob-name': 'node',
      'jobset.sigs.k8s.io/replicatedjob-replicas': '1',
      'jobset.sigs.k8s.io/job-index': '0',
    },
    owner: { apiVersion: 'batch/v1', kind: 'Job', name: `tune-${group}-node-0` },
  }),
  ray: (group, at) => ({
    labels: {
      'ray.io/cluster': `chat-${group}`,
      'ray.io/is-ray-node': 'yes',
      'ray.io/node-type': at === 0 ? 'head' : 'worker',
      'ray.io/group': at === 0 ? 'headgroup' : 'workers',
    },
    owner: { apiVersion: 'ray.io/v1', kind: 'RayCluster', name: `chat-${group}` },
  }),
  volcano: (group) => ({
    labels: {
      'volcano.sh/job-name': `mpi-${group}`,
      'volcano.sh/job-namespace': 'default',
      'volcano.sh/queue-name': 'research',
      'volcano.sh/task-spec': 'worker',
    },
    owner: { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', name: `mpi-${group}` },
  }),
  kueue: (group) => ({
    labels: {
      'kueue.x-k8s.io/managed': 'true',
      'kueue.x-k8s.io/queue-name': 'research',
      'kueue.x-k8s.io/pod-group-name': `batch-${group}`,
    },
    owner: { apiVersion: 'example.com/v1', kind: 'Batch', name: `batch-${group}` },
  }),
};
