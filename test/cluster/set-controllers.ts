/**
 * LeaderWorkerSets and JobSets as they are on clusters that run their controllers. The ones here do not, so suites make
 * what those would make: StatefulSets of leaders and of each leader's workers, and the Jobs of a JobSet.
 */
import { controllerOf, controllerReference, type Owned } from '../../src/api/core/owner.ts';
import type { CustomResourceDefinition } from '../../src/api/generated/apiextensions-v1.ts';
import type { Job } from '../../src/api/generated/batch-v1.ts';
import type { Pod, PodTemplateSpec } from '../../src/api/generated/core-v1.ts';
import { type JobSet, jobSetType } from '../../src/api/jobset/types.ts';
import { LWS } from '../../src/api/lws/types.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { jobType, podType, statefulSetType } from '../../src/api/resource-types.ts';
import { JOBSET } from '../../src/decisions/disruption/index.ts';
import {
  type Client,
  Informer,
  isAlreadyExists,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { until } from './stage.ts';

const namespace = 'default';

export interface SetShape {
  readonly type: ResourceType;
  readonly name: string;
  readonly replicas: number;
  /** Pods of a replica, its leader among them. */
  readonly size: number;
  readonly template: PodTemplateSpec;
}

/** The controller's own webhook marks leaders with the number of their group; here a policy does. */
export const LEADER_MARKS: readonly object[] = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'leader-marks' },
    spec: {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      matchConditions: [
        { name: 'leader', expression: `has(object.metadata.labels) && '${LWS.workerIndex}' in object.metadata.labels` },
      ],
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: `Object{metadata: Object.metadata{labels: {"${LWS.groupIndex}": object.metadata.labels["apps.kubernetes.io/pod-index"]}}}`,
          },
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: 'leader-marks' },
    spec: { policyName: 'leader-marks' },
  },
];

export interface SetController {
  /** Makes the leaders of a set that is there; their workers follow, whenever a leader is made anew. */
  make(shape: SetShape): Promise<void>;
  stop(): void;
}

/** Where a pod of a group goes, the whole group is made anew, from its leader on: the usual restart policy. */
export async function actAsSetController(client: Client): Promise<SetController> {
  const shapes = new Map<string, SetShape>();
  /** By UID of the StatefulSet of its workers. */
  const leaderOf = new Map<string, Pod>();
  const abort = new AbortController();
  const clock = systemClock;
  const pods = new Informer<Pod>({
    client,
    clock,
    log: silentLogger,
    type: podType,
    namespace,
    labelSelector: LWS.name,
  });
  const whenGoing = (pod: Pod): void => {
    const leader = leaderOf.get(controllerOf(pod)?.uid ?? '');
    if (leader !== undefined) void deleteWhole(client, leader).catch(() => {});
  };
  pods.addHandler({
    added: (pod) => {
      const { labels } = pod.metadata;
      const shape = labels?.[LWS.workerIndex] === '0' ? shapes.get(labels[LWS.name] ?? '') : undefined;
      const made = (uid = ''): void => void leaderOf.set(uid, pod);
      if (shape !== undefined) void makeWorkers(client, shape, pod).then(made, () => {});
    },
    updated: (pod) => pod.metadata.deletionTimestamp && whenGoing(pod),
    deleted: whenGoing,
  });
  pods.start(abort.signal);
  await pods.whenSynced();
  return {
    async make(shape) {
      shapes.set(shape.name, shape);
      const set = await client.get(shape.type, { namespace, name: shape.name });
      const labels = { [LWS.name]: shape.name, [LWS.workerIndex]: '0' };
      await client.create(statefulSetType, {
        metadata: { name: shape.name, namespace, ownerReferences: [controllerReference(shape.type, set as Owned)] },
        spec: { replicas: shape.replicas, ...podsOf(shape, labels) },
      });
    },
    stop: () => abort.abort(new Error('the suite is over')),
  };
}

/** Its workers first, as the garbage collector does it. */
async function deleteWhole(client: Client, { metadata: { name = '', uid } }: Pod): Promise<void> {
  await client.delete(podType, { namespace, name }, { preconditions: { uid }, propagationPolicy: 'Foreground' });
}

/** Answers with the UID of their StatefulSet. That of a leader that went has the same name, and goes a moment later. */
async function makeWorkers(client: Client, shape: SetShape, leader: Pod): Promise<string | undefined> {
  const { labels = {}, name = '', uid } = leader.metadata;
  const own = { [LWS.name]: shape.name, [LWS.groupIndex]: labels[LWS.groupIndex] ?? '' };
  const workers = {
    metadata: { name, namespace, ownerReferences: [controllerReference(podType, leader)] },
    spec: { replicas: shape.size - 1, ordinals: { start: 1 }, ...podsOf(shape, own) },
  };
  let made: string | undefined;
  await until(`the workers of ${name}`, async () => {
    try {
      made = (await client.create(statefulSetType, workers)).metadata.uid;
      return true;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const now = await client.get(podType, { namespace, name });
      return now.metadata.uid !== uid;
    }
  });
  return made;
}

function podsOf({ name, template }: SetShape, labels: Record<string, string>) {
  const metadata = { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } };
  return {
    serviceName: name,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: labels },
    template: { ...template, metadata },
  };
}

/** As far as it is published: what a JobSet is made of. */
export const jobSetDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'jobsets.jobset.x-k8s.io',
    // The names of *.k8s.io are given out by a review.
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/jobset' },
  },
  spec: {
    group: jobSetType.group,
    names: { kind: 'JobSet', plural: 'jobsets', singular: 'jobset', listKind: 'JobSetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: jobSetType.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  suspend: { type: 'boolean' },
                  replicatedJobs: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name', 'template'],
                      properties: {
                        name: { type: 'string' },
                        groupName: { type: 'string', default: 'default' as never },
                        replicas: { type: 'integer', format: 'int32', default: 1 as never },
                        template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                      },
                    },
                  },
                },
              },
              status: {
                type: 'object',
                properties: { terminalState: { type: 'string' }, restarts: { type: 'integer', format: 'int32' } },
              },
            },
          },
        },
      },
    ],
  },
};

/** Makes the Jobs of a JobSet that is there. */
export async function makeJobs(client: Client, name: string): Promise<Job[]> {
  const set: JobSet = await client.get(jobSetType, { namespace, name });
  const made: Promise<Job>[] = [];
  for (const { name: job, replicas = 1, template } of set.spec?.replicatedJobs ?? []) {
    for (let at = 0; at < replicas; at += 1) {
      const labels = {
        [JOBSET.name]: name,
        [JOBSET.replicatedJob]: job,
        [JOBSET.replicas]: String(replicas),
        [JOBSET.jobIndex]: String(at),
      };
      const ownerReferences = [controllerReference(jobSetType as ResourceType, set)];
      const spec = template?.spec;
      if (spec === undefined) throw new Error(`The Jobs ${job} of ${name} have no template`);
      const pods = { ...spec.template, metadata: { labels: { ...spec.template.metadata?.labels, ...labels } } };
      const metadata = { name: `${name}-${job}-${at}`, namespace, labels, ownerReferences };
      made.push(client.create(jobType, { metadata, spec: { ...spec, template: pods } }));
    }
  }
  return Promise.all(made);
}
