import type { Container, Pod } from '../../../api/generated/core-v1.ts';
import { parseMillis, parseNanos, parseUnits } from '../../../machinery/values/index.ts';

/** Slots every cluster has; extended resources follow in the order they are first seen. */
export const CPU = 0;
export const MEMORY = 1;

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

const OWN_NAMES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const countable = new Map<string, boolean>();
const MAX_REMEMBERED = 1000;

/** Whether a resource is one that nodes have: `storage` and unprefixed names nobody knows are not. */
export function isNodeResource(name: string): boolean {
  let known = countable.get(name);
  if (known === undefined) {
    known =
      OWN_NAMES.has(name) ||
      name.startsWith('hugepages-') ||
      name.startsWith('attachable-volumes-') ||
      (name.includes('/') && !name.startsWith('requests.'));
    if (countable.size < MAX_REMEMBERED) countable.set(name, known);
  }
  return known;
}

/** Exact sums, in billionths; rounded once, at the end. */
type Totals = Map<string, bigint>;

function addAll(totals: Totals, requests: Record<string, string> | undefined): void {
  for (const name in requests) {
    if (isNodeResource(name)) totals.set(name, (totals.get(name) ?? 0n) + readNanos(requests[name] as string));
  }
}

function raiseTo(totals: Totals, floor: Totals): void {
  for (const [name, amount] of floor) if (amount > (totals.get(name) ?? 0n)) totals.set(name, amount);
}

/** An amount that is negative or no amount at all. */
export class BadAmountError extends Error {
  override name = 'BadAmountError';
}

function readNanos(quantity: string): bigint {
  let nanos: bigint;
  try {
    nanos = parseNanos(quantity);
  } catch {
    throw new BadAmountError(`"${quantity}" is not a quantity`);
  }
  if (nanos < 0n) throw new BadAmountError(`"${quantity}" is negative`);
  return nanos;
}

const NANO = 1_000_000_000n;
const MICRO = 1_000_000n;

function rounded(name: string, nanos: bigint): number {
  const by = name === 'cpu' ? MICRO : NANO;
  return Number((nanos + by - 1n) / by);
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

/** Resources that requests of the whole pod may name. */
const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

type RequestsOf = (container: Container) => Record<string, string> | undefined;
const asWritten: RequestsOf = ({ resources }) => resources?.requests;

/**
 * What a pod asks its node for: its containers and sidecars together, or its hungriest init step (an init container
 * runs beside the sidecars started before it), whichever is more; pod-level requests replace the sum they name; then
 * overhead. The sum is exact and rounded up once.
 * @throws {BadAmountError}
 */
export function sumRequests({ spec }: Pod): ReadonlyMap<string, number> {
  return sum(spec, asWritten, spec?.resources?.requests);
}

function sum(
  spec: Pod['spec'],
  requestsOf: RequestsOf,
  podLevel: Record<string, string> | undefined,
): ReadonlyMap<string, number> {
  const totals: Totals = new Map();
  for (const container of spec?.containers ?? []) addAll(totals, requestsOf(container));
  const sidecars: Totals = new Map();
  const peak: Totals = new Map();
  for (const container of spec?.initContainers ?? []) {
    if (isSidecar(container)) {
      const requests = requestsOf(container);
      addAll(totals, requests);
      addAll(sidecars, requests);
      raiseTo(peak, sidecars);
    } else {
      const step: Totals = new Map(sidecars);
      addAll(step, container.resources?.requests);
      raiseTo(peak, step);
    }
  }
  raiseTo(totals, peak);
  for (const name in podLevel) if (isPodLevel(name)) totals.set(name, readNanos(podLevel[name] as string));
  addAll(totals, spec?.overhead);
  const amounts = new Map<string, number>();
  for (const [name, nanos] of totals) amounts.set(name, rounded(name, nanos));
  return amounts;
}

/**
 * What a pod that stands on a node takes there: while it is resized in place, the largest of what it asks for, what it
 * was given and what it has; what it asks for does not count once the node has said that it can never have it.
 * @throws {BadAmountError}
 */
export function sumStanding({ spec, status }: Pod): ReadonlyMap<string, number> {
  const statuses = new Map<string, ContainerAmounts>();
  for (const one of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
    if (one.resources !== undefined) statuses.set(one.name, one);
  }
  const whole = status as ContainerAmounts | undefined;
  if (statuses.size === 0 && whole?.resources === undefined) return sumRequests({ metadata: {}, spec });
  const infeasible = (status?.conditions ?? []).some(
    ({ reason, type }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const largest = (asked: Record<string, string> | undefined, given: ContainerAmounts | undefined) => {
    if (given?.resources === undefined) return asked;
    const lists = [given.resources.requests, given.allocatedResources, ...(infeasible ? [] : [asked])];
    const most: Record<string, string> = {};
    for (const list of lists) {
      for (const name in list) {
        const quantity = list[name] as string;
        const known = most[name];
        if (known === undefined || readNanos(quantity) > readNanos(known)) most[name] = quantity;
      }
    }
    return most;
  };
  const podLevel = spec?.resources?.requests;
  return sum(
    spec,
    (container) => largest(container.resources?.requests, statuses.get(container.name)),
    podLevel && largest(podLevel, whole),
  );
}

interface ContainerAmounts {
  readonly resources?: { readonly requests?: Record<string, string> | undefined } | undefined;
  readonly allocatedResources?: Record<string, string> | undefined;
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
