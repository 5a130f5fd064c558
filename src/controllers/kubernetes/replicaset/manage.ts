import type { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/resource.ts';
import { chooseVictims } from '../../../decisions/downscale/index.ts';
import { isNamespaceTerminating } from '../../../machinery/runtime/index.ts';
import { podFromTemplate, slowStart } from '../../shared/pod-control/index.ts';
import type { ReplicaDeps } from './deps.ts';
import type { ReplicaOwner } from './kind.ts';
import { rankPods } from './rank-pods.ts';

/** Creates or deletes pods towards `spec.replicas`, at most a burst of them. Throws the first failure. */
export async function manageReplicas<T extends ReplicaOwner>(
  deps: ReplicaDeps<T>,
  owner: T,
  pods: readonly Pod[],
): Promise<void> {
  const surplus = pods.length - (owner.spec?.replicas ?? 1);
  if (surplus < 0) await addPods(deps, owner, Math.min(-surplus, deps.burst));
  if (surplus > 0) await removePods(deps, owner, { pods, count: Math.min(surplus, deps.burst) });
}

async function addPods<T extends ReplicaOwner>(deps: ReplicaDeps<T>, owner: T, count: number): Promise<void> {
  const { control, expectations, kind, pods, writes } = deps;
  const key = keyOf(owner);
  const pod = podFromTemplate(kind.templateOf(owner), owner, kind.type);
  expectations.expectCreations(key, count);
  let unseen = 0;
  const { errors, successes } = await slowStart(count, async () => {
    try {
      writes.record(key, pods, await control.create(pod, owner));
    } catch (error) {
      // Nothing can be created in a namespace that goes away, and nothing needs to be.
      if (!isNamespaceTerminating(error)) throw error;
      unseen += 1;
    }
  });
  const missing = count - successes + unseen;
  if (missing > 0) expectations.creationObserved(key, missing);
  if (errors.length > 0) throw errors[0];
}

async function removePods<T extends ReplicaOwner>(
  deps: ReplicaDeps<T>,
  owner: T,
  { count, pods }: { count: number; pods: readonly Pod[] },
): Promise<void> {
  const { context, control, expectations, gates } = deps;
  const key = keyOf(owner);
  const ranks = count < pods.length ? await rankPods(deps, owner, { count, pods }) : ({ by: 'Tied' } as const);
  const victims = chooseVictims({
    pods,
    count,
    ranks,
    now: context.clock.now(),
    deletionCost: gates.enabled('PodDeletionCost'),
    ageBins: gates.enabled('LogarithmicScaleDown'),
  });
  expectations.expectDeletions(
    key,
    victims.map(({ pod }) => keyOf(pod)),
  );
  context.log.debug(
    { owner: key, victims: victims.slice(0, 20).map(({ pod, reason }) => ({ pod: pod.metadata.name, reason })) },
    'removing pods',
  );
  const outcomes = await Promise.allSettled(
    victims.map(async ({ pod }) => {
      try {
        if ((await control.delete(pod, owner)) === 'AlreadyGone') expectations.deletionObserved(key, keyOf(pod));
      } catch (error) {
        expectations.deletionObserved(key, keyOf(pod));
        throw error;
      }
    }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
