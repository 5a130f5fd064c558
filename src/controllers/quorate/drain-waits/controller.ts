import { isFinished, maintenanceType } from '../../../api/quorate/maintenance.ts';
import { READ, rule } from '../../../api/policy-rule.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import { SteadyDeadlocks } from '../../../decisions/waits/index.ts';
import { type Controller, defineController } from '../../../machinery/runtime/index.ts';
import type { OwnController } from '../own-controller.ts';
import { type DrainWaitsDeps, lookAtWaits, UNBOUND } from './look.ts';

const LOOK_MS = 2000;

/** Looks at all drains together: what each waits for, and whether some of them wait for each other. */
function createDrainWaitsController(): Controller {
  return defineController<DrainWaitsDeps>({
    name: 'drain-waits',
    deps: ({ client, clock, eventsFor, informers, metrics }) => {
      const pods = informers.of(podType);
      pods.addIndex(UNBOUND, ({ spec }) => (spec?.nodeName ? [] : ['']));
      const maintenances = informers.of(maintenanceType);
      metrics.countedGauge('quorate_observed_drains', () => {
        const counts = new Map<string, number>();
        for (const { spec, status } of maintenances.list()) {
          const driver = spec?.source?.driver;
          if (driver === undefined || isFinished({ status })) continue;
          counts.set(driver, (counts.get(driver) ?? 0) + 1);
        }
        return [...counts].map(([driver, count]) => [{ driver }, count]);
      });
      return {
        client,
        clock,
        events: eventsFor('maintenance'),
        maintenances,
        nodes: informers.of(nodeType),
        pods,
        steady: new SteadyDeadlocks(),
        told: new Set(),
        deadlocks: metrics.counter('quorate_deadlocks_total'),
      };
    },
    passes: [{ everyMs: LOOK_MS, pass: lookAtWaits }],
  });
}

export const drainWaits: OwnController = {
  hosts: { embedded: 'Maintenance', operator: 'Maintenance' },
  needs: maintenanceType as ResourceType,
  feature: 'maintenances',
  rights: [
    // Whether an autoscaler makes the room that drains wait for.
    rule([''], ['events'], READ),
    rule(['karpenter.sh'], ['nodeclaims'], READ),
  ],
  create: createDrainWaitsController,
};
