/**
 * Every field that a snapshot holds, kind by kind. What is not listed is not in it: a field that Kubernetes, or we, add
 * later stays out until somebody has looked at what people write into it.
 */

/** `whole`: the value as it is. `template`: a pod template. Else, field by field; lists item by item. */
export type Kept = 'whole' | 'template' | { readonly [field: string]: Kept };

const whole = (...names: string[]): Record<string, Kept> => Object.fromEntries(names.map((name) => [name, 'whole']));

const CONDITIONS: Kept = whole('lastTransitionTime', 'reason', 'status', 'type');
const SELECTOR: Kept = whole('matchExpressions', 'matchLabels');
const ROLLING = { type: 'whole', rollingUpdate: whole('maxSurge', 'maxUnavailable', 'partition') } as const;

/** Where a pod may run, what it needs, what it belongs to. No values that programs read. */
const CONTAINER: Kept = {
  ...whole('image', 'name', 'resources', 'restartPolicy'),
  lifecycle: { preStop: { sleep: whole('seconds') } },
};
export const POD_SPEC: Readonly<Record<string, Kept>> = {
  ...whole(
    'activeDeadlineSeconds',
    'affinity',
    'hostNetwork',
    'nodeName',
    'nodeSelector',
    'overhead',
    'preemptionPolicy',
    'priority',
    'priorityClassName',
    'readinessGates',
    'restartPolicy',
    'schedulerName',
    'schedulingGates',
    'schedulingGroup',
    'terminationGracePeriodSeconds',
    'tolerations',
    'topologySpreadConstraints',
    'workload',
    'workloadRef',
    'workloadReference',
  ),
  containers: CONTAINER,
  initContainers: CONTAINER,
};

const JOB: Kept = {
  ...whole(
    'activeDeadlineSeconds',
    'backoffLimit',
    'backoffLimitPerIndex',
    'completionMode',
    'completions',
    'managedBy',
    'manualSelector',
    'maxFailedIndexes',
    'parallelism',
    'podReplacementPolicy',
    'scheduling',
    'suspend',
    'ttlSecondsAfterFinished',
  ),
  selector: SELECTOR,
  template: 'template',
};
const REPLICAS: Kept = { ...whole('minReadySeconds', 'replicas'), selector: SELECTOR, template: 'template' };
/** What groups and their templates have in common. */
const GROUP_TERMS = whole(
  'disruptionMode',
  'preemptionPolicy',
  'priority',
  'priorityClassName',
  'schedulingConstraints',
  'schedulingPolicy',
);
const GROUP_TEMPLATE: Kept = { ...GROUP_TERMS, ...whole('name', 'policy', 'replicas') };
const ANY_GROUP = { ...GROUP_TERMS, ...whole('parentCompositePodGroupName', 'workloadRef') };

export const SPECS: Readonly<Record<string, Readonly<Record<string, Kept>>>> = {
  Namespace: {},
  Node: whole('taints', 'unschedulable'),
  Pod: POD_SPEC,
  Deployment: {
    ...REPLICAS,
    ...whole('paused', 'progressDeadlineSeconds', 'revisionHistoryLimit'),
    strategy: ROLLING,
  },
  ReplicaSet: REPLICAS,
  // Its selector is a plain map.
  ReplicationController: { ...REPLICAS, selector: 'whole' },
  StatefulSet: {
    ...REPLICAS,
    ...whole('ordinals', 'podManagementPolicy', 'revisionHistoryLimit', 'serviceName'),
    updateStrategy: ROLLING,
  },
  DaemonSet: {
    ...whole('minReadySeconds', 'revisionHistoryLimit'),
    selector: SELECTOR,
    template: 'template',
    updateStrategy: ROLLING,
  },
  Job: JOB,
  CronJob: {
    ...whole(
      'concurrencyPolicy',
      'failedJobsHistoryLimit',
      'schedule',
      'startingDeadlineSeconds',
      'successfulJobsHistoryLimit',
      'suspend',
      'timeZone',
    ),
    jobTemplate: { metadata: whole('labels'), spec: JOB },
  },
  LeaderWorkerSet: {
    ...whole('replicas', 'scheduling', 'startupPolicy'),
    networkConfig: whole('subdomainPolicy'),
    rolloutStrategy: { type: 'whole', rollingUpdateConfiguration: whole('maxSurge', 'maxUnavailable', 'partition') },
    leaderWorkerTemplate: {
      ...whole('restartPolicy', 'size', 'subGroupPolicy'),
      leaderTemplate: 'template',
      workerTemplate: 'template',
    },
  },
  Workload: {
    controllerRef: whole('apiGroup', 'kind', 'name'),
    podGroups: GROUP_TEMPLATE,
    podGroupTemplates: GROUP_TEMPLATE,
    compositePodGroupTemplates: 'whole',
  },
  CompositePodGroup: ANY_GROUP,
  PodGroup: { ...ANY_GROUP, ...whole('podGroupTemplateName', 'podGroupTemplateRef') },
  PodDisruptionBudget: { ...whole('maxUnavailable', 'minAvailable', 'unhealthyPodEvictionPolicy'), selector: SELECTOR },
  PodUnavailableBudget: {
    ...whole('maxUnavailable', 'minAvailable', 'podGroupPolicy', 'protectOperations', 'protectTotalReplicas'),
    selector: SELECTOR,
    ignoredPodSelector: SELECTOR,
    targetRef: whole('apiVersion', 'kind', 'name'),
  },
};

const counts = (...names: string[]): Record<string, Kept> => ({
  ...whole('observedGeneration', ...names),
  conditions: CONDITIONS,
});

export const STATUSES: Readonly<Record<string, Readonly<Record<string, Kept>>>> = {
  Namespace: whole('phase'),
  Node: { ...whole('allocatable', 'capacity'), conditions: CONDITIONS },
  Pod: { ...whole('phase', 'qosClass', 'startTime'), conditions: CONDITIONS },
  Deployment: counts('availableReplicas', 'readyReplicas', 'replicas', 'unavailableReplicas', 'updatedReplicas'),
  ReplicaSet: counts('availableReplicas', 'fullyLabeledReplicas', 'readyReplicas', 'replicas', 'terminatingReplicas'),
  ReplicationController: counts('availableReplicas', 'fullyLabeledReplicas', 'readyReplicas', 'replicas'),
  StatefulSet: counts(
    'availableReplicas',
    'currentReplicas',
    'currentRevision',
    'readyReplicas',
    'replicas',
    'updateRevision',
    'updatedReplicas',
  ),
  DaemonSet: counts(
    'currentNumberScheduled',
    'desiredNumberScheduled',
    'numberAvailable',
    'numberMisscheduled',
    'numberReady',
    'numberUnavailable',
    'updatedNumberScheduled',
  ),
  Job: counts(
    'active',
    'completedIndexes',
    'completionTime',
    'failed',
    'failedIndexes',
    'ready',
    'startTime',
    'succeeded',
  ),
  CronJob: whole('lastScheduleTime', 'lastSuccessfulTime'),
  LeaderWorkerSet: counts('readyReplicas', 'replicas', 'updatedReplicas'),
  Workload: counts(),
  CompositePodGroup: counts(),
  PodGroup: counts('scheduledPods'),
  PodDisruptionBudget: counts(
    'currentHealthy',
    'desiredHealthy',
    'disruptedPods',
    'disruptionsAllowed',
    'expectedPods',
  ),
  PodUnavailableBudget: counts(
    'currentAvailable',
    'desiredAvailable',
    'disruptedPods',
    'groupStatus',
    'totalReplicas',
    'unavailableAllowed',
    'unavailablePods',
  ),
};
