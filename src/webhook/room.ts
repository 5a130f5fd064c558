/** Room that grants rest on: kept from other units here, and told to the other replicas by the ledger. */
import type { LedgerGrant, LedgerRoom } from '../api/quorate/types.ts';
import { type DisruptionIndex, type Grant, type KeptPlace, PROMISED_MS } from '../decisions/disruption/index.ts';
import { parseTime } from '../machinery/values/index.ts';

/** Who follows the nodes and what is on them, for budgets that ask for room. */
export interface RoomFollower {
  /** Sees to it that what is known is not older than a few seconds; where that cannot be, questions are answered so. */
  freshen(signal: AbortSignal): Promise<void>;
}

interface AskedPod {
  readonly namespace: string;
  readonly name: string;
}

/** What a ledger says of the room that a grant rests on. */
export function roomOf({ room }: Grant): LedgerRoom[] | undefined {
  if (room === undefined || room.where.length === 0) return undefined;
  const places = new Map<string, LedgerRoom>();
  for (const { amounts, node } of room.where) {
    const key = `${node} ${JSON.stringify(amounts)}`;
    const known = places.get(key);
    places.set(key, { node, amounts: { ...amounts }, pods: (known?.pods ?? 0) + 1 });
  }
  return [...places.values()];
}

/** Keeps from other units what other replicas have found for one, as a ledger lists it. */
export function keepListedRooms(
  { identity, index }: { readonly identity: string; readonly index: DisruptionIndex },
  budget: AskedPod,
  grants: readonly LedgerGrant[],
  now: number,
): void {
  for (const grant of grants) {
    if (grant.room !== undefined && grant.by !== identity) keepListedRoom(index, budget, grant, now);
  }
}

function keepListedRoom(index: DisruptionIndex, budget: AskedPod, grant: LedgerGrant, now: number): void {
  const { room: rooms = [], name } = grant;
  const until = (parseTime(grant.at) ?? 0) + PROMISED_MS;
  if (rooms.length === 0 || until <= now || index.room === undefined) return;
  const { namespace } = budget;
  const unit = `${namespace}/${index.unitOf(namespace, name, budget.name, now)?.key ?? name}`;
  const where = rooms.flatMap(({ amounts, node, pods }): KeptPlace[] =>
    Array.from({ length: pods }, () => ({ node, amounts })),
  );
  index.room.promise({ unit, members: index.membersOf(namespace, name, budget.name) }, where, until);
}
