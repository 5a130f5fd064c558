import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../api/kruise/types.ts';
import type { BudgetIndex, BudgetIndexes } from '../decisions/unavailability/index.ts';
import { type Client, isNotFound } from '../machinery/runtime/index.ts';
import { isAsNewAs } from '../machinery/values/index.ts';
import type { Write } from './all-or-none.ts';

interface Known {
  readonly uid: string | undefined;
  /** Undefined for one that is gone. */
  readonly budget: PodUnavailableBudget | undefined;
}

/**
 * PodUnavailableBudgets as new as this replica read or wrote them, while the watch has not shown them so. The index
 * belongs to the controller that feeds it: reviews ask it with what is known here on top.
 */
export class BudgetCopies {
  readonly #client: Client;
  readonly #indexes: BudgetIndexes;
  /** By namespace and name. */
  readonly #newer = new Map<string, Map<string, Known>>();

  constructor(client: Client, indexes: BudgetIndexes) {
    this.#client = client;
    this.#indexes = indexes;
  }

  /** Asks the index of a namespace. The question must be asked, and answered, at once. */
  ask<T>(namespace: string, question: (index: BudgetIndex) => T): T {
    const index = this.#indexes.of(namespace);
    const newer = this.#newer.get(namespace);
    if (newer === undefined) return question(index);
    for (const [name, known] of newer) if (isShown(index.budget(name)?.budget, known)) newer.delete(name);
    if (newer.size === 0) this.#newer.delete(namespace);
    return index.suppose(new Map([...newer].map(([name, { budget }]) => [name, budget])), () => question(index));
  }

  /** Writes the status that a budget has with a charge. */
  write(before: PodUnavailableBudget, status: PodUnavailableBudget['status']): Write {
    const put = async (budget: PodUnavailableBudget): Promise<PodUnavailableBudget> => {
      const after = await this.#client.updateStatus(POD_UNAVAILABLE_BUDGETS, budget);
      this.#learn(budget.metadata.namespace ?? '', budget.metadata.name ?? '', after);
      return after;
    };
    return {
      put: async () => {
        const after = await put({ ...before, status });
        return () => put({ ...after, status: before.status });
      },
    };
  }

  /** Reads a budget that somebody else wrote. */
  async refresh(namespace: string, name: string): Promise<void> {
    try {
      this.#learn(namespace, name, await this.#client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#learn(namespace, name, undefined);
    }
  }

  #learn(namespace: string, name: string, budget: PodUnavailableBudget | undefined): void {
    const newer = this.#newer.get(namespace) ?? new Map<string, Known>();
    this.#newer.set(namespace, newer);
    const known = newer.get(name)?.budget ?? this.#indexes.of(namespace).budget(name)?.budget;
    if (budget === undefined) newer.set(name, { uid: known?.metadata.uid, budget });
    else if (known === undefined || isAsNew(budget, known)) newer.set(name, { uid: budget.metadata.uid, budget });
  }
}

/** The watch has shown what is known, or something later. */
function isShown(shown: PodUnavailableBudget | undefined, { budget, uid }: Known): boolean {
  if (shown === undefined) return true;
  return budget === undefined ? shown.metadata.uid !== uid : isAsNew(shown, budget);
}

const isAsNew = ({ metadata: a }: PodUnavailableBudget, { metadata: b }: PodUnavailableBudget): boolean =>
  isAsNewAs(a.resourceVersion ?? '', b.resourceVersion ?? '');
