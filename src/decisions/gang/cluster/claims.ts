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
