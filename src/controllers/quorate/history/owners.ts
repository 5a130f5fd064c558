import { controllerOf } from '../../../api/core/owner.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { builtinType } from '../../../api/registry.ts';
import { type KubeObject, splitApiVersion } from '../../../api/resource.ts';
import { type Client, isForbidden, isNotFound } from '../../../machinery/runtime/index.ts';
import type { Sighting } from './seen.ts';

/** Kinds that say how many pods they want, and where they are served. */
const GROUPS: Readonly<Record<string, string>> = {
  ReplicaSet: 'apps',
  StatefulSet: 'apps',
  DaemonSet: 'apps',
  Job: 'batch',
  ReplicationController: '',
};

type Owner = KubeObject | 'Gone' | 'Unknown';

interface Replicated {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly updateRevision?: string; readonly desiredNumberScheduled?: number };
}

/** What made pods, each asked once: whether it wanted one that went. */
export class OwnerReader {
  readonly #client: Client;
  readonly #known = new Map<string, Promise<Owner>>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** True where a controller removes it because it wants fewer, another template, or is done or gone itself. */
  async isUnwanted({ pod, siblings }: Pick<Sighting, 'pod' | 'siblings'>): Promise<boolean> {
    const reference = controllerOf(pod);
    if (reference === undefined) return false;
    const owner = await this.#read(reference, pod.metadata.namespace ?? '');
    if (owner === 'Unknown') return false;
    if (owner === 'Gone' || owner.metadata.deletionTimestamp !== undefined) return true;
    if (isOfOldTemplate(reference.kind, owner, pod.metadata.labels)) return true;
    const wanted = wantedBy(reference.kind, owner);
    return wanted !== undefined && (wanted === 0 || (siblings !== undefined && siblings >= wanted));
  }

  /** How many pods an owner wants: none where it is gone; undefined where that cannot be told. */
  async wantedBy(reference: OwnerReference, namespace: string): Promise<number | undefined> {
    const owner = await this.#read(reference, namespace);
    if (owner === 'Unknown') return undefined;
    return owner === 'Gone' ? 0 : wantedBy(reference.kind, owner);
  }

  #read(reference: OwnerReference, namespace: string): Promise<Owner> {
    const known = this.#known.get(reference.uid);
    if (known !== undefined) return known;
    const read = this.#ask(reference, namespace);
    this.#known.set(reference.uid, read);
    return read;
  }

  async #ask({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Promise<Owner> {
    const { group } = splitApiVersion(apiVersion);
    if (GROUPS[kind] !== group) return 'Unknown';
    try {
      const owner = await this.#client.get(builtinType(kind, group), { namespace, name });
      return owner.metadata.uid === uid ? owner : 'Gone';
    } catch (error) {
      if (isNotFound(error)) return 'Gone';
      if (isForbidden(error)) return 'Unknown';
      throw error;
    }
  }
}

/** How many pods an owner wants; undefined where that is not known. */
function wantedBy(kind: string, owner: KubeObject): number | undefined {
  if (kind === 'Job') {
    const { spec, status } = owner as Job;
    const conditions = status?.conditions ?? [];
    const isOver = conditions.some((one) => ENDED.has(one.type) && one.status === 'True');
    if (isOver || spec?.suspend === true) return 0;
    const parallel = spec?.parallelism ?? 1;
    if (spec?.completions === undefined) return parallel;
    return Math.min(parallel, Math.max(0, spec.completions - (status?.succeeded ?? 0)));
  }
  if (kind === 'DaemonSet') return (owner as Replicated).status?.desiredNumberScheduled;
  return REPLICATED.has(kind) ? ((owner as Replicated).spec?.replicas ?? 1) : undefined;
}

const ENDED = new Set(['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget']);
const REPLICATED = new Set(['ReplicaSet', 'ReplicationController', 'StatefulSet']);

/** StatefulSets and DaemonSets replace pods in place; Deployments want fewer of an old ReplicaSet. */
function isOfOldTemplate(kind: string, owner: KubeObject, labels: Readonly<Record<string, string>> = {}): boolean {
  if (kind === 'StatefulSet') {
    const made = labels['controller-revision-hash'];
    const wanted = (owner as Replicated).status?.updateRevision;
    return made !== undefined && wanted !== undefined && made !== wanted;
  }
  if (kind !== 'DaemonSet') return false;
  const made = labels['pod-template-generation'];
  const wanted = owner.metadata.annotations?.['deprecated.daemonset.template.generation'];
  return made !== undefined && wanted !== undefined && made !== wanted;
}
