import { controllerOf } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { LWS } from '../../api/lws/types.ts';
import { type KubeObject, splitApiVersion } from '../../api/resource.ts';
import { JOBSET } from '../disruption/index.ts';
import { planPod } from './planned-pod.ts';
import type { LintPod, PodSet, Scale } from './pod-set.ts';
import type { Projection } from './project.ts';
import { countAt, fieldsOf } from './shapes.ts';

/** The kinds whose replicas the disruption controller knows, and those that it knows to have none. */
const SCALED = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController', 'LeaderWorkerSet']);
const UNSCALED = new Set(['DaemonSet', 'Job', 'JobSet', 'CronJob', 'Node']);

/** The pods a cluster runs, taken as healthy: what is wrong today is for `why`, what can never be right is for lint. */
export function observePods(objects: readonly KubeObject[]): Projection {
  const byUid = new Map(objects.map((object) => [object.metadata.uid ?? '', object]));
  const byName = new Map(
    objects.map((object) => [keyOf(object.kind, object.metadata.namespace, object.metadata.name), object]),
  );
  const sets = new Map<string, PodSet>();
  const pods: LintPod[] = [];
  for (const object of objects) {
    if (object.kind !== 'Pod') continue;
    const pod = object as Pod;
    const phase = pod.status?.phase;
    // A pod that is going will be replaced; one that has finished holds nothing up.
    if (pod.metadata.deletionTimestamp || phase === 'Succeeded' || phase === 'Failed') continue;
    const owner = controllerOf(pod);
    const id = owner === undefined ? `Pod/${pod.metadata.uid}` : setIdOf(owner, byUid);
    const set = sets.get(id) ?? setOf(pod, owner, { byUid, byName });
    sets.set(id, set);
    const { name = '', namespace = '' } = pod.metadata;
    pods.push(planPod({ namespace, name, set, template: fieldsOf(pod), owner }));
  }
  // What objects say about groups stands in the objects themselves.
  return { sets: [...sets.values()], pods, sources: [], gangs: [] };
}

interface Known {
  readonly byUid: ReadonlyMap<string, KubeObject>;
  readonly byName: ReadonlyMap<string, KubeObject>;
}

const keyOf = (kind = '', namespace = '', name = ''): string => `${kind}/${namespace}/${name}`;

/** Old and new ReplicaSets of a Deployment are one set. */
function setIdOf(owner: OwnerReference, byUid: ReadonlyMap<string, KubeObject>): string {
  const direct = byUid.get(owner.uid);
  const above = direct?.kind === 'ReplicaSet' ? controllerOf(direct as Pod) : undefined;
  return above?.uid ?? owner.uid;
}

function setOf(pod: Pod, owner: OwnerReference | undefined, { byUid, byName }: Known): PodSet {
  const labels = pod.metadata.labels ?? {};
  if (owner === undefined) return { root: pod as KubeObject, path: '', labels, scale: 'None', managed: false };
  const direct = byUid.get(owner.uid) ?? namedBy(owner, pod);
  const above = controllerOf(direct as Pod);
  const counted = direct.kind === 'ReplicaSet' && above !== undefined ? (byUid.get(above.uid) ?? direct) : direct;
  const { namespace } = pod.metadata;
  const marked =
    byName.get(keyOf('LeaderWorkerSet', namespace, labels[LWS.name])) ??
    byName.get(keyOf('JobSet', namespace, labels[JOBSET.name]));
  const root = marked ?? (above === undefined ? counted : (byUid.get(above.uid) ?? counted));
  return { root, path: '', labels, scale: scaleOf(counted), managed: true };
}

/** An owner of a kind that was not read, or that is gone. */
function namedBy({ apiVersion, kind, name }: OwnerReference, { metadata }: Pod): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace: metadata.namespace } };
}

function scaleOf(object: KubeObject): Scale {
  const { group } = splitApiVersion(object.apiVersion ?? '');
  const kind = object.kind ?? '';
  if (UNSCALED.has(kind) && (group === '' || group === 'apps' || group === 'batch' || kind === 'JobSet')) return 'None';
  if (!SCALED.has(kind) || object.metadata.uid === undefined) return 'Unknown';
  return countAt(fieldsOf((object as { spec?: unknown }).spec)['replicas'], 1);
}
