/** For every kind that an index is fed with, a world in which one object of that kind makes a difference. */
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { disruptionPolicyType } from '../../../src/api/quorate/disruption-policy.ts';
import { leaderWorkerSetType } from '../../../src/api/lws/types.ts';
import { apiVersionOf, type KubeObject, type ResourceType } from '../../../src/api/resource.ts';
import {
  jobType,
  podDisruptionBudgetType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../../src/api/resource-types.ts';
import { COMPOSITE_TYPES, POD_GROUP_TYPES, WORKLOAD_TYPES } from '../../../src/api/scheduling/index.ts';
import type { DisruptionIndex } from '../../../src/decisions/disruption/index.ts';

interface Placed {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

interface Example extends Placed {
  readonly others: readonly Placed[];
}

export interface OwnerExample extends Example {
  /** The pod, made after its owner, whose uid it names. */
  readonly podOf: (uid: string) => Placed;
}

export interface GroupExample extends Example {
  readonly read: (index: DisruptionIndex, namespace: string) => unknown;
  readonly before: unknown;
  readonly value: unknown;
}

const labels = { app: 'a' };
const named = (name: string, more: object = {}) => ({ name, ...more });
const template = (spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const pod = (spec: object = {}, metadata: object = {}): Placed => ({
  type: podType as ResourceType,
  object: {
    metadata: named('p', { labels, ...metadata }),
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  } as KubeObject,
});
const budget = (annotations: Record<string, string> = {}): Placed => ({
  type: podDisruptionBudgetType as ResourceType,
  object: {
    metadata: named('b', { annotations }),
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  } as KubeObject,
});

const pods = (index: DisruptionIndex, at: string): unknown => index.count(at, 'b', 0)?.pods;
const expected = (index: DisruptionIndex, at: string): unknown => index.count(at, 'b', 0)?.expectedUnits;
const minCount = (index: DisruptionIndex, at: string): unknown => index.unitOf(at, 'p', 'b', 0)?.minCount;

const LWS = 'leaderworkerset.sigs.k8s.io';
const JOBSET = 'jobset.sigs.k8s.io';

export const groupExamples = {
  PodDisruptionBudget: { ...budget(), others: [pod()], read: pods, before: undefined, value: 1 },
  Pod: { ...pod(), others: [budget()], read: pods, before: 0, value: 1 },
  Workload: {
    type: WORKLOAD_TYPES[0] as ResourceType,
    object: {
      metadata: named('w'),
      spec: { podGroups: [{ name: 'g', replicas: 3, policy: { gang: { minCount: 2 } } }] },
    } as KubeObject,
    others: [budget(), pod({ workloadRef: { name: 'w', podGroup: 'g', podGroupReplicaKey: '0' } })],
    // Not the count: a budget goes on counting groups for a while after their Workload is gone.
    read: (index: DisruptionIndex, at: string): unknown => index.groupsIn(at).workload('w')?.groups.get('g')?.replicas,
    before: undefined,
    value: 3,
  },
  PodGroup: {
    type: POD_GROUP_TYPES[0] as ResourceType,
    object: { metadata: named('g'), spec: { schedulingPolicy: { gang: { minCount: 2 } } } } as KubeObject,
    others: [budget(), pod({ schedulingGroup: { podGroupName: 'g' } })],
    read: minCount,
    before: undefined,
    value: 2,
  },
  CompositePodGroup: {
    type: COMPOSITE_TYPES[0] as ResourceType,
    object: {
      metadata: named('root'),
      spec: {
        workloadRef: { workloadName: 'w', templateName: 'root' },
        schedulingPolicy: { gang: { minGroupCount: 2 } },
        disruptionMode: { all: {} },
      },
    } as KubeObject,
    others: [budget()],
    read: (index: DisruptionIndex, at: string): unknown => index.groupsIn(at).composite('root')?.needed,
    before: undefined,
    value: 2,
  },
  DisruptionPolicy: {
    type: disruptionPolicyType as ResourceType,
    object: { metadata: named('d'), spec: { selector: {}, limits: { minInterval: '1h' } } } as KubeObject,
    others: [pod()],
    read: (index: DisruptionIndex, at: string): unknown => index.policy(at, 'd')?.limits?.minInterval?.text,
    before: undefined,
    value: '1h0m0s',
  },
  LeaderWorkerSet: {
    type: leaderWorkerSetType as ResourceType,
    object: {
      metadata: named('set'),
      spec: { replicas: 3, leaderWorkerTemplate: { size: 2, workerTemplate: template() } },
    } as KubeObject,
    others: [budget()],
    read: (index: DisruptionIndex, at: string): unknown => index.groupsIn(at).source('LeaderWorkerSet/set')?.replicas,
    before: undefined,
    value: 3,
  },
  StatefulSet: {
    type: statefulSetType as ResourceType,
    object: {
      metadata: named('set', { labels: { [`${LWS}/name`]: 'set' }, annotations: { [`${LWS}/replicas`]: '4' } }),
      spec: { replicas: 0, serviceName: 'set', selector: { matchLabels: labels }, template: template() },
    } as KubeObject,
    others: [
      budget({ 'policy.quorate.dev/group-by': 'leaderworkerset' }),
      pod(
        {},
        {
          labels: { ...labels, [`${LWS}/name`]: 'set', [`${LWS}/group-index`]: '0' },
          annotations: { [`${LWS}/size`]: '2' },
        },
      ),
    ],
    read: expected,
    before: 1,
    value: 4,
  },
  Job: {
    type: jobType as ResourceType,
    object: {
      metadata: named('train-0'),
      spec: { parallelism: 5, completions: 5, suspend: true, template: template({ restartPolicy: 'Never' }) },
    } as KubeObject,
    others: [
      budget({ 'policy.quorate.dev/group-by': 'jobset' }),
      pod(
        {},
        {
          labels: {
            ...labels,
            [`${JOBSET}/jobset-name`]: 'train',
            [`${JOBSET}/replicatedjob-name`]: 'w',
            [`${JOBSET}/job-index`]: '0',
            'batch.kubernetes.io/job-name': 'train-0',
          },
        },
      ),
    ],
    read: minCount,
    before: undefined,
    value: 5,
  },
} satisfies Record<string, GroupExample>;

const owner = (kind: string, apiVersion: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
});
const guard = (spec: object): Placed => ({
  type: POD_UNAVAILABLE_BUDGETS as ResourceType,
  object: { metadata: named('guard'), spec: { maxUnavailable: 1, ...spec } } as KubeObject,
});
const bySelector = guard({ selector: { matchLabels: labels } });

/** A budget names the pod by what stands above its owner, which only the owner itself tells. */
const owned = (type: ResourceType, spec: object): OwnerExample => ({
  type,
  object: { metadata: named('middle', owner('Deployment', 'apps/v1', 'top', 'uid-top')), spec } as KubeObject,
  others: [guard({ targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'top' } })],
  podOf: (uid) => pod({}, owner(type.kind, apiVersionOf(type), 'middle', uid)),
});

const selected = { selector: { matchLabels: labels }, template: template() };

export const guardExamples = {
  ReplicaSet: owned(replicaSetType as ResourceType, { replicas: 0, ...selected }),
  StatefulSet: owned(statefulSetType as ResourceType, {
    replicas: 0,
    serviceName: 's',
    ...selected,
  }),
  ReplicationController: owned(replicationControllerType as ResourceType, {
    replicas: 0,
    selector: labels,
    template: template(),
  }),
  PodUnavailableBudget: { ...bySelector, others: [pod()] },
  Pod: { ...pod(), others: [bySelector] },
} satisfies Record<string, Example | OwnerExample>;
