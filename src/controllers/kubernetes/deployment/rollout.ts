import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { type ReconcileResult, settled } from '../../../machinery/runtime/index.ts';
import { ownedBy } from '../../shared/pod-control/index.ts';
import { rollbackTarget } from './annotations.ts';
import { cleanUp } from './cleanup.ts';
import { replicasOf } from './limits.ts';
import { ensureNewReplicaSet, syncReplicaSets } from './new-replica-set.ts';
import type { Pass } from './pass.ts';
import { planNewSize, planOldSizes } from './plan-rolling.ts';
import { planScale } from './plan-scale.ts';
import { isActive, type ReplicaSets, sizeOf } from './replica-sets.ts';
import { resize } from './resize.ts';
import { computeStatus, isComplete, isSameStatus, progressRecheckMs, withProgress } from './status.ts';

/** One step of a rolling update: grow the new ReplicaSet if it may, else shrink old ones, else clean up. */
export async function rollForward(pass: Pass, owned: readonly ReplicaSet[]): Promise<ReconcileResult> {
  const sets = await ensureNewReplicaSet(pass, owned);
  const { current, old } = sets;
  const size = planNewSize(pass.deployment, old, sizeOf(current));
  if (await resize(pass, current, { size })) return writeRolloutStatus(pass, sets);
  if (await shrinkOld(pass, sets)) return writeRolloutStatus(pass, sets);
  if (isComplete(pass.deployment, pass.deployment.status)) await cleanUp(pass, old);
  return writeRolloutStatus(pass, sets);
}

/** A failure here waits for the next pass: the new ReplicaSet's state matters more. */
async function shrinkOld(pass: Pass, sets: ReplicaSets & { current: ReplicaSet }): Promise<boolean> {
  let shrunk = false;
  try {
    for (const { replicaSet, size } of planOldSizes(pass.deployment, sets)) {
      shrunk = (await resize(pass, replicaSet, { size })) || shrunk;
    }
  } catch (error) {
    pass.deps.context.log.debug(
      { deployment: pass.key, error: String(error) },
      'an old ReplicaSet was not scaled down',
    );
    return false;
  }
  return shrunk;
}

/** Everything old goes first, pods included; only then the new ReplicaSet comes. */
export async function recreate(pass: Pass, owned: readonly ReplicaSet[]): Promise<ReconcileResult> {
  const before = await syncReplicaSets(pass, owned);
  let shrunk = false;
  for (const replicaSet of before.old.filter(isActive)) {
    shrunk = (await resize(pass, replicaSet, { size: 0 })) || shrunk;
  }
  if (shrunk || oldPodsExist(pass, owned, before)) return writeRolloutStatus(pass, before);
  const sets = before.current === undefined ? await ensureNewReplicaSet(pass, owned) : before;
  if (sets.current !== undefined) await resize(pass, sets.current, { size: replicasOf(pass.deployment) });
  if (isComplete(pass.deployment, pass.deployment.status)) await cleanUp(pass, sets.old);
  return writeRolloutStatus(pass, sets);
}

function oldPodsExist({ deps }: Pass, owned: readonly ReplicaSet[], { current, old }: ReplicaSets): boolean {
  if (old.some(({ status }) => (status?.replicas ?? 0) > 0)) return true;
  return owned
    .filter(({ metadata }) => metadata.uid !== current?.metadata.uid)
    .some((replicaSet) => ownedBy(deps.pods, replicaSet).some((pod) => !isPodFinished(pod)));
}

/** A change of size, or a paused Deployment: no rollout, only sizes. */
export async function scale(pass: Pass, sets: ReplicaSets): Promise<ReconcileResult> {
  const { resizes, rewriteAnnotations } = planScale(pass.deployment, sets);
  for (const { replicaSet, size } of resizes) await resize(pass, replicaSet, { size, rewriteAnnotations });
  if (pass.deployment.spec?.paused && rollbackTarget(pass.deployment) === undefined) await cleanUp(pass, sets.old);
  return writePlainStatus(pass, sets);
}

export async function writePlainStatus(pass: Pass, sets: ReplicaSets): Promise<ReconcileResult> {
  const status = computeStatus(pass.deployment, sets, pass.now);
  if (!isSameStatus(pass.deployment.status, status)) await pass.writeStatus(status);
  return settled;
}

async function writeRolloutStatus(pass: Pass, sets: ReplicaSets): Promise<ReconcileResult> {
  const { deployment, now } = pass;
  const status = withProgress(deployment, { sets, status: computeStatus(deployment, sets, now), now });
  if (!isSameStatus(deployment.status, status)) {
    await pass.writeStatus(status);
    return settled;
  }
  const recheck = progressRecheckMs(deployment, status, now);
  return recheck === undefined ? settled : { requeueAfterMs: recheck };
}
