import type { KubeObject } from '../api/resource.ts';
import { openAllBudgets } from '../decisions/all-budgets/index.ts';
import { DisruptionIndex, FED_KINDS, type FedKind } from '../decisions/disruption/index.ts';
import type { ChargeBudgets } from '../decisions/gang/index.ts';
import {
  UNAVAILABILITY_KINDS,
  type UnavailabilityGates,
  UnavailabilityFeed,
} from '../decisions/unavailability/index.ts';
import { type ControllerContext, followServed } from '../machinery/runtime/index.ts';

const nameOf = ({ metadata: { name = '', namespace = '' } }: KubeObject) => ({ name, namespace });

/** Judges preemption by the same budgets, counted the same way, as evictions are. */
export class Budgets {
  readonly index = new DisruptionIndex();
  readonly unavailability = new UnavailabilityFeed();
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
        kinds: this.#kinds,
        seen: (row, object) => row.set(index, object),
        gone: (row, object) => row.delete(index, nameOf(object).namespace, nameOf(object).name),
      }),
      followServed({
        context,
        kinds: UNAVAILABILITY_KINDS,
        seen: (row, object) => row.set(unavailability, object),
        gone: (row, object) => row.delete(unavailability, nameOf(object).namespace, nameOf(object).name),
      }),
    ];
    await Promise.all(followed.map(({ firstTry }) => firstTry));
  }

  /** Victims are deleted, which is what PodUnavailableBudgets are asked about. */
  open(): ChargeBudgets {
    const { index, unavailability } = this;
    const now = this.#context.clock.now();
    const judge = openAllBudgets({ index, unavailability, gates: this.#gates, operation: 'DELETE', now });
    return (pods) => !judge(pods.map(({ name, namespace }) => ({ name, namespace }))).allowed;
  }
}
