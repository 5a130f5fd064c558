import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { deploymentType } from '../../../api/resource-types.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import { type ReconcileResult, settled } from '../../../machinery/runtime/index.ts';
import { deepClone } from '../../../machinery/values/index.ts';
import { cachedSelector, claim } from '../../shared/pod-control/index.ts';
import { rollbackTarget } from './annotations.ts';
import { findCondition, setCondition } from './conditions.ts';
import { isRolling, progressDeadlineOf } from './limits.ts';
import { syncReplicaSets } from './new-replica-set.ts';
import { type DeploymentDeps, Pass } from './pass.ts';
import { isScalingEvent } from './plan-scale.ts';
import { rollBack } from './rollback.ts';
import { recreate, rollForward, scale, writePlainStatus } from './rollout.ts';

/** How long to wait for a cache that lags behind our own writes, if no event wakes the key earlier. */
const STALE_CACHE_WAIT_MS = 100;

/**
 * Moves one Deployment one step towards its spec.
 *
 * Order: a selector that takes everything stops here; a terminating Deployment only reports; paused ones and changes of
 * size only scale; a wish to roll back is carried out before any rollout; else the strategy decides.
 */
export async function reconcileDeployment(deps: DeploymentDeps, key: ObjectKey): Promise<ReconcileResult> {
  const cached = deps.deployments.get(key);
  if (cached === undefined) {
    deps.writes.forget(formatKey(key));
    return settled;
  }
  if (!deps.writes.seen(formatKey(key))) return { requeueAfterMs: STALE_CACHE_WAIT_MS };
  const pass = new Pass(deps, deepClone(cached));
  if (selectsEverything(pass)) return refuseToSelectAll(pass);

  const owned = await claimReplicaSets(pass);
  if (pass.deployment.metadata.deletionTimestamp) return writePlainStatus(pass, await syncReplicaSets(pass, owned));
  await markPaused(pass);
  if (pass.deployment.spec?.paused) return scale(pass, await syncReplicaSets(pass, owned));
  const wished = rollbackTarget(pass.deployment);
  if (wished !== undefined) {
    await rollBack(pass, owned, wished);
    return settled;
  }
  const sets = await syncReplicaSets(pass, owned);
  if (isScalingEvent(pass.deployment, sets)) return scale(pass, sets);
  const fresh = sets.current === undefined ? sets.old : [...sets.old, sets.current];
  return isRolling(pass.deployment) ? rollForward(pass, fresh) : recreate(pass, fresh);
}

function selectsEverything({ deployment }: Pass): boolean {
  const selector = deployment.spec?.selector;
  if (selector === undefined) return false;
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
}

async function refuseToSelectAll(pass: Pass): Promise<ReconcileResult> {
  pass.event('Warning', 'SelectingAll', 'This deployment is selecting all pods. A non-empty selector is required.');
  const { metadata, status } = pass.deployment;
  const { generation = 0 } = metadata;
  if ((status?.observedGeneration ?? 0) < generation) {
    await pass.writeStatus({ ...status, observedGeneration: generation });
  }
  return settled;
}

function claimReplicaSets({ deployment, deps }: Pass): Promise<ReplicaSet[]> {
  return claim({
    client: deps.context.client,
    owner: deployment,
    ownerType: deploymentType,
    cache: deps.replicaSets,
    writes: deps.writes,
    selector: cachedSelector(deployment.spec?.selector),
  });
}

/** A pause suspends the deadline: time spent paused must not count as lack of progress. */
async function markPaused(pass: Pass): Promise<void> {
  const { deployment } = pass;
  if (progressDeadlineOf(deployment) === undefined) return;
  const { conditions = [] } = deployment.status ?? {};
  const reason = findCondition(conditions, 'Progressing')?.reason;
  if (reason === 'ProgressDeadlineExceeded') return;
  const paused = deployment.spec?.paused === true;
  if (paused === (reason === 'DeploymentPaused')) return;
  const news = paused
    ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
  await pass.writeStatus({
    ...deployment.status,
    conditions: setCondition(conditions, { type: 'Progressing', status: 'Unknown', ...news }, pass.now),
  });
}
