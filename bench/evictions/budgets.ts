import { podDisruptionBudgetType } from '../../src/api/resource-types.ts';
import type { HostConnection } from './connection.ts';
import { type FleetPod, makeNamespace, makeReadyPods, until } from './fleet.ts';

export interface BudgetedFleet {
  readonly budgets: number;
  /** Of each budget. */
  readonly pods: number;
}

/** Budgets that let every pod go, over ready pods; returns the pods when the budgets have counted them. */
export async function makeBudgetedFleet(
  { client, send }: HostConnection,
  namespace: string,
  { budgets, pods }: BudgetedFleet,
): Promise<FleetPod[]> {
  await makeNamespace(client, namespace);
  for (let budget = 0; budget < budgets; budget += 1) {
    await client.create(podDisruptionBudgetType, {
      metadata: { name: `b-${budget}`, namespace },
      spec: { minAvailable: 0, selector: { matchLabels: { set: `s-${budget}` } } },
    });
  }
  const fleet: FleetPod[] = [];
  for (let pod = 0; pod < pods; pod += 1) {
    for (let budget = 0; budget < budgets; budget += 1) {
      fleet.push({ name: `p-${budget}-${pod}`, labels: { set: `s-${budget}` } });
    }
  }
  await makeReadyPods(send, namespace, fleet);
  for (let budget = 0; budget < budgets; budget += 1) {
    await until(async () => {
      const { status } = await client.get(podDisruptionBudgetType, { namespace, name: `b-${budget}` });
      return status?.disruptionsAllowed === pods;
    });
  }
  return fleet;
}
