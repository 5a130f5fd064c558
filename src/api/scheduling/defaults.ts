import type { StoredPodGroup } from './stored.ts';

/** A PodGroup that does not say how it may be disrupted may lose pods one by one. */
export function defaultPodGroup(group: StoredPodGroup): void {
  if (group.spec !== undefined && group.spec.disruptionMode === undefined) group.spec.disruptionMode = { single: {} };
}
