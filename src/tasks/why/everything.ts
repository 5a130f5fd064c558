import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import type { ResourceType } from '../../api/resource.ts';
import { podDisruptionBudgetType } from '../../api/resource-types.ts';
import { type BudgetExplanation, explainBudget, formatBudgetExplanation } from '../../decisions/disruption/index.ts';
import {
  explainUnavailableBudget,
  formatUnavailableBudget,
  type UnavailableBudgetExplanation,
} from '../../decisions/unavailability/index.ts';
import { type Client, isNotFound } from '../../machinery/runtime/index.ts';
import { gatherBudgets } from '../../cluster-state/gather.ts';

/** Where every budget of a cluster or of a namespace stands. */
export interface Overview {
  readonly budgets: readonly BudgetExplanation[];
  readonly unavailability: readonly UnavailableBudgetExplanation[];
}

export interface OverviewAnswer {
  readonly value: Overview;
  readonly lines: readonly string[];
  /** Every budget could lose one more. */
  readonly granted: boolean;
}

/** Explains every budget; those that let nothing go come first, in full. */
export async function explainEverything(
  client: Client,
  { namespace, now, selector }: { namespace?: string | undefined; now: number; selector?: string | undefined },
): Promise<OverviewAnswer> {
  const isWanted = await wanted(client, { namespace, selector });
  const { index, unavailability } = await gatherBudgets(client, { namespace, now });
  const budgets = Array.from(index.budgets())
    .flatMap((budget) => explainBudget(index, budget, now) ?? [])
    // A budget that selects nothing keeps nobody from anything.
    .filter((one) => one.pods > 0 && isWanted('pdb', one.namespace, one.budget.name));
  const guards = unavailability.indexes
    .namespaces()
    .flatMap((at) => [...unavailability.indexes.of(at).budgets()].map(explainUnavailableBudget))
    .filter((one) => one.pods > 0 && isWanted('pub', one.namespace, one.name));
  const told = [
    ...budgets.map((one) => ({
      of: `pdb/${one.budget.name} in namespace ${one.namespace}`,
      allowed: one.budget.allowed,
      lines: formatBudgetExplanation(one, now),
    })),
    ...guards.map((one) => ({
      of: `pub/${one.name} in namespace ${one.namespace}`,
      allowed: one.allowed,
      lines: formatUnavailableBudget(one),
    })),
  ];
  const stuck = told.filter(({ allowed }) => allowed <= 0);
  const free = told.filter(({ allowed }) => allowed > 0);
  return {
    value: { budgets, unavailability: guards },
    granted: stuck.length === 0,
    lines: [
      ...(told.length === 0 ? [noneOf(selector)] : []),
      ...stuck.flatMap(({ lines, of }) => [`${of} lets nothing go now:`, ...lines.map((line) => `  ${line}`), '']),
      ...free.map(({ allowed, of }) => `${of}: ${allowed} may be disrupted now.`),
    ],
  };
}

const noneOf = (selector: string | undefined): string =>
  selector === undefined
    ? 'No budget selects any pod.'
    : `No budget that has the labels ${selector} itself selects any pod.`;

type IsWanted = (kind: 'pdb' | 'pub', namespace: string, name: string) => boolean;

/** Which budgets have the labels that were asked for: the server knows, and answers do not carry them. */
async function wanted(
  client: Client,
  { namespace, selector }: { namespace: string | undefined; selector: string | undefined },
): Promise<IsWanted> {
  if (selector === undefined) return () => true;
  const found = new Set<string>();
  for (const [kind, type] of [
    ['pdb', podDisruptionBudgetType as ResourceType],
    ['pub', POD_UNAVAILABLE_BUDGETS as ResourceType],
  ] as const) {
    const { items } = await client.list(type, { namespace, labelSelector: selector }).catch((error: unknown) => {
      // A cluster without Kruise's kinds has none of them.
      if (isNotFound(error)) return { items: [] };
      throw error;
    });
    for (const { metadata } of items) found.add(`${kind}/${metadata.namespace}/${metadata.name}`);
  }
  return (kind, at, name) => found.has(`${kind}/${at}/${name}`);
}
