import { readBudget } from './budget-facts.ts';
import type { DisruptionIndex } from './disruption-index.ts';

/** The name of the budget that `guardEverything` adds. */
export const EVERYTHING = 'everything';

/** A budget that selects every pod of a namespace and asks for nothing: it shows the groups that no budget guards. */
export function guardEverything(index: DisruptionIndex, namespace: string): void {
  const budget = { metadata: { name: EVERYTHING, namespace }, spec: { minAvailable: 0, selector: {} } };
  index.setBudget({ ...readBudget(budget), scope: 'PodGroup' });
}
