import { groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { rule } from '../../../api/policy-rule.ts';
import { keyOf, type ResourceType } from '../../../api/resource.ts';
import { type Controller, defineController, watch } from '../../../machinery/runtime/index.ts';
import type { ControllerHost, OwnController } from '../own-controller.ts';
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

export interface GroupEvictionHost extends ControllerHost {
  readonly settleGroup?: SettleGroup;
}

export const groupEviction: OwnController<GroupEvictionHost> = {
  hosts: { embedded: 'always', operator: 'GroupEviction' },
  needs: groupEvictionType as ResourceType,
  feature: 'groupEvictions',
  // Every budget is charged first; then the pods are told and deleted, as the API server does for a single one.
  rights: [
    rule(['policy'], ['poddisruptionbudgets/status'], ['update']),
    rule([''], ['pods/status'], ['patch']),
    rule([''], ['pods'], ['delete']),
  ],
  create: ({ settleGroup }) => createGroupEvictionController(settleGroup),
};
