import type { KubeObject } from '../../api/resource.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is kept of a pod's spec: where it may run, what it needs, what it belongs to. No values that programs read. */
const POD_SPEC = [
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
];
const CONTAINER = ['image', 'name', 'resources', 'restartPolicy'];
const METADATA = [
  'creationTimestamp',
  'deletionTimestamp',
  'generation',
  'labels',
  'name',
  'namespace',
  'ownerReferences',
  'uid',
];

/** Annotations that decisions read; any other may hold anything, such as a whole manifest with its variables. */
const ANNOTATIONS = [
  /^([\w.-]+\.)?quorate\.dev\//,
  /^leaderworkerset\.sigs\.k8s\.io\//,
  /^(pub\.|policy\.)?kruise\.io\//,
  /^scheduling\.k8s\.io\//,
  /^jobset\.sigs\.k8s\.io\//,
  /^batch\.kubernetes\.io\/job-/,
  /^deployment\.kubernetes\.io\/(revision|desired-replicas|max-replicas)$/,
  /^controller\.kubernetes\.io\/pod-deletion-cost$/,
  /^kubernetes\.io\/config\.mirror$/,
];

/** What is kept of an object's spec beside its pod template, by kind; absent: all of it. */
const SPECS: Readonly<Record<string, readonly string[]>> = {
  Namespace: [],
  Node: ['taints', 'unschedulable'],
};
const STATUSES: Readonly<Record<string, readonly string[]>> = {
  Node: ['allocatable', 'capacity', 'conditions'],
  Pod: ['conditions', 'phase', 'qosClass', 'startTime'],
};

/** An object without what a snapshot must not hold: environment, commands, volumes, foreign annotations, messages. */
export function scrub(kind: string, object: KubeObject): KubeObject {
  const { metadata, spec, status, ...rest } = object as KubeObject & { spec?: Fields; status?: Fields };
  const top = kind === 'PriorityClass' ? pick(rest, ['value', 'globalDefault', 'preemptionPolicy']) : {};
  return {
    apiVersion: object.apiVersion,
    kind,
    metadata: scrubMetadata(metadata as Fields),
    ...top,
    ...(spec !== undefined && { spec: kind === 'Pod' ? scrubPodSpec(spec) : scrubSpec(spec, SPECS[kind]) }),
    ...(status !== undefined && { status: scrubStatus(status, STATUSES[kind]) }),
  } as KubeObject;
}

function scrubMetadata(metadata: Fields): Fields {
  const annotations = Object.entries((metadata['annotations'] ?? {}) as Record<string, string>).filter(([key]) =>
    ANNOTATIONS.some((pattern) => pattern.test(key)),
  );
  const finalizers = ((metadata['finalizers'] ?? []) as string[]).filter(
    (name) => name === 'batch.kubernetes.io/job-tracking',
  );
  return {
    ...pick(metadata, METADATA),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    ...(finalizers.length > 0 && { finalizers }),
  };
}

/** Pod templates may stand anywhere in a spec. */
function scrubSpec(spec: Fields, keep: readonly string[] | undefined): Fields {
  const kept = keep === undefined ? spec : pick(spec, keep);
  const entries = Object.entries(kept).filter(([key]) => key !== 'volumeClaimTemplates');
  return Object.fromEntries(entries.map(([key, value]) => [key, scrubValue(value)]));
}

function scrubValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrubValue);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const spec = fields['spec'] as Fields | undefined;
  if (Array.isArray(spec?.['containers'])) {
    return { metadata: scrubMetadata((fields['metadata'] ?? {}) as Fields), spec: scrubPodSpec(spec) };
  }
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, scrubValue(one)]));
}

function scrubPodSpec(spec: Fields): Fields {
  const volumes = ((spec['volumes'] ?? []) as Fields[]).filter((volume) => volume['emptyDir'] !== undefined);
  const init = spec['initContainers'] as Fields[] | undefined;
  return {
    ...pick(spec, POD_SPEC),
    containers: ((spec['containers'] ?? []) as Fields[]).map(scrubContainer),
    ...(init !== undefined && { initContainers: init.map(scrubContainer) }),
    ...(volumes.length > 0 && { volumes: volumes.map((volume) => ({ name: volume['name'], emptyDir: {} })) }),
  };
}

function scrubContainer(container: Fields): Fields {
  const probe = container['readinessProbe'] as Fields | undefined;
  const sleep = (container['lifecycle'] as { preStop?: { sleep?: unknown } } | undefined)?.preStop?.sleep;
  const ports = ((container['ports'] ?? []) as Fields[]).filter((port) => port['hostPort'] !== undefined);
  return {
    ...pick(container, CONTAINER),
    ...(ports.length > 0 && {
      ports: ports.map((port) => pick(port, ['containerPort', 'hostIP', 'hostPort', 'protocol'])),
    }),
    // A probe's command or headers may hold anything; only its delay matters, with a test that says nothing.
    ...(typeof probe?.['initialDelaySeconds'] === 'number' && {
      readinessProbe: { tcpSocket: { port: 1 }, initialDelaySeconds: probe['initialDelaySeconds'] },
    }),
    ...(sleep !== undefined && { lifecycle: { preStop: { sleep } } }),
  };
}

function scrubStatus(status: Fields, keep: readonly string[] | undefined): Fields {
  const { conditions, ...kept } = keep === undefined ? status : pick(status, keep);
  if (!Array.isArray(conditions)) return kept;
  return {
    ...kept,
    conditions: (conditions as Fields[]).map((one) => pick(one, ['lastTransitionTime', 'reason', 'status', 'type'])),
  };
}

function pick(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]));
}
