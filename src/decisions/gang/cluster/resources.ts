import type { Container, Pod } from '../../../api/generated/core-v1.ts';
import { parseMillis, parseUnits } from '../../../machinery/values/index.ts';

/** Slots every cluster has; extended resources follow in the order they are first seen. */
export const CPU = 0;
export const MEMORY = 1;
export const EPHEMERAL_STORAGE = 2;

/** Gives each resource name a small number, so that amounts are plain arrays. One per cluster. */
export class ResourceNames {
  readonly #slots = new Map<string, number>();
  readonly names: string[] = [];

  constructor() {
    for (const name of ['cpu', 'memory', 'ephemeral-storage']) this.slot(name);
  }

  slot(name: string): number {
    let slot = this.#slots.get(name);
    if (slot === undefined) {
      slot = this.names.length;
      this.#slots.set(name, slot);
      this.names.push(name);
    }
    return slot;
  }
}

/** CPU in thousandths, everything else in whole units. */
export function parseAmount(resource: string, quantity: string): number {
  return resource === 'cpu' ? parseMillis(quantity) : parseUnits(quantity);
}

export interface Amount {
  readonly slot: number;
  readonly amount: number;
}

type Totals = Map<string, number>;

function addAll(totals: Totals, requests: Record<string, string> | undefined): void {
  for (const [name, quantity] of Object.entries(requests ?? {})) {
    totals.set(name, (totals.get(name) ?? 0) + parseAmount(name, quantity));
  }
}

function raiseTo(totals: Totals, floor: Totals): void {
  for (const [name, amount] of floor) if (amount > (totals.get(name) ?? 0)) totals.set(name, amount);
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

/**
 * What a pod takes from its node: its containers and sidecars together, or its hungriest init step (an init container
 * runs beside the sidecars started before it), whichever is more; pod-level requests replace the sum they name; then
 * overhead.
 */
export function sumRequests({ spec }: Pod): ReadonlyMap<string, number> {
  const totals: Totals = new Map();
  for (const { resources } of spec?.containers ?? []) addAll(totals, resources?.requests);
  const sidecars: Totals = new Map();
  const peak: Totals = new Map();
  for (const container of spec?.initContainers ?? []) {
    const requests = container.resources?.requests;
    if (isSidecar(container)) {
      addAll(totals, requests);
      addAll(sidecars, requests);
      raiseTo(peak, sidecars);
    } else {
      const step: Totals = new Map(sidecars);
      addAll(step, requests);
      raiseTo(peak, step);
    }
  }
  raiseTo(totals, peak);
  for (const [name, quantity] of Object.entries(spec?.resources?.requests ?? {})) {
    totals.set(name, parseAmount(name, quantity));
  }
  addAll(totals, spec?.overhead);
  return totals;
}

const ASSUMED_MILLICPU = 100;
const ASSUMED_BYTES = 200 * 1024 * 1024;

/** CPU and memory for scoring: a container that asks for nothing is taken to use a little, so such pods spread too. */
export function sumAssumed({ spec }: Pod): { readonly cpu: number; readonly memory: number } {
  let cpu = 0;
  let memory = 0;
  for (const { resources } of spec?.containers ?? []) {
    const requests = resources?.requests;
    cpu += requests?.cpu === undefined ? ASSUMED_MILLICPU : parseAmount('cpu', requests.cpu);
    memory += requests?.memory === undefined ? ASSUMED_BYTES : parseAmount('memory', requests.memory);
  }
  return { cpu, memory };
}
