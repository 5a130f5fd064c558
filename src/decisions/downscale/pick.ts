/**
 * Making a controller that knows nothing of pickers take the pods a picker chose: they get the lowest deletion costs
 * there are, with a note of what they had before, and lose them again when the downscale is over.
 */
import type { ReplicaSet } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { isObject } from '../../machinery/values/index.ts';
import { DELETION_COST_ANNOTATION } from './deletion-cost.ts';
import { isPickerCandidate } from './picker.ts';
import { chooseVictims, type DownscaleQuestion } from './rank.ts';

export const PICK_ANNOTATION = 'policy.quorate.dev/downscale-pick';

const LOWEST_COST = -2_147_483_648;

/** What the annotation says: the cost we wrote, the cost there was, and the ReplicaSet's generation before it shrank. */
export interface PickNote {
  readonly cost: string;
  readonly before?: string;
  readonly generation: number;
}

export type AnnotationPatch = Readonly<Record<string, string | null>>;

/** Undefined for a pod that was not picked. A note that cannot be read counts as one that holds nothing. */
export function readPick({ metadata }: Pod): PickNote | undefined {
  const text = metadata.annotations?.[PICK_ANNOTATION];
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { before, cost, generation } = isObject(value) ? value : {};
  return {
    cost: typeof cost === 'string' ? cost : '',
    ...(typeof before === 'string' ? { before } : {}),
    generation: typeof generation === 'number' ? generation : 0,
  };
}

/** Takes a pick back. A cost that somebody changed since is theirs, and stays. */
export function unpick(pod: Pod): AnnotationPatch {
  const note = readPick(pod);
  if (note === undefined) return {};
  const ours = pod.metadata.annotations?.[DELETION_COST_ANNOTATION] === note.cost;
  return { [PICK_ANNOTATION]: null, ...(ours ? { [DELETION_COST_ANNOTATION]: note.before ?? null } : {}) };
}

export interface PickChange {
  readonly pod: Pod;
  readonly annotations: AnnotationPatch;
}

/**
 * What to write on which pods so that exactly those go that the order with `ranks` lets go. Costs rise in the order of
 * going, so that the first go first if fewer do. Pods that are no candidates go before all others anyway and are left
 * alone; picks of an earlier downscale that no longer hold are taken back.
 */
export function planPicks({
  generation,
  pods,
  ...question
}: DownscaleQuestion & { readonly generation: number }): PickChange[] {
  const known = new Map(pods.map((pod) => [pod.metadata.name ?? '', pod]));
  const victims = chooseVictims({ ...question, pods: pods.map(withoutPick) })
    .map(({ pod }) => pod)
    .filter(isPickerCandidate);
  const picked = victims.map((pod, at): PickChange => {
    const before = pod.metadata.annotations?.[DELETION_COST_ANNOTATION];
    const cost = String(LOWEST_COST + at);
    const note: PickNote = { cost, ...(before === undefined ? {} : { before }), generation };
    const annotations = { [DELETION_COST_ANNOTATION]: cost, [PICK_ANNOTATION]: JSON.stringify(note) };
    return { pod: known.get(pod.metadata.name ?? '') ?? pod, annotations };
  });
  const names = new Set(picked.map(({ pod }) => pod.metadata.name));
  const dropped = pods
    .filter((pod) => readPick(pod) !== undefined && !names.has(pod.metadata.name))
    .map((pod): PickChange => ({ pod, annotations: unpick(pod) }));
  // First what must not go any more, then what must.
  return [...dropped, ...picked];
}

/** The pod as it was before it was picked. */
function withoutPick(pod: Pod): Pod {
  const changes = unpick(pod);
  if (Object.keys(changes).length === 0) return pod;
  const annotations: Record<string, string> = { ...pod.metadata.annotations };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete annotations[name];
    else annotations[name] = value;
  }
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

export type PickVerdict = {
  readonly over: boolean;
  readonly reason: 'PodGoes' | 'OwnerGone' | 'DownscaleDone' | 'DownscaleNeverCame' | 'DownscaleUnderWay';
};

/** How long a downscale that was reviewed may take to appear; another webhook may have refused it. */
export const PICK_GRACE_MS = 60_000;

/**
 * Whether a pick has served its purpose and must be taken back.
 *
 * Rules, first match wins:
 *  1. the pod goes: it takes the pick with it
 *  2. its ReplicaSet is gone
 *  3. the ReplicaSet has changed since, and has no more pods than it wants
 *  4. the ReplicaSet has not changed for the grace period: the downscale was refused or given up
 *  5. otherwise it is still to come, or under way
 */
export function judgePick(
  pod: Pod,
  { replicaSet, waitedMs }: { readonly replicaSet: ReplicaSet | undefined; readonly waitedMs: number },
): PickVerdict {
  if (pod.metadata.deletionTimestamp) return { over: false, reason: 'PodGoes' };
  if (replicaSet === undefined) return { over: true, reason: 'OwnerGone' };
  const { metadata, spec, status } = replicaSet;
  const generation = metadata.generation ?? 0;
  const changed = generation > (readPick(pod)?.generation ?? 0);
  const seen = (status?.observedGeneration ?? 0) >= generation;
  if (changed && seen && (status?.replicas ?? 0) <= (spec?.replicas ?? 1))
    return { over: true, reason: 'DownscaleDone' };
  if (!changed && waitedMs >= PICK_GRACE_MS) return { over: true, reason: 'DownscaleNeverCame' };
  return { over: false, reason: 'DownscaleUnderWay' };
}
