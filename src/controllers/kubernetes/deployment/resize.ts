import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { DESIRED_REPLICAS, MAX_REPLICAS } from './annotations.ts';
import { limitsOf, replicasOf } from './limits.ts';
import type { Pass } from './pass.ts';
import { withPicker } from './picker.ts';
import { sizeOf } from './replica-sets.ts';

/** The size a Deployment had in mind when it scaled a ReplicaSet, for the next change to be measured against. */
export function replicasAnnotations({ deployment }: Pass): Record<string, string> {
  const replicas = replicasOf(deployment);
  return {
    [DESIRED_REPLICAS]: String(replicas),
    [MAX_REPLICAS]: String(replicas + limitsOf(deployment).surge),
  };
}

/**
 * Gives a ReplicaSet a size; the picker travels in the same write. Answers true when the size changed. Without a change
 * of size it writes only if asked to keep the annotations current.
 */
export async function resize(
  pass: Pass,
  replicaSet: ReplicaSet,
  { rewriteAnnotations = false, size }: { size: number; rewriteAnnotations?: boolean },
): Promise<boolean> {
  const before = sizeOf(replicaSet);
  const annotations = replicasAnnotations(pass);
  const known = replicaSet.metadata.annotations ?? {};
  const stale = Object.entries(annotations).some(([name, value]) => known[name] !== value);
  if (before === size && !(rewriteAnnotations && stale)) return false;
  const written = await pass.writeReplicaSet({
    ...replicaSet,
    metadata: { ...replicaSet.metadata, annotations: { ...known, ...annotations } },
    spec: withPicker(pass.deps.gates, pass.deployment, { ...replicaSet.spec, replicas: size }),
  });
  if (before === size) return false;
  const direction = before < size ? 'up' : 'down';
  const name = written.metadata.name ?? '';
  pass.event('Normal', 'ScalingReplicaSet', `Scaled ${direction} replica set ${name} from ${before} to ${size}`);
  return true;
}
