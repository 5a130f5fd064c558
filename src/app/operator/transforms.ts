import type { Node, Pod, PodCondition } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { createPool } from './pool.ts';

const pool = createPool();

/** Bulky, written by clients for themselves. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What is kept of a pod: enough to count it, a fraction of what it is. Parts that the pods of one template have in
 * common (labels, owners, images) are kept once.
 */
function slimPod(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec, status } = object as Pod;
  const { annotations, creationTimestamp, deletionGracePeriodSeconds, deletionTimestamp, finalizers } = metadata;
  const { generation, labels, name, namespace, ownerReferences, resourceVersion, uid } = metadata;
  const { containers = [], nodeName, schedulingGroup, workload, workloadRef, workloadReference } = spec ?? {};
  const { conditions = [], containerStatuses, phase } = status ?? {};
  return defined({
    apiVersion,
    kind,
    metadata: defined({
      name,
      namespace: pool.text(namespace),
      uid,
      resourceVersion,
      generation,
      creationTimestamp,
      deletionTimestamp,
      deletionGracePeriodSeconds,
      finalizers,
      labels: pool.value(labels),
      annotations: pool.value(withoutLastApplied(annotations)),
      ownerReferences: pool.value(ownerReferences),
    }),
    spec: defined({
      containers: pool.value(containers.map(slimContainer)),
      nodeName: pool.text(nodeName),
      schedulingGroup: pool.value(schedulingGroup),
      workload: pool.value(workload),
      workloadRef: pool.value(workloadRef),
      workloadReference: pool.value(workloadReference),
    }),
    status: defined({
      phase: pool.text(phase),
      conditions: conditions.filter(({ type }) => type === 'Ready' || type === 'DisruptionTarget').map(slimCondition),
      containerStatuses: pool.value(
        containerStatuses?.map((one) => ({
          name: one.name,
          image: one.image,
          imageID: one.imageID,
          ready: one.ready,
          restartCount: one.restartCount,
        })),
      ),
    }),
  } as unknown as Pod);
}

function slimCondition({ lastTransitionTime, reason, status, type }: PodCondition): PodCondition {
  const slim: PodCondition = { type: pool.text(type), status: pool.text(status) };
  if (lastTransitionTime) slim.lastTransitionTime = lastTransitionTime;
  if (reason) slim.reason = pool.text(reason);
  return slim;
}

/** Sidecars are told by a variable; the rest of the environment is nobody's business here. */
function slimContainer({ env, image, name }: NonNullable<Pod['spec']>['containers'][number]): object {
  const marks = env?.filter((one) => one.name === 'IS_INJECTED') ?? [];
  return { name, image, ...(marks.length === 0 ? {} : { env: marks }) };
}

function withoutLastApplied(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
  if (annotations?.[LAST_APPLIED] === undefined) return annotations;
  const { [LAST_APPLIED]: _, ...kept } = annotations;
  return kept;
}

/** Leaves out what is absent: a property costs memory even when it holds nothing. */
function defined<T extends object>(object: T): T {
  for (const key of Object.keys(object) as (keyof T)[]) {
    if (object[key] === undefined)
      return Object.fromEntries(Object.entries(object).filter(([, v]) => v !== undefined)) as T;
  }
  return object;
}

/** Nodes are asked whether they are cordoned; what they report about themselves is the bulk of them. */
function slimNode(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec } = object as Node;
  const { labels, name, resourceVersion, uid } = metadata;
  const { taints, unschedulable } = spec ?? {};
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, labels },
    spec: { taints, unschedulable },
  } as Node;
}

/** Workloads are read for their size and owners; their pod templates are the bulk of them. */
function withoutTemplate(object: KubeObject): KubeObject {
  const { spec, ...rest } = object as KubeObject & { spec?: { template?: unknown } };
  if (spec === undefined) return object;
  const { template: _template, ...kept } = spec;
  return { ...rest, spec: kept } as KubeObject;
}

export const transforms: ReadonlyMap<string, (object: KubeObject) => KubeObject> = new Map([
  ['pods', slimPod],
  ['nodes', slimNode],
  ['replicasets.apps', withoutTemplate],
  ['deployments.apps', withoutTemplate],
  ['statefulsets.apps', withoutTemplate],
  ['replicationcontrollers', withoutTemplate],
]);
