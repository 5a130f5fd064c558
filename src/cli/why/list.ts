import type { Overview } from '../../tasks/index.ts';
import type { Listing } from '../shared/output.ts';
import { table } from '../shared/terminal.ts';

const HEAD = ['NAMESPACE', 'NAME', 'COUNTS', 'PODS', 'EXPECTED', 'HEALTHY', 'NEEDED', 'ALLOWED'];

/** Every budget on a line of its own, and by its name. */
export function listBudgets({ budgets, unavailability }: Overview): Pick<Listing, 'wide' | 'names'> {
  const rows = [
    ...budgets.map(({ budget, namespace, pods }) => ({
      namespace,
      name: `poddisruptionbudget.policy/${budget.name}`,
      numbers: [budget.counts, pods, budget.expected, budget.healthy, budget.desired, budget.allowed],
    })),
    ...unavailability.map((one) => ({
      namespace: one.namespace,
      name: `podunavailablebudget.policy.kruise.io/${one.name}`,
      numbers: [one.counts, one.pods, one.expected, one.available, one.desired, one.allowed],
    })),
  ];
  const cells = rows.map(({ name, namespace, numbers }) => [namespace, shorten(name), ...numbers.map(String)]);
  return { wide: table([HEAD, ...cells]), names: rows.map(({ name }) => name) };
}

/** `pdb/web`: what this command itself takes. */
const shorten = (name: string): string =>
  name.replace('poddisruptionbudget.policy/', 'pdb/').replace('podunavailablebudget.policy.kruise.io/', 'pub/');
