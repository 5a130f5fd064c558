/**
 * By what other software is known to drain a node: one table, as data. A row says what it looks for, what that means, and
 * until when pods are left in peace.
 */

export type Sign =
  | { readonly taint: string; readonly value?: string }
  | { readonly label: string; readonly value?: string }
  | { readonly annotation: string }
  /** Begins with a text and differs from what another annotation says. */
  | { readonly annotation: string; readonly begins: string; readonly unlike: string }
  | { readonly condition: string }
  /** The Node is being deleted and held by this finalizer. */
  | { readonly finalizer: string }
  /** An object elsewhere says so. */
  | { readonly elsewhere: 'KuredLock' | 'Machine' | 'NodeMaintenance' };

/**
 * Draining: pods are being moved. Ending: they go now. Planned: they will at a known time. Candidate: perhaps some day, which
 * is shown and is no drain. Failure: the node is off or lost, which is no drain either.
 */
export type MarkMeaning = 'Draining' | 'Ending' | 'Planned' | 'Candidate' | 'Failure';

export type DeadlineRule =
  | 'None'
  | 'Now'
  | 'NodeClaim'
  | 'Machine'
  /** The label's value, in Unix seconds. */
  | 'LabelValue'
  | { readonly afterTaintMs: number }
  | { readonly afterSeenMs: number };

export interface MarkerRow {
  readonly driver: string;
  readonly sign: Sign;
  readonly means: MarkMeaning;
  readonly deadline: DeadlineRule;
  /** Pods go at the deadline, whatever budgets say. */
  readonly ignoresBudgets: boolean;
}

const row = (
  driver: string,
  sign: Sign,
  means: MarkMeaning = 'Draining',
  deadline: DeadlineRule = 'None',
): MarkerRow => ({ driver, sign, means, deadline, ignoresBudgets: deadline !== 'None' });

const MINUTE_MS = 60_000;

/** The first row that fits a node speaks for it; what is more pressing stands before what is less. */
export const DRAIN_MARKERS: readonly MarkerRow[] = [
  row('GKE', { label: 'cloud.google.com/active-node-maintenance', value: 'ONGOING' }, 'Ending', 'Now'),
  row('GKE', { taint: 'cloud.google.com/impending-node-termination' }, 'Ending', 'Now'),
  row('AWS node termination handler', { taint: 'aws-node-termination-handler/spot-itn' }, 'Draining', {
    afterTaintMs: 2 * MINUTE_MS,
  }),
  row('Karpenter', { taint: 'karpenter.sh/disrupted' }, 'Draining', 'NodeClaim'),
  row('Karpenter', { taint: 'karpenter.sh/disruption', value: 'disrupting' }, 'Draining', 'NodeClaim'),
  row('Karpenter', { finalizer: 'karpenter.sh/termination' }, 'Draining', 'NodeClaim'),
  row('Cluster API', { elsewhere: 'Machine' }, 'Draining', 'Machine'),
  row('GKE', { label: 'operation.gke.io/type', value: 'drain' }, 'Draining', { afterSeenMs: 60 * MINUTE_MS }),
  row('cluster-autoscaler', { taint: 'ToBeDeletedByClusterAutoscaler' }),
  row('kured', { annotation: 'weave.works/kured-reboot-in-progress' }),
  row('kured', { elsewhere: 'KuredLock' }),
  row('OpenShift', {
    annotation: 'machineconfiguration.openshift.io/desiredDrain',
    begins: 'drain-',
    unlike: 'machineconfiguration.openshift.io/lastAppliedDrain',
  }),
  row('AWS node termination handler', { taint: 'aws-node-termination-handler/scheduled-maintenance' }),
  row('AWS node termination handler', { taint: 'aws-node-termination-handler/asg-lifecycle-termination' }),
  row('medik8s', { taint: 'medik8s.io/drain' }),
  row('medik8s', { elsewhere: 'NodeMaintenance' }),
  row('kubelet', { condition: 'GracefulNodeShutdownInProgress' }),
  row('others', { condition: 'DrainInProgress' }),
  row('GKE', { label: 'cloud.google.com/scheduled-maintenance-time' }, 'Planned', 'LabelValue'),
  row('Kubernetes', { taint: 'node.cloudprovider.kubernetes.io/shutdown' }, 'Failure'),
  row('Kubernetes', { taint: 'node.kubernetes.io/out-of-service' }, 'Failure'),
  row('cluster-autoscaler', { taint: 'DeletionCandidateOfClusterAutoscaler' }, 'Candidate'),
  row('AWS node termination handler', { taint: 'aws-node-termination-handler/rebalance-recommendation' }, 'Candidate'),
];

/** Names of the Machine that stands for a node. */
export const MACHINE_ANNOTATION = 'cluster.x-k8s.io/machine';
export const MACHINE_NAMESPACE_ANNOTATION = 'cluster.x-k8s.io/cluster-namespace';
/** On the DaemonSet of kured: which node it is at work on. */
export const KURED_LOCK = 'weave.works/kured-node-lock';

/** Annotations of nodes that markers look at. */
export const MARKER_ANNOTATIONS: ReadonlySet<string> = new Set([
  MACHINE_ANNOTATION,
  MACHINE_NAMESPACE_ANNOTATION,
  ...DRAIN_MARKERS.flatMap(({ sign }) =>
    'annotation' in sign ? [sign.annotation, ...('unlike' in sign ? [sign.unlike] : [])] : [],
  ),
]);

/** Taints that go with the drain that set them. */
export const MARKER_TAINTS: readonly string[] = DRAIN_MARKERS.flatMap(({ means, sign }) =>
  'taint' in sign && means !== 'Failure' ? [sign.taint] : [],
);

export const MARKER_CONDITIONS: readonly string[] = DRAIN_MARKERS.flatMap(({ sign }) =>
  'condition' in sign ? [sign.condition] : [],
);
