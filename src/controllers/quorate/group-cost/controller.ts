/** Publishes in what order groups may go, where others choose among pods. */
import { podType } from '../../../api/resource-types.ts';
import { DisruptionIndex, FED_KINDS } from '../../../decisions/disruption/index.ts';
import { type Controller, defineController, followServed } from '../../../machinery/runtime/index.ts';
import type { OwnController } from '../own-controller.ts';
import { PUBLISH_MS, type PublishDeps, PublishMemory, publishCosts } from './publish.ts';

export function createGroupCostController({ forKarpenter = false } = {}): Controller {
  return defineController<PublishDeps>({
    name: 'group-cost',
    deps(context) {
      const { client, clock, eventsFor, informers } = context;
      const index = new DisruptionIndex();
      followServed({
        context,
        kinds: FED_KINDS,
        seen: (row, object) => row.set(index, object),
        gone: (row, { metadata: { name = '', namespace = '' } }) => row.delete(index, namespace, name),
      });
      const memory = new PublishMemory();
      return {
        client,
        clock,
        events: eventsFor('group-cost'),
        pods: informers.of(podType),
        index,
        forKarpenter,
        memory,
      };
    },
    passes: [{ everyMs: PUBLISH_MS, pass: publishCosts }],
  });
}

/** Off unless asked for: it writes on pods of others. On a cluster it has the right to by what pickers are installed with. */
export const groupCost: OwnController = {
  hosts: { embedded: 'PublishGroupCost', operator: 'PublishGroupCost' },
  create: ({ gates }) => createGroupCostController({ forKarpenter: gates.enabled('PublishKarpenterCost') }),
};
