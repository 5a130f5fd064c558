import type { Pod } from '../../../api/generated/core-v1.ts';

/** Names of the claims a pod mounts; those of ephemeral volumes are named after pod and volume. */
export function claimsOf({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ ephemeral, name, persistentVolumeClaim }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${metadata.name ?? ''}-${name}`];
  });
}
