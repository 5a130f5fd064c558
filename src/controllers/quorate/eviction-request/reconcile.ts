import type { Eviction } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType, evictionType } from '../../../api/lifecycle/index.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import {
  decideEviction,
  type EvictionPlan,
  otherController,
  type TargetFacts,
} from '../../../decisions/eviction-requests/index.ts';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { type EvictionRequestDeps, MANAGER, placeOf, type TargetMemory } from './deps.ts';
import { askForNotice, evictByDefault, type EvictionTry } from './evict.ts';
import { type Gathered, gatherFacts } from './gather.ts';
import { withdrawGroups } from './withdraw.ts';

/** More in one go is not needed: a write leads from one wait to the next. */
const MAX_PASSES = 10;
/** A cache that is behind has caught up by then. */
const BEHIND_MS = 200;

/**
 * Reads what is so of one target, asks what follows, writes it: as often as something follows at once. It may be stopped
 * between any two writes; whoever comes next reads the same and goes on.
 */
export async function reconcileTarget(deps: EvictionRequestDeps, key: ObjectKey): Promise<ReconcileResult> {
  const id = formatKey(key);
  if (deps.others?.found !== undefined) return settled;
  const memory = deps.memories.get(id) ?? {};
  deps.memories.set(id, memory);
  try {
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const facts = await gatherFacts(deps, key, memory);
      if (isOthers(deps, facts)) return settled;
      if (facts.requests.length === 0 && facts.evictions.length === 0) {
        deps.memories.delete(id);
        return settled;
      }
      const plan = decideEviction(facts);
      if (plan.create !== undefined) {
        memory.made = await deps.client.create(evictionType, plan.create);
        delete memory.tries;
        delete memory.groupTries;
        continue;
      }
      await withdrawGroups(deps, facts);
      const current = await write(deps, plan);
      const done = await act(deps, memory, { plan, current, facts });
      if (plan.again || done.again) continue;
      if (plan.current === undefined) deps.memories.delete(id);
      return lookAgain(deps, [plan.lookAgainAt, done.until]);
    }
  } catch (error) {
    // Somebody else wrote in between, or the cache is behind: the same again, with what is so then.
    if (isConflict(error) || isAlreadyExists(error)) return { requeueAfterMs: BEHIND_MS };
    throw error;
  }
  return { requeueAfterMs: 1 };
}

interface Turn {
  readonly plan: EvictionPlan;
  readonly current: Eviction | undefined;
  readonly facts: Gathered;
}

async function act(
  deps: EvictionRequestDeps,
  memory: TargetMemory,
  { current, facts, plan }: Turn,
): Promise<EvictionTry> {
  if (current === undefined) return { again: false };
  if (plan.evict) return evictByDefault(deps, memory, current, facts);
  return plan.notify ? askForNotice(deps, memory, current, facts) : { again: false };
}

/** Two that carry out the same requests would undo each other's work: ours stands back, and says so once. */
function isOthers({ others }: EvictionRequestDeps, { evictions, requests }: TargetFacts): boolean {
  if (others === undefined) return false;
  if (others.found !== undefined) return true;
  others.found = otherController([...requests, ...evictions], MANAGER);
  if (others.found === undefined) return false;
  others.tell(others.found);
  return true;
}

/** The current Eviction as it stands after that. */
async function write(
  { client }: EvictionRequestDeps,
  { current, metadata, requests, statuses }: EvictionPlan,
): Promise<Eviction | undefined> {
  let written = current;
  for (const { eviction, status } of statuses) {
    const after = await client.updateStatus(evictionType, { ...eviction, status });
    if (eviction.metadata.uid === current?.metadata.uid) written = after;
  }
  if (current !== undefined && metadata !== undefined) {
    const body = { metadata: { uid: current.metadata.uid, ...metadata } };
    written = await client.patch(evictionType, placeOf(current), { type: 'merge', body });
  }
  for (const { request, status } of requests) {
    try {
      await client.updateStatus(evictionRequestType, { ...request, status });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return written;
}

function lookAgain({ clock }: EvictionRequestDeps, times: readonly (number | undefined)[]): ReconcileResult {
  const due = times.filter((time) => time !== undefined);
  return due.length === 0 ? settled : { requeueAfterMs: Math.max(1, Math.min(...due) - clock.now()) };
}
