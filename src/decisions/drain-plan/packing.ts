import type { Amounts, PlanPod } from './model.ts';

/** A pod that has moved, with the nodes that were open when it did. */
export interface Parcel {
  readonly pod: PlanPod;
  /** A bit for each node, in the order of `capacity`. */
  readonly open: number;
}

/** Tries this many placements before it gives up and says that there is none. */
const MAX_TRIES = 20_000;

/** Whether all parcels fit at once, each on a node that was open to it: tries every placement, large pods first. */
export function canPack(parcels: readonly Parcel[], nodes: readonly string[], capacity: readonly Amounts[]): boolean {
  const free = capacity.map((amounts) => [...amounts]);
  const ordered = [...parcels].sort(
    (a, b) => total(b.pod.requests) - total(a.pod.requests) || bits(a.open) - bits(b.open),
  );
  let tries = 0;
  const fit = (at: number): boolean => {
    const parcel = ordered[at];
    if (parcel === undefined) return true;
    const { eligible, requests } = parcel.pod;
    for (const [index, room] of free.entries()) {
      if ((parcel.open & (1 << index)) === 0 || (eligible !== undefined && !eligible.has(nodes[index] ?? ''))) continue;
      if (!requests.every((amount, resource) => amount <= (room[resource] ?? 0))) continue;
      if ((tries += 1) > MAX_TRIES) return false;
      for (const [resource, amount] of requests.entries()) room[resource] = (room[resource] ?? 0) - amount;
      if (fit(at + 1)) return true;
      for (const [resource, amount] of requests.entries()) room[resource] = (room[resource] ?? 0) + amount;
    }
    return false;
  };
  return fit(0);
}

const total = (amounts: Amounts): number => amounts.reduce((sum, amount) => sum + amount, 0);

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
