/** Where other operators publish their kinds and labels: Go modules, each in one version, and places in them. */

export interface OperatorSource {
  readonly module: string;
  readonly version: string;
  /** A CustomResourceDefinition, or, where the module has none, the Go type that it is made from. */
  readonly definition:
    | { readonly crd: string }
    | { readonly go: string; readonly group: string; readonly type: string };
  readonly labels: { readonly files: readonly string[]; readonly constants: readonly string[] };
}

/** By the names of the budgets in docs/guide/other-operators.md. */
export const SOURCES: Readonly<Record<string, OperatorSource>> = {
  leaderworkerset: {
    module: 'sigs.k8s.io/lws',
    version: 'v0.9.0',
    definition: { crd: 'config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml' },
    labels: {
      files: ['api/leaderworkerset/v1/leaderworkerset_types.go'],
      constants: ['SetNameLabelKey', 'GroupIndexLabelKey', 'GroupUniqueHashLabelKey', 'WorkerIndexLabelKey'],
    },
  },
  jobset: {
    module: 'sigs.k8s.io/jobset',
    version: 'v0.12.0',
    definition: { crd: 'config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml' },
    labels: {
      files: ['api/jobset/v1alpha2/jobset_types.go'],
      constants: ['JobSetNameKey', 'ReplicatedJobNameKey', 'ReplicatedJobReplicas', 'JobIndexKey'],
    },
  },
  trainer: {
    module: 'github.com/kubeflow/trainer/v2',
    version: 'v2.1.0',
    definition: { crd: 'manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml' },
    // Its pods carry the labels of the JobSet it makes; of its own it brings the name of the Job that trains.
    labels: { files: ['pkg/constants/constants.go'], constants: ['Node'] },
  },
  ray: {
    module: 'github.com/ray-project/kuberay/ray-operator',
    version: 'v1.6.0',
    definition: { crd: 'config/crd/bases/ray.io_rayclusters.yaml' },
    labels: {
      files: ['controllers/ray/utils/constant.go'],
      constants: ['RayClusterLabelKey', 'RayNodeLabelKey', 'RayNodeTypeLabelKey', 'RayNodeGroupLabelKey'],
    },
  },
  volcano: {
    module: 'volcano.sh/apis',
    version: 'v1.14.0',
    definition: { go: 'pkg/apis/batch/v1alpha1/job.go', group: 'batch.volcano.sh', type: 'Job' },
    labels: {
      files: ['pkg/apis/batch/v1alpha1/labels.go'],
      constants: ['JobNameKey', 'JobNamespaceKey', 'QueueNameKey', 'TaskSpecKey'],
    },
  },
  kueue: {
    module: 'sigs.k8s.io/kueue',
    version: 'v0.15.0',
    definition: { crd: 'config/components/crd/bases/kueue.x-k8s.io_localqueues.yaml' },
    labels: {
      files: [
        'pkg/controller/jobs/pod/constants/constants.go',
        'pkg/constants/constants.go',
        'pkg/controller/constants/constants.go',
      ],
      constants: ['GroupNameLabel', 'ManagedByKueueLabelKey', 'QueueLabel'],
    },
  },
};
