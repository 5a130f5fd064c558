import { groupEvictionType } from '../../api/quorate/group-eviction.ts';
import { keyOf, type KubeObject } from '../../api/resource.ts';
import { type RunningController, runController, type StartController } from '../../machinery/runtime/index.ts';
import { reconcileGroupEviction, type SettleGroup } from './reconcile.ts';

export type { SettledGroup, SettleGroup } from './reconcile.ts';

/**
 * Carries out GroupEvictions that were granted, and removes them when their time is over. Without `settle` they were
 * carried out as they were created, as the embedded host does it.
 */
export function createGroupEvictionController(settle?: SettleGroup): StartController {
  return (context): RunningController => {
    const { client, clock, informers } = context;
    const evictions = informers.of(groupEvictionType);
    const { queue } = runController({
      name: 'group-eviction',
      context,
      ready: () => evictions.whenSynced(),
      reconcile: (key) =>
        reconcileGroupEviction(
          { client, clock, events: context.eventsFor('group-eviction'), get: (one) => evictions.get(one), settle },
          key,
        ),
    });
    const wake = (eviction: KubeObject): void => queue.add(keyOf(eviction));
    evictions.addHandler({ added: wake, updated: wake });
    return { name: 'group-eviction', queues: [queue] };
  };
}
