import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { type DisruptionLedger, type DisruptionLedgerStatus, disruptionLedgerType } from '../api/quorate/types.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import { namespaceType } from '../api/resource-types.ts';
import { openAllBudgets } from '../decisions/all-budgets/index.ts';
import { DisruptionIndex, FED_KINDS, type FedKind, takeLedger } from '../decisions/disruption/index.ts';
import type { ChargeBudgets } from '../decisions/gang/index.ts';
import {
  UNAVAILABILITY_KINDS,
  type UnavailabilityGates,
  UnavailabilityFeed,
} from '../decisions/unavailability/index.ts';
import { type ControllerContext, followServed } from '../machinery/runtime/index.ts';

const nameOf = ({ metadata: { name = '', namespace = '' } }: KubeObject) => ({ name, namespace });

/** Judges preemption by the same budgets, counted the same way, as evictions are. */
export class PreemptionBudgets {
  readonly index = new DisruptionIndex();
  readonly unavailability = new UnavailabilityFeed();
  readonly #ledgers = new Map<string, DisruptionLedgerStatus>();
  readonly #budgets = new Map<string, PodDisruptionBudget>();
  readonly #context: ControllerContext;
  readonly #gates: UnavailabilityGates;
  readonly #kinds: readonly FedKind[];

  constructor(context: ControllerContext, gates: UnavailabilityGates, kinds = FED_KINDS) {
    this.#context = context;
    this.#gates = gates;
    this.#kinds = kinds;
  }

  /** Resolves when what there is now has been read. */
  async follow(): Promise<void> {
    const { index, unavailability } = this;
    const context = this.#context;
    const followed = [
      followServed({
        context,
        kinds: [{ types: [disruptionLedgerType as ResourceType], builtIn: false }],
        seen: (_, object) => this.#setLedger(object as DisruptionLedger, nameOf(object)),
        gone: (_, object) => this.#setLedger(undefined, nameOf(object)),
      }),
      followServed({
        context,
        kinds: this.#kinds,
        seen: (row, object) => {
          row.set(index, object);
          if (row.role === 'Budget') this.#setBudget(object as PodDisruptionBudget);
        },
        gone: (row, object) => {
          const { name, namespace } = nameOf(object);
          row.delete(index, namespace, name);
          if (row.role === 'Budget') this.#budgets.delete(`${namespace}/${name}`);
        },
      }),
      followServed({
        context,
        kinds: UNAVAILABILITY_KINDS,
        seen: (row, object) => row.set(unavailability, object),
        gone: (row, object) => row.delete(unavailability, nameOf(object).namespace, nameOf(object).name),
      }),
      followServed({
        context,
        kinds: [{ types: [namespaceType as ResourceType], builtIn: true }],
        seen: (_, object) => unavailability.setNamespace(object),
        gone: (_, object) => unavailability.deleteNamespace(nameOf(object).name),
      }),
    ];
    await Promise.all(followed.map(({ firstTry }) => firstTry));
  }

  /** On a cluster, budgets that count groups are decided by the ledgers that the operator keeps. */
  #setLedger(ledger: DisruptionLedger | undefined, { name, namespace }: { name: string; namespace: string }): void {
    const key = `${namespace}/${name}`;
    if (ledger?.status === undefined) this.#ledgers.delete(key);
    else this.#ledgers.set(key, ledger.status);
    const budget = this.#budgets.get(key);
    if (budget !== undefined) this.#setBudget(budget);
  }

  #setBudget(budget: PodDisruptionBudget): void {
    const { name, namespace } = nameOf(budget as KubeObject);
    const key = `${namespace}/${name}`;
    this.#budgets.set(key, budget);
    const status = this.#ledgers.get(key);
    if (status !== undefined) takeLedger(this.index, budget, status, { now: this.#context.clock.now(), evicts: false });
  }

  /** Victims are deleted, which is what PodUnavailableBudgets are asked about. */
  open(): ChargeBudgets {
    const { index, unavailability } = this;
    const now = this.#context.clock.now();
    const judge = openAllBudgets({ index, unavailability, gates: this.#gates, operation: 'DELETE', now });
    return (pods) => !judge(pods.map(({ name, namespace }) => ({ name, namespace }))).allowed;
  }
}
