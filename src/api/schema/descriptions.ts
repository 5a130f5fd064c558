/**
 * What `kubectl explain` says about fields, in our own words, for the kinds this project is about and the metadata all
 * kinds share. Keys are type ids as in the schema data; the empty field name describes the type itself.
 */
import { LIFECYCLE_DESCRIPTIONS } from './lifecycle-descriptions.ts';

type TypeDescriptions = Readonly<Record<string, string>>;

export const TYPE_META_DESCRIPTIONS = {
  apiVersion: 'APIVersion defines which version of the schema this object follows: a group and a version, or v1 alone.',
  kind: 'Kind is the name of the resource type this object is of. It cannot be changed.',
} as const;

export const OBJECT_META_DESCRIPTION =
  "Standard object's metadata: name, namespace, labels, owners and what the server keeps.";

const budgetSpec: TypeDescriptions = {
  '': 'PodDisruptionBudgetSpec says which pods are protected and how many may be missing at once.',
  minAvailable:
    'How many selected pods must stay available during a voluntary disruption, as a number or a percentage. Excludes maxUnavailable.',
  maxUnavailable:
    'How many selected pods may be unavailable during a voluntary disruption, as a number or a percentage. Excludes minAvailable.',
  selector: 'Which pods the budget protects. Empty selects every pod of the namespace; absent selects none.',
  unhealthyPodEvictionPolicy:
    'When pods that are not ready may be evicted: IfHealthyBudget (the default) only while enough are healthy, AlwaysAllow at any time.',
};

const budgetStatus: TypeDescriptions = {
  '': 'PodDisruptionBudgetStatus is what the controller last found.',
  observedGeneration: 'The generation of the budget this status was computed for.',
  disruptedPods: 'Pods whose eviction was granted but not yet seen, with the time of the grant.',
  disruptionsAllowed: 'How many evictions would be granted now.',
  currentHealthy: 'How many selected pods are healthy now.',
  desiredHealthy: 'How many must stay healthy.',
  expectedPods: 'How many pods the budget counts.',
  conditions: 'DisruptionAllowed says whether an eviction would be granted, and why not.',
};

const podPickerHost: TypeDescriptions = {
  downscalePodPicker: 'A service that is asked which pods to remove first when the number of replicas goes down.',
};

const schedulingPolicy: TypeDescriptions = {
  '': 'How the pods of the group are scheduled; exactly one member is set.',
  basic: 'Pods are scheduled one by one.',
  gang: 'Pods are scheduled all or none.',
};

const gang: TypeDescriptions = {
  '': 'Schedules the group only when enough of its pods fit at the same time.',
  minCount: 'How many pods must be placeable together before any of them is bound.',
};

const workloadSpec: TypeDescriptions = {
  controllerRef: 'The object the workload stands for, such as a Job.',
  podGroups: 'The groups of pods the workload consists of.',
  podGroupTemplates: 'The templates from which groups of pods are made.',
  compositePodGroupTemplates: 'The templates from which groups of groups are made.',
};

const podGroupSpec: TypeDescriptions = {
  podGroupTemplateRef: 'The template in a Workload this group was made from.',
  podGroupTemplateName: 'The name of the template in the Workload this group was made from.',
  workloadRef: 'The Workload and template this group was made from.',
  schedulingPolicy: 'How the pods of the group are scheduled.',
  schedulingConstraints: 'Where the pods of the group must go together.',
  disruptionMode: 'Whether pods of the group may be disrupted one by one or only all together.',
  parentCompositePodGroupName: 'The group of groups this one belongs to.',
  priorityClassName: 'The class that gives the group its priority.',
  priority: 'The priority of the group, resolved from its class.',
  resourceClaims: 'Claims the pods of the group share.',
};

const workload = 'Workload describes how the pods of an application belong together, for scheduling and disruption.';
const podGroup = 'PodGroup is a set of pods that is scheduled, and may be disrupted, as a unit.';

function groupsOf(version: string): Record<string, TypeDescriptions> {
  const id = (name: string): string => `scheduling/${version}.${name}`;
  return {
    [id('Workload')]: { '': workload, spec: 'The groups of the workload.' },
    [id('WorkloadSpec')]: workloadSpec,
    [id('PodGroup')]: { '': podGroup, spec: 'What the group asks for.', status: 'How far the group got.' },
    [id('PodGroupSpec')]: podGroupSpec,
    [id('PodGroupPolicy')]: schedulingPolicy,
    [id('PodGroupSchedulingPolicy')]: schedulingPolicy,
    [id('GangSchedulingPolicy')]: gang,
    [id('CompositePodGroup')]: {
      '': 'CompositePodGroup is a set of groups that is scheduled, and may be disrupted, as a unit.',
      spec: 'What the group of groups asks for.',
      status: 'How far it got.',
    },
    [id('CompositePodGroupSpec')]: podGroupSpec,
    [id('CompositeGangSchedulingPolicy')]: {
      '': 'Schedules the groups only when enough of them fit at the same time.',
      minGroupCount: 'How many groups must be placeable together before any of their pods is bound.',
    },
  };
}

const DESCRIPTIONS: Readonly<Record<string, TypeDescriptions>> = {
  'meta/v1.ObjectMeta': {
    '': OBJECT_META_DESCRIPTION,
    name: 'The name of the object, unique among its kind in a namespace.',
    generateName: 'A prefix from which the server makes a unique name when none is given.',
    namespace: 'The namespace the object lives in; absent for cluster-wide kinds.',
    labels: 'Key-value pairs that selectors match.',
    annotations: 'Key-value pairs that tools keep with the object; selectors do not see them.',
    ownerReferences: 'Objects this one depends on; when all of them are gone, so is this one.',
    finalizers: 'What must be done before the object is removed; it stays until the list is empty.',
    uid: 'Identifies the object over all time and space. Set by the server.',
    resourceVersion: 'The state of the object, to detect that it changed in between. Opaque to clients.',
    generation: 'Counts the changes of what is desired. Set by the server.',
    creationTimestamp: 'CreationTimestamp is a timestamp: when the object was created. Set by the server.',
    deletionTimestamp: 'When deletion was asked for, or will take effect. Set by the server.',
    deletionGracePeriodSeconds: 'How long the object may take to shut down after deletion was asked for.',
    managedFields: 'Who set which field.',
  },
  'policy/v1.PodDisruptionBudget': {
    '': 'PodDisruptionBudget limits how many pods of an application voluntary disruptions may take down at once.',
    spec: 'Which pods are protected and how many may be missing.',
    status: 'What the controller last found.',
  },
  'policy/v1.PodDisruptionBudgetSpec': budgetSpec,
  'policy/v1.PodDisruptionBudgetStatus': budgetStatus,
  'policy/v1.Eviction': {
    '': 'Eviction asks to remove a pod if the budgets that protect it allow. It is created below the pod.',
    deleteOptions: 'How the pod is deleted once that is allowed.',
  },
  'apps/v1.ReplicaSet': {
    '': 'ReplicaSet keeps a number of identical pods running.',
    spec: 'How many pods, and what they look like.',
    status: 'What the controller last found.',
  },
  'apps/v1.ReplicaSetSpec': {
    replicas: 'How many pods should run. Defaults to 1.',
    selector: 'Which pods belong to the ReplicaSet. Cannot be changed.',
    template: 'What new pods look like.',
    minReadySeconds: 'How long a pod must be ready before it counts as available.',
    ...podPickerHost,
  },
  'apps/v1.Deployment': {
    '': 'Deployment rolls out pods and their changes by way of ReplicaSets.',
    spec: 'How many pods, what they look like and how changes are rolled out.',
    status: 'What the controller last found.',
  },
  'apps/v1.DeploymentSpec': {
    replicas: 'How many pods should run. Defaults to 1.',
    selector: 'Which pods belong to the Deployment. Cannot be changed.',
    template: 'What new pods look like; a change starts a rollout.',
    strategy: 'How old pods are replaced by new ones.',
    minReadySeconds: 'How long a pod must be ready before it counts as available.',
    revisionHistoryLimit: 'How many old ReplicaSets are kept for a rollback. Defaults to 10.',
    paused: 'Holds back rollouts while true.',
    progressDeadlineSeconds: 'How long a rollout may make no progress before it counts as failed. Defaults to 600.',
    ...podPickerHost,
  },
  'apps/v1.DownscalePodPicker': {
    '': 'A service that chooses which pods to remove first. Exactly one protocol is set.',
    http: 'How to reach the service over HTTP.',
    maxRetries: 'How often a failed request is repeated, 0 to 10. Defaults to 3.',
    timeoutSeconds: 'How long the choice may take, retries included, 1 to 30. Defaults to 1.',
  },
  'apps/v1.HTTPPodPicker': {
    host: 'The host name or address of the service.',
    port: 'The port of the service, 1 to 65535.',
    path: 'The path that is posted to. Defaults to "/".',
    scheme: 'HTTP (the default) or HTTPS.',
    httpHeaders: 'Headers to send along; names may repeat.',
  },
  'apps/v1.HTTPPodPickerHeader': {
    name: 'The name of the header.',
    value: 'Its value; excludes valueFrom.',
    valueFrom: 'Where to take the value from.',
  },
  'apps/v1.HTTPPodPickerHeaderSource': { secretKeyRef: 'A key of a Secret in the same namespace.' },
  ...LIFECYCLE_DESCRIPTIONS,
  ...groupsOf('v1alpha1'),
  ...groupsOf('v1alpha2'),
  ...groupsOf('v1alpha3'),
  ...groupsOf('v1beta1'),
  'scheduling/v1alpha1.WorkloadPodGroup': {
    name: 'The name of the group, unique in the workload.',
    policy: 'How the pods of the group are scheduled.',
    replicas: 'How many copies of the group there are.',
  },
  'core/v1.Pod': {
    '': 'Pod is a set of containers that run together on one node.',
    spec: 'What the pod should be.',
    status: 'What the pod is.',
  },
  'core/v1.PodSpec': {
    containers: 'The containers of the pod; at least one.',
    nodeName: 'The node the pod runs on; set by the scheduler.',
    schedulingGroup: 'The group the pod is scheduled with.',
    evictionResponders: 'Who has a turn before the pod is evicted on request. Not for pods of a schedulingGroup.',
    workload: 'The workload and group the pod belongs to, in the form of the first proposal.',
    workloadReference: 'The workload, group and copy of it the pod belongs to, in the form of the first proposal.',
    workloadRef: 'The workload and group the pod belongs to, in the form of scheduling.k8s.io/v1alpha1.',
    terminationGracePeriodSeconds: 'How long the pod may take to shut down. Defaults to 30.',
    priorityClassName: 'The class that gives the pod its priority.',
  },
};

export function describeType(id: string): string | undefined {
  return descriptionOf(id, '');
}

export function describeField(id: string, name: string): string | undefined {
  const own = descriptionOf(id, name);
  if (own !== undefined) return own;
  if (name === 'apiVersion' || name === 'kind') return TYPE_META_DESCRIPTIONS[name];
  return name === 'metadata' ? OBJECT_META_DESCRIPTION : undefined;
}

function descriptionOf(id: string, name: string): string | undefined {
  const type = Object.hasOwn(DESCRIPTIONS, id) ? DESCRIPTIONS[id] : undefined;
  return type !== undefined && Object.hasOwn(type, name) ? type[name] : undefined;
}
