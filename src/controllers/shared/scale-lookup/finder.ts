import type { Deployment, ReplicaSet, StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { ReplicationController } from '../../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { type KubeObject, splitApiVersion } from '../../../api/resource.ts';
import type { Informer } from '../../../machinery/runtime/index.ts';

export interface FoundScale {
  /** Of the object whose size counts, which may be the owner's owner. */
  readonly uid: string;
  readonly scale: number;
}

export interface ScaleSources {
  readonly controllers: Pick<Informer<ReplicationController>, 'get'>;
  readonly replicaSets: Pick<Informer<ReplicaSet>, 'get'>;
  readonly deployments: Pick<Informer<Deployment>, 'get'>;
  readonly statefulSets: Pick<Informer<StatefulSet>, 'get'>;
  readonly scales: ScaleClient;
}

/** Reads the scale subresource of anything that has one. */
export interface ScaleClient {
  get(owner: OwnerReference, namespace: string): Promise<FoundScale | undefined>;
}

/**
 * Finds how many pods an owner should have. In order: a ReplicationController, the Deployment behind a ReplicaSet, a
 * ReplicaSet on its own, a StatefulSet, and last whatever serves `/scale`. Undefined when none knows the owner.
 */
export function createScaleFinder(sources: ScaleSources) {
  return async (owner: OwnerReference, namespace: string): Promise<FoundScale | undefined> => {
    const { group } = parseApiVersion(owner.apiVersion);
    const at = { namespace, name: owner.name };
    if (owner.kind === 'ReplicationController' && group === '') {
      const found = sized(sources.controllers.get(at), owner);
      if (found !== undefined) return found;
    }
    if (owner.kind === 'ReplicaSet' && isApps(group)) {
      const found = behindReplicaSet(sources, sources.replicaSets.get(at), owner);
      if (found !== undefined) return found;
    }
    if (owner.kind === 'StatefulSet' && group === 'apps') {
      const found = sized(sources.statefulSets.get(at), owner);
      if (found !== undefined) return found;
    }
    return sources.scales.get(owner, namespace);
  };
}

/** A ReplicaSet whose Deployment is gone is nobody's here; its own scale subresource still answers for it. */
function behindReplicaSet(
  { deployments }: ScaleSources,
  replicaSet: ReplicaSet | undefined,
  owner: OwnerReference,
): FoundScale | undefined {
  if (replicaSet === undefined || replicaSet.metadata.uid !== owner.uid) return undefined;
  const above = replicaSet.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (above?.kind !== 'Deployment') return sized(replicaSet, owner);
  if (!isApps(parseApiVersion(above.apiVersion).group)) return undefined;
  return sized(deployments.get({ namespace: replicaSet.metadata.namespace, name: above.name }), above);
}

function sized(
  object: (KubeObject & { spec?: { replicas?: number | undefined } | undefined }) | undefined,
  owner: OwnerReference,
) {
  if (object === undefined || object.metadata.uid !== owner.uid) return undefined;
  return { uid: owner.uid, scale: object.spec?.replicas ?? 1 };
}

const isApps = (group: string): boolean => group === 'apps' || group === 'extensions';

function parseApiVersion(apiVersion: string): { group: string; version: string } {
  if (apiVersion.split('/').length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  return splitApiVersion(apiVersion);
}
