import { groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { keyOf } from '../../../api/resource.ts';
import { type Controller, defineController, watch } from '../../../machinery/runtime/index.ts';
import { reconcileGroupEviction, type SettleGroup } from './reconcile.ts';

/**
 * Carries out GroupEvictions that were granted, and removes them when their time is over. Without `settle` they were
 * carried out as they were created, as the embedded host does it.
 */
export function createGroupEvictionController(settle?: SettleGroup): Controller {
  return defineController({
    name: 'group-eviction',
    deps: ({ client, clock, eventsFor, informers }) => ({
      client,
      clock,
      events: eventsFor('group-eviction'),
      evictions: informers.of(groupEvictionType),
      settle,
    }),
    watches: ({ evictions }) => [watch(evictions, { added: keyOf, updated: keyOf })],
    reconcile: reconcileGroupEviction,
  });
}
