import { maintenanceType } from '../../api/quorate/maintenance.ts';
import { nodeType } from '../../api/resource-types.ts';
import type { Client, Clock } from '../../machinery/runtime/index.ts';
import { allow, reviewMaintenance, type ReviewHandler } from '../../webhook/index.ts';
import type { Guard } from './guard.ts';
import type { Components } from '../run-components.ts';

/** Answers reviews of Maintenances; where they are switched off, everything passes and nothing comes of it. */
export function maintenanceReviews(
  enabled: boolean,
  { client, clock, guard }: { readonly client: Client; readonly clock: Clock; readonly guard: Pick<Guard, 'user'> },
  { informers }: Components,
): ReviewHandler {
  if (!enabled) return () => Promise.resolve(allow);
  const maintenances = informers.of(maintenanceType);
  const nodes = informers.of(nodeType);
  const webhook = {
    client,
    clock,
    maintenances: () => maintenances.list(),
    nodes: () => nodes.list(),
    user: guard.user,
  };
  return (request) => reviewMaintenance(webhook, request);
}
