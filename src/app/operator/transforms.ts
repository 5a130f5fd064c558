import type { Node, Pod, PodCondition } from '../../api/generated/core-v1.ts';
import { NOTICE_ACKNOWLEDGED_CONDITION, NOTICE_CONDITION } from '../../api/quorate/notice.ts';
import type { KubeObject } from '../../api/resource.ts';
import { MARKER_ANNOTATIONS, MARKER_CONDITIONS } from '../../decisions/observed-drains/index.ts';
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
  const { conditions = [], containerStatuses, nominatedNodeName, phase } = status ?? {};
  return defined({
    apiVersion,
    kind,
    metadata: defined({
      name,
      namespace: pool.text(namespace),
      uid,
      resourceVersion,
      generation,
      creationTimestamp: pool.text(creationTimestamp),
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
      nominatedNodeName: pool.text(nominatedNodeName),
      conditions: conditions.filter(({ type }) => KEPT_CONDITIONS.has(type)).map(slimCondition),
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
  } as Pod);
}

const KEPT_CONDITIONS = new Set(['Ready', 'DisruptionTarget', NOTICE_CONDITION, NOTICE_ACKNOWLEDGED_CONDITION]);

function slimCondition({ lastTransitionTime, message, reason, status, type }: PodCondition): PodCondition {
  const slim: PodCondition = { type: pool.text(type), status: pool.text(status) };
  if (lastTransitionTime) slim.lastTransitionTime = pool.text(lastTransitionTime);
  if (reason) slim.reason = pool.text(reason);
  // Whether it goes alone or with its group.
  if (message && type === 'DisruptionTarget') slim.message = pool.text(message);
  // It names the notice.
  if (message && type === NOTICE_ACKNOWLEDGED_CONDITION) slim.message = message;
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
  const { apiVersion, kind, metadata, spec, status } = object as Node;
  const { annotations, deletionTimestamp, finalizers, labels, name, resourceVersion, uid } = metadata;
  const { taints, unschedulable } = spec ?? {};
  const conditions = (status?.conditions ?? []).filter(({ type }) => DRAIN_CONDITIONS.has(type)).map(slimStatus);
  return {
    apiVersion,
    kind,
    metadata: defined({
      name,
      uid,
      resourceVersion,
      deletionTimestamp,
      finalizers,
      labels,
      annotations: ownOnly(annotations),
    }),
    spec: { taints, unschedulable },
    ...(conditions.length > 0 && { status: { conditions } }),
  } as Node;
}

const DRAIN_CONDITIONS = new Set([
  'MaintenancePlanned',
  'DrainInProgress',
  'Drained',
  'MaintenanceInProgress',
  ...MARKER_CONDITIONS,
]);

const slimStatus = ({ status, type }: { type: string; status: string }) => ({ type, status });

/** Who has claimed the node, and by what others mark it. */
function ownOnly(annotations: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations ?? {}).filter(
      ([key]) => key.startsWith('policy.quorate.dev/') || MARKER_ANNOTATIONS.has(key),
    ),
  );
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

type PodContainer = NonNullable<Pod['spec']>['containers'][number];

/** What a container takes on its node; the rest of it decides nothing there. */
const takesOf = ({ image, name, ports, resources, restartPolicy }: PodContainer): PodContainer =>
  defined({ name, image: pool.text(image), ports, resources, restartPolicy } as PodContainer);

/** What is kept of a pod where nodes are filled with it. */
function placedPod(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec, status } = object as Pod;
  const { ephemeralContainers: _, ...kept } = spec ?? { containers: [] };
  return {
    apiVersion,
    kind,
    metadata: defined({ ...metadata, annotations: withoutLastApplied(metadata.annotations) }),
    spec: defined({
      ...kept,
      containers: pool.value(kept.containers.map(takesOf)),
      initContainers: pool.value(kept.initContainers?.map(takesOf)),
    }),
    status,
  } as Pod;
}

/** Of what is followed to tell where pods could go. */
export const roomTransforms: typeof transforms = new Map([['pods', placedPod]]);
