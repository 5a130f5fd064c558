import { groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { maintenanceType, OBSERVER } from '../../../api/quorate/maintenance.ts';
import { READ, rule } from '../../../api/policy-rule.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import { type Controller, defineController } from '../../../machinery/runtime/index.ts';
import type { OwnController } from '../own-controller.ts';
import { indexByNode } from '../../shared/pods-by-node.ts';
import { ElsewhereReader } from './elsewhere.ts';
import type { ObservedDeps } from './deps.ts';
import { lookForDrains } from './look.ts';

const LOOK_MS = 1000;

/** Shows drains that others carry out as Maintenances, and moves groups before a deadline that ignores budgets. */
function createObservedDrainsController({ moves }: { moves: boolean }): Controller {
  return defineController<ObservedDeps>({
    name: OBSERVER,
    deps: ({ clientFor, clock, eventsFor, informers }) => {
      const client = clientFor(OBSERVER);
      const pods = informers.of(podType);
      indexByNode(pods);
      return {
        client,
        clock,
        events: eventsFor('maintenance'),
        maintenances: informers.of(maintenanceType),
        nodes: informers.of(nodeType),
        pods,
        elsewhere: new ElsewhereReader(client, clock),
        memories: new Map(),
        moves,
      };
    },
    passes: [{ everyMs: LOOK_MS, pass: lookForDrains }],
  });
}

export const observedDrains: OwnController = {
  hosts: { embedded: 'Maintenance', operator: 'Maintenance' },
  needs: maintenanceType as ResourceType,
  feature: 'maintenances',
  rights: [
    // By what other software says that it drains a node.
    rule(['karpenter.sh'], ['nodeclaims'], READ),
    rule(['cluster.x-k8s.io'], ['machines'], READ),
    rule(['nodemaintenance.medik8s.io'], ['nodemaintenances'], READ),
    rule(['apps'], ['daemonsets'], READ),
  ],
  create: ({ gates, serves }) =>
    createObservedDrainsController({
      moves: gates.enabled('MoveBeforeForeignDeadline') && gates.enabled('GroupEviction') && serves(groupEvictionType),
    }),
};
