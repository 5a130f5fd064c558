import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import { type CapacityFinding, findCapacity } from '../../../decisions/capacity/index.ts';
import type { RoomAsk, RoomJudge } from '../../../decisions/disruption/index.ts';
import { type ReconcileResult, settled, type WorkQueue } from '../../../machinery/runtime/index.ts';

/** How often budgets that ask for room are looked at: no event of a budget tells that nodes have filled up. */
export const CAPACITY_EVERY_MS = 60_000;

export interface CapacityDeps {
  /** Undefined where nobody knows the nodes. */
  readonly room: () => RoomJudge | undefined;
  /** One question for each unit under a budget that could go; undefined where it asks for no room. */
  readonly asksOf: (key: ObjectKey) => readonly RoomAsk[] | undefined;
  /** What was found last, by key of the budget; whoever writes its status says so there. */
  readonly capacity: Map<string, CapacityFinding>;
  /** Of those who write statuses. */
  readonly queue: WorkQueue;
}

/** The loop that asks for each budget what an eviction would be told, and has its status say so. */
export const capacityLoop = (name: string) => ({ name, workers: 1, reconcile: lookAtCapacity }) as const;

function lookAtCapacity(deps: CapacityDeps, key: ObjectKey): Promise<ReconcileResult> {
  const id = formatKey(key);
  const judge = deps.room();
  const asks = deps.asksOf(key);
  if (asks === undefined) deps.capacity.delete(id);
  // Read anew at the moment: what was found still stands.
  if (asks === undefined || judge === undefined) return Promise.resolve(settled);
  const known = deps.capacity.get(id);
  const found = findCapacity(judge, asks);
  deps.capacity.set(id, found);
  if (known?.status !== found.status || known.message !== found.message) deps.queue.add(id);
  return Promise.resolve(settled);
}
