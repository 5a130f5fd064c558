import type { Pod } from '../../../api/generated/core-v1.ts';

/** One list for the many pods that mount none. */
const NONE: readonly string[] = [];

/** Names of the claims a pod mounts; those of ephemeral volumes are named after pod and volume. */
export function claimsOf({ metadata, spec }: Pod): readonly string[] {
  let claims = NONE;
  for (const { ephemeral, name, persistentVolumeClaim } of spec?.volumes ?? []) {
    if (persistentVolumeClaim !== undefined) claims = [...claims, persistentVolumeClaim.claimName];
    else if (ephemeral !== undefined) claims = [...claims, `${metadata.name ?? ''}-${name}`];
  }
  return claims;
}

/** A disk that a pod mounts by itself, without a claim: two pods on one node may not both write it. */
export interface Disk {
  readonly id: string;
  /** May be shared by those that only read. */
  readonly readOnly: boolean;
}

const NO_DISKS: readonly Disk[] = [];

export function disksOf({ spec }: Pod): readonly Disk[] {
  let disks = NO_DISKS;
  for (const { awsElasticBlockStore: ebs, gcePersistentDisk: gce, iscsi, rbd } of spec?.volumes ?? []) {
    if (gce !== undefined) disks = [...disks, { id: `gce ${gce.pdName}`, readOnly: gce.readOnly === true }];
    // Even readers may not share one of these.
    if (ebs !== undefined) disks = [...disks, { id: `ebs ${ebs.volumeID}`, readOnly: false }];
    if (iscsi !== undefined) disks = [...disks, { id: `iscsi ${iscsi.iqn}`, readOnly: iscsi.readOnly === true }];
    if (rbd !== undefined) {
      const id = `rbd ${[...(rbd.monitors ?? [])].sort().join()} ${rbd.pool ?? 'rbd'} ${rbd.image}`;
      disks = [...disks, { id, readOnly: rbd.readOnly === true }];
    }
  }
  return disks;
}
