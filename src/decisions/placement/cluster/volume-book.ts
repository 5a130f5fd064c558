import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import type { CSINode, CSIStorageCapacity, StorageClass } from '../../../api/generated/storage-v1.ts';
import { compileNodeTerms, matchesNodeTerms, type NodeTerm } from './node-selection.ts';

/** A claim as placement sees it. */
export interface ClaimFacts {
  readonly key: string;
  readonly name: string;
  readonly className: string;
  readonly volumeName: string | undefined;
  /** Bound, unbound, or unusable. */
  readonly state: 'Bound' | 'Unbound' | 'Lost' | 'Leaving';
  readonly selectedNode: string | undefined;
  readonly onlyOnePod: boolean;
  readonly spec: PersistentVolumeClaim['spec'];
}

/** A persistent volume: where it can be used. */
export interface VolumeFacts {
  readonly name: string;
  readonly terms: readonly NodeTerm[] | undefined;
  /** Zone and region labels, each with the values it names. */
  readonly zones: readonly (readonly [key: string, values: ReadonlySet<string>])[];
  readonly driver: string | undefined;
  readonly handle: string;
  readonly volume: PersistentVolume;
}

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

/** Zone labels, the old spelling after the one that replaces it. */
export const ZONE_LABELS: readonly (readonly [key: string, current: string])[] = [
  ['topology.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['topology.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
];

/** Claims, volumes and what nodes can attach. */
export class VolumeBook {
  /** Claims and volumes have been read; a claim that is not here does not exist. */
  known = false;
  /**
   * A claim without a volume keeps its pod from being placed, as with kube-scheduler. Our own scheduler leaves it off:
   * it also serves hosts on which nobody binds claims.
   */
  judgesUnbound = true;
  readonly claims = new Map<string, ClaimFacts>();
  readonly volumes = new Map<string, VolumeFacts>();
  readonly classes = new Map<string, StorageClass>();
  readonly nodes = new Map<string, CSINode>();
  /** Drivers that publish how much they can provision where. */
  readonly tracked = new Set<string>();
  readonly capacities: CSIStorageCapacity[] = [];
  /** Volumes attached to a node, as `driver^handle`. */
  readonly attached = new Map<string, Set<string>>();
  /** Placed pods that use a claim. */
  readonly #users = new Map<string, Set<string>>();
  /** Volumes that claims of pods placed in a trial would bind. */
  readonly #picked = new Map<string, string>();

  setClaim(claim: PersistentVolumeClaim): void {
    const { annotations, deletionTimestamp, name = '', namespace = '' } = claim.metadata;
    const { spec, status } = claim;
    const key = `${namespace}/${name}`;
    this.claims.set(key, {
      key,
      name,
      className: spec?.storageClassName ?? '',
      volumeName: spec?.volumeName || undefined,
      state: deletionTimestamp ? 'Leaving' : status?.phase === 'Lost' ? 'Lost' : spec?.volumeName ? 'Bound' : 'Unbound',
      selectedNode: annotations?.[SELECTED_NODE],
      onlyOnePod: spec?.accessModes?.includes('ReadWriteOncePod') === true,
      spec,
    });
  }

  setVolume(volume: PersistentVolume): void {
    const { labels = {}, name = '' } = volume.metadata;
    const required = volume.spec?.nodeAffinity?.required;
    this.volumes.set(name, {
      name,
      terms: required && compileNodeTerms(required.nodeSelectorTerms),
      zones: ZONE_LABELS.flatMap(([key]) => {
        const value = labels[key];
        return value === undefined ? [] : [[key, new Set(value.split('__'))] as const];
      }),
      driver: volume.spec?.csi?.driver,
      handle: volume.spec?.csi?.volumeHandle ?? name,
      volume,
    });
  }

  /** The claim of a volume of a pod; one that is made with the pod need not exist yet. */
  claimOf(pod: Pod, name: string): ClaimFacts | undefined {
    const namespace = pod.metadata.namespace ?? '';
    const known = this.claims.get(`${namespace}/${name}`);
    if (known !== undefined) return known;
    const prefix = `${pod.metadata.name ?? ''}-`;
    const made = pod.spec?.volumes?.find((volume) => volume.ephemeral !== undefined && name === prefix + volume.name);
    const spec = made?.ephemeral?.volumeClaimTemplate?.spec;
    if (spec === undefined) return undefined;
    return {
      key: `${namespace}/${name}`,
      name,
      className: spec.storageClassName ?? '',
      volumeName: undefined,
      state: 'Unbound',
      selectedNode: undefined,
      onlyOnePod: false,
      spec,
    };
  }

  use(uid: string, keys: readonly string[]): void {
    for (const key of keys) {
      const users = this.#users.get(key);
      if (users === undefined) this.#users.set(key, new Set([uid]));
      else users.add(uid);
    }
  }

  release(uid: string, keys: readonly string[]): void {
    for (const key of keys) {
      const users = this.#users.get(key);
      users?.delete(uid);
      if (users?.size !== 0) continue;
      this.#users.delete(key);
      for (const [volume, claim] of this.#picked) if (claim === key) this.#picked.delete(volume);
    }
  }

  /** A placed pod, not this one, that uses a claim. */
  userOf(key: string, uid: string): string | undefined {
    for (const user of this.#users.get(key) ?? []) if (user !== uid) return user;
    return undefined;
  }

  /** The claim has an owner among the placed pods, so where it binds is decided. */
  pick(volume: string, claim: string): void {
    this.#picked.set(volume, claim);
  }

  pickedBy(volume: string): string | undefined {
    return this.#picked.get(volume);
  }
}

export function volumeReaches({ terms }: VolumeFacts, labels: Readonly<Record<string, string>>): boolean {
  // Fields of a volume's node affinity are not looked at.
  return terms === undefined || matchesNodeTerms(terms, labels, '');
}
