import { controllerOf } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import type { DisruptionIndex } from '../../../decisions/disruption/index.ts';
import { PICK_ANNOTATION } from '../../../decisions/downscale/index.ts';
import {
  costedUnit,
  decidePublication,
  deletionCosts,
  isNoticeable,
  karpenterCosts,
  PUBLISHED_DELETION_COST,
  PUBLISHED_KARPENTER_COST,
  type PublishedAnnotation,
  type PublishedUnit,
} from '../../../decisions/group-cost/index.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
} from '../../../machinery/runtime/index.ts';

/** How often it is looked at what should be written, and how much is written in between. */
export const PUBLISH_MS = 1_000;
const PLAN_EVERY_MS = 10_000;
const WRITES_PER_SECOND = 20;
const PER_POD_MS = 60_000;
const LONGEST_PAUSE_MS = 600_000;

interface Change {
  readonly pod: Pod;
  readonly rank: number;
  readonly annotations: Readonly<Record<string, string | null>>;
}

export interface PublishDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly pods: Informer<Pod>;
  /** Kept current from the cluster. */
  readonly index: DisruptionIndex;
  readonly forKarpenter: boolean;
  readonly memory: PublishMemory;
}

/** What is known from one look to the next; nothing is lost where it is. */
export class PublishMemory {
  queue: Change[] = [];
  plannedAt = Number.NEGATIVE_INFINITY;
  pausedUntil = Number.NEGATIVE_INFINITY;
  pauseMs = 0;
  readonly written = new Map<string, number>();
  /** Pods whose value somebody else wrote, and that were told of. */
  readonly told = new Set<string>();
}

/** Writes on pods in what order their groups may go, some of it every second, the first to go first. */
export async function publishCosts(deps: PublishDeps): Promise<void> {
  const { client, clock, memory } = deps;
  const now = clock.elapsed();
  if (now < memory.pausedUntil) return;
  if (now - memory.plannedAt >= PLAN_EVERY_MS) {
    memory.plannedAt = now;
    memory.queue = planChanges(deps);
  }
  for (const { annotations, pod } of memory.queue.splice(0, WRITES_PER_SECOND)) {
    const { name = '', namespace, resourceVersion, uid = '' } = pod.metadata;
    try {
      // The version keeps what others write meanwhile, such as a pick, from being taken for ours.
      const body = { metadata: { uid, resourceVersion, annotations } };
      await client.patch(podType, { namespace, name }, { type: 'merge', body });
      memory.written.set(uid, now);
      memory.pauseMs = 0;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) continue;
      memory.pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(PUBLISH_MS, memory.pauseMs * 2));
      memory.pausedUntil = now + memory.pauseMs;
      memory.plannedAt = Number.NEGATIVE_INFINITY;
      return;
    }
  }
}

/** All that is to be written, the first to go first. */
function planChanges(deps: PublishDeps): Change[] {
  const { clock, forKarpenter, memory, pods } = deps;
  const now = clock.elapsed();
  const units = unitsOf(deps);
  const ranks = new Map<string, number>();
  for (const ofSet of bySet(units).values()) for (const [uid, cost] of deletionCosts(ofSet)) ranks.set(uid, cost);
  const shares = forKarpenter ? karpenterCosts(units) : new Map<string, number>();
  const changes: Change[] = [];
  const alive = new Set<string>();
  for (const pod of pods.list()) {
    const { annotations, deletionTimestamp, uid = '' } = pod.metadata;
    alive.add(uid);
    // What a picker has written for a downscale stands until that is over.
    if (deletionTimestamp !== undefined || annotations?.[PICK_ANNOTATION] !== undefined) continue;
    const rank = ranks.get(uid);
    const patch = {
      ...changeOf(deps, pod, PUBLISHED_DELETION_COST, rank),
      ...changeOf(deps, pod, PUBLISHED_KARPENTER_COST, settledShare(pod, shares.get(uid))),
    };
    if (Object.keys(patch).length === 0 || now - (memory.written.get(uid) ?? -PER_POD_MS) < PER_POD_MS) continue;
    changes.push({ pod, rank: rank ?? 0, annotations: patch });
  }
  for (const uid of memory.written.keys()) if (!alive.has(uid)) memory.written.delete(uid);
  for (const uid of memory.told) if (!alive.has(uid)) memory.told.delete(uid);
  return changes.sort((a, b) => a.rank - b.rank || (keyOf(a.pod) < keyOf(b.pod) ? -1 : 1));
}

/** A share that has hardly moved stays as it stands. */
function settledShare({ metadata }: Pod, share: number | undefined): number | undefined {
  const { annotation, mark } = PUBLISHED_KARPENTER_COST;
  const before = metadata.annotations?.[annotation];
  if (share === undefined || before === undefined || before !== metadata.annotations?.[mark]) return share;
  return isNoticeable(Number(before), share) ? share : Number(before);
}

function changeOf(
  { events, memory }: PublishDeps,
  pod: Pod,
  which: PublishedAnnotation,
  wanted: number | undefined,
): Readonly<Record<string, string | null>> {
  const decided = decidePublication(pod, which, wanted);
  if (decided.action === 'Write') return decided.annotations;
  const { uid = '' } = pod.metadata;
  if (decided.action === 'Foreign' && !memory.told.has(uid)) {
    memory.told.add(uid);
    const text = `${which.annotation} ${decided.value} was set by somebody else and stands; the order in which groups go is not published here`;
    events.record(pod, 'Normal', 'GroupCostNotPublished', text);
  }
  return {};
}

/** The groups that budgets count, each once, with the pods that stand for themselves left out. */
function unitsOf({ clock, index, pods }: PublishDeps): PublishedUnit[] {
  const now = clock.now();
  const units = new Map<string, PublishedUnit>();
  const counted = new Set<string>();
  for (const { name: budget, namespace } of index.budgets()) {
    const members = new Map<string, { pods: Pod[]; needed: number }>();
    for (const { name, uid } of index.podsOf(namespace, budget)) {
      const pod = pods.get({ namespace, name });
      const unit = index.unitOf(namespace, name, budget, now);
      if (pod === undefined || unit?.key === undefined || counted.has(uid)) continue;
      counted.add(uid);
      const known = members.get(unit.key) ?? { pods: [], needed: unit.minCount };
      known.pods.push(pod);
      members.set(unit.key, known);
    }
    for (const [key, { needed, pods: own }] of members) {
      const id = `${namespace}/${key}`;
      units.set(`${budget} ${id}`, { ...costedUnit({ id, pods: own, needed, now }), members: own });
    }
  }
  return [...units.values()];
}

/** UID of the ReplicaSet that a pod belongs to. */
function replicaSetOf(pod: Pod | undefined): string | undefined {
  const owner = pod && controllerOf(pod);
  return owner?.kind === 'ReplicaSet' ? owner.uid : undefined;
}

function bySet(units: readonly PublishedUnit[]): Map<string, PublishedUnit[]> {
  const sets = new Map<string, PublishedUnit[]>();
  for (const unit of units) {
    const set = replicaSetOf(unit.members[0]);
    if (set === undefined) continue;
    const known = sets.get(set);
    if (known === undefined) sets.set(set, [unit]);
    else known.push(unit);
  }
  return sets;
}
