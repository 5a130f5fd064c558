import type { KubeObject } from '../../api/resource.ts';
import { isObject } from '../../machinery/values/index.ts';
import { type Kept, POD_SPEC, SPECS, STATUSES } from './fields.ts';

type Fields = Readonly<Record<string, unknown>>;

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

/** What a snapshot holds of an object: the fields that `fields.ts` lists, and nothing else. */
export function keepListed(kind: string, object: KubeObject): KubeObject {
  const { metadata, spec, status } = object as KubeObject & { spec?: Fields; status?: Fields };
  const top = kind === 'PriorityClass' ? pick({ ...object }, PRIORITY_CLASS) : {};
  return {
    apiVersion: object.apiVersion,
    kind,
    metadata: keepMetadata(metadata as Fields),
    ...top,
    ...(spec !== undefined && { spec: kind === 'Pod' ? keepPodSpec(spec) : keepFields(spec, SPECS[kind] ?? {}) }),
    ...(status !== undefined && { status: keepFields(status, STATUSES[kind] ?? {}) }),
  } as KubeObject;
}

const PRIORITY_CLASS = ['value', 'globalDefault', 'preemptionPolicy'];

function keepMetadata(metadata: Fields): Fields {
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

function keepValue(value: unknown, kept: Kept): unknown {
  if (kept === 'whole') return value;
  if (Array.isArray(value)) return value.map((item) => keepValue(item, kept));
  if (!isObject(value)) return undefined;
  return kept === 'template' ? keepTemplate(value) : keepFields(value, kept);
}

function keepFields(fields: Fields, kept: Readonly<Record<string, Kept>>): Fields {
  const entries = Object.entries(kept)
    .filter(([name]) => fields[name] !== undefined)
    .map(([name, how]) => [name, keepValue(fields[name], how)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Fields;
}

function keepTemplate({ metadata = {}, spec = {} }: Fields): Fields {
  return { metadata: keepMetadata(metadata as Fields), spec: keepPodSpec(spec as Fields) };
}

/** Beside what is listed: what a pod needs to be placed and to start when it did, in words of ours. */
function keepPodSpec(spec: Fields): Fields {
  const volumes = ((spec['volumes'] ?? []) as Fields[]).filter((volume) => volume['emptyDir'] !== undefined);
  const own = keepFields(spec, POD_SPEC);
  const containers = (name: string): object =>
    Array.isArray(spec[name])
      ? { [name]: (spec[name] as Fields[]).map((one, at) => withStart(one, (own[name] as Fields[])[at] ?? {})) }
      : {};
  return {
    ...own,
    containers: [],
    ...containers('containers'),
    ...containers('initContainers'),
    ...(volumes.length > 0 && { volumes: volumes.map((volume) => ({ name: volume['name'], emptyDir: {} })) }),
  };
}

function withStart(container: Fields, kept: Fields): Fields {
  const probe = container['readinessProbe'] as Fields | undefined;
  const ports = ((container['ports'] ?? []) as Fields[]).filter((port) => port['hostPort'] !== undefined);
  const { lifecycle, ...rest } = kept;
  const sleeps = (lifecycle as { preStop?: { sleep?: object } } | undefined)?.preStop?.sleep !== undefined;
  return {
    ...rest,
    ...(ports.length > 0 && {
      ports: ports.map((port) => pick(port, ['containerPort', 'hostIP', 'hostPort', 'protocol'])),
    }),
    // A probe's command or headers may hold anything; only its delay matters, with a test that says nothing.
    ...(typeof probe?.['initialDelaySeconds'] === 'number' && {
      readinessProbe: { tcpSocket: { port: 1 }, initialDelaySeconds: probe['initialDelaySeconds'] },
    }),
    ...(sleeps && { lifecycle }),
  };
}

function pick(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]));
}
