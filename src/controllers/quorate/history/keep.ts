import { controllerOf } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import {
  type DisruptionHistory,
  disruptionHistoryType,
  type HandedOver,
  HISTORY_PART_LABEL,
  type HistoryEntry,
} from '../../../api/quorate/disruption-history.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { existing, isConflict } from '../../../machinery/runtime/index.ts';
import { formatMicroTime, parseTime } from '../../../machinery/values/index.ts';
import { HANDED_MS, type RecordDeps } from './deps.ts';
import { lookBack } from './look-back.ts';
import { tellDisruptions } from './meters.ts';
import { OwnerReader } from './owners.ts';
import type { Sighting } from './seen.ts';

const REACHED = 'reached';
/** Gaps that are told of. */
const MAX_GAPS = 50;
/** So long another replica may take to say who asked. */
const NAMED_MS = 60_000;
/** What an owner of a kind that is not known did not replace by then, it will not. */
const FORGOTTEN_MS = 60 * 60_000;
/** How often it is written how far the pods were followed. */
const REACHED_MS = 5000;

/** Takes up the record where the last keeper left it. */
export async function openRecord(deps: RecordDeps): Promise<void> {
  const { book, client, clock, home, pods, state, tracker } = deps;
  const now = clock.now();
  const recent = now - 60 * 60_000;
  await book.open((entry) => {
    if (entry.end === 'Open' || (parseTime(entry.lastAt ?? entry.at) ?? 0) > recent) resume(deps, entry);
  });
  // What was seen while another kept the record is looked back on below.
  tracker.takeSightings();
  const before = await existing(client.get(disruptionHistoryType, { namespace: home, name: REACHED }));
  const reached = before?.spec?.reached;
  if (reached !== undefined) {
    const { isIncomplete, sightings } = await lookBack(deps, reached.pods);
    tracker.giveBack(sightings);
    for (const one of sightings) beginUnseen(deps, one);
    if (isIncomplete && reached.census !== tracker.census) {
      const gap = { from: reached.at, to: formatMicroTime(now) };
      await writeReached(deps, before, { pods: pods.resourceVersion, gaps: [...(before?.spec?.gaps ?? []), gap] });
    }
  }
  await book.trim(now);
  state.isOpen = true;
}

/** A group that went while nobody looked, and is not back yet. */
function beginUnseen({ recorder, tracker }: RecordDeps, { departure, pod, siblings }: Sighting): void {
  const { at, group } = departure;
  const owner = controllerOf(pod)?.uid;
  const isSingle = group.split('/')[1] === 'Pod';
  if (isSingle && (owner === undefined || siblings === undefined || departure.isFinished)) return;
  if (isSingle) tracker.resume(group, owner, (siblings ?? 0) + 1);
  recorder.beganUnseen(group, at, isSingle ? 1 : tracker.neededBy(group));
}

function resume({ pods, recorder, state, tracker }: RecordDeps, entry: HistoryEntry): void {
  const all = pods.list(entry.namespace);
  const sibling = all.find((pod) => {
    const owner = controllerOf(pod);
    return owner !== undefined && `${owner.kind}/${owner.name}` === entry.owner;
  });
  if (sibling !== undefined) state.subjects.set(entry.id, subjectOf(sibling));
  recorder.resume(entry, Math.max(entry.podsTotal, tracker.neededBy(entry.group)));
  if (entry.end === 'Open') tracker.resume(entry.group, sibling && controllerOf(sibling)?.uid);
}

/** Enters what was seen since the last time, and writes what is new. Nothing is asked or written where nothing was. */
export async function keepRecord(deps: RecordDeps): Promise<void> {
  const { book, clock, log, meters, pods, recorder, state, tracker } = deps;
  if (!state.isOpen) await openRecord(deps);
  // All that is known up to here is written below.
  const version = pods.changedAt;
  tracker.regroup();
  await takeAnswers(deps);
  const sightings = tracker.takeSightings();
  try {
    await enter(deps, sightings);
  } catch (error) {
    tracker.giveBack(sightings);
    throw error;
  }
  await learnNames(deps);
  const now = clock.now();
  tracker.lookAtOpen();
  const isThere = (namespace: string, name: string, uid: string): boolean =>
    pods.get({ namespace, name })?.metadata.uid === uid;
  recorder.tick(now, isThere);
  const changed = recorder.takeChanged(now);
  meters.waitsSince = changed.length === 0 ? undefined : (meters.waitsSince ?? now);
  if (changed.length > 0) {
    let left: readonly HistoryEntry[] = changed;
    try {
      left = await book.write(changed);
    } finally {
      recorder.giveBack(left);
    }
    if (left.length > 0) {
      log.debug({ entries: left.length }, 'entries of the record are written again: somebody else wrote them');
      return;
    }
    meters.waitsSince = undefined;
    await book.trim(now);
    book.settle((id) => recorder.keeps(id));
  }
  const news = recorder.takeNews();
  meters.count(news);
  tellDisruptions({ events: deps.events, subjects: state.subjects, told: state.told, now }, news);
  for (const id of state.subjects.keys()) if (!recorder.keeps(id)) state.subjects.delete(id);
  if (version === state.reached || now - state.reachedAt < REACHED_MS) return;
  state.reachedAt = now;
  await noteReached(deps, version);
}

async function takeAnswers(deps: RecordDeps): Promise<void> {
  const { answers, pods, recorder, state, tracker } = deps;
  for (const answer of answers.take()) {
    const { name } = answer.pod ?? {};
    const known = name === undefined ? undefined : tracker.groupOf(answer.namespace, name);
    const entry = recorder.answered(answer, known);
    const pod = name === undefined ? undefined : pods.get({ namespace: answer.namespace, name });
    if (entry !== undefined && pod !== undefined) state.subjects.set(entry.id, subjectOf(pod));
  }
}

/** Who asked for what went, where another replica was asked. */
async function learnNames(deps: RecordDeps): Promise<void> {
  const { clock, hasReplicas, recorder, state } = deps;
  if (!hasReplicas || clock.now() >= state.namelessUntil) return;
  for (const { at, ...rest } of await handedOver(deps))
    recorder.learn({ ...rest, at: parseTime(at) ?? 0, allowed: true });
}

/** What replicas let pass that do not lead. */
async function handedOver({ client, clock, home }: RecordDeps): Promise<HandedOver[]> {
  const parts = await client.list(disruptionHistoryType, {
    namespace: home,
    labelSelector: `${HISTORY_PART_LABEL}=answers`,
  });
  const fresh = clock.now() - HANDED_MS;
  const all: HandedOver[] = [];
  for (const { metadata, spec } of parts.items) {
    const own = (spec?.answered ?? []).filter(({ at }) => (parseTime(at) ?? 0) > fresh);
    all.push(...own);
    // Its replica is gone, or was asked nothing for long and makes it again.
    if (own.length === 0) {
      const { name = '', resourceVersion } = metadata;
      const { namespace = home } = metadata;
      await client
        .delete(disruptionHistoryType, { namespace, name }, { preconditions: { resourceVersion } })
        .catch(() => undefined);
    }
  }
  return all;
}

async function enter(deps: RecordDeps, sightings: readonly Sighting[]): Promise<void> {
  const { client, clock, recorder, state, tracker } = deps;
  const owners = new OwnerReader(client);
  for (const sighting of sightings) {
    const { departure, kind, pod } = sighting;
    const isUnwanted = kind === 'Went' && (await owners.isUnwanted(sighting));
    const whole = { ...departure, isUnwanted };
    const entry = kind === 'Lost' ? recorder.lost(whole) : recorder.went(whole, clock.now());
    if (entry === undefined) continue;
    if (!state.subjects.has(entry.id)) state.subjects.set(entry.id, subjectOf(pod));
    if (entry.who === undefined) state.namelessUntil = clock.now() + NAMED_MS;
  }
  for (const group of recorder.open) if (!tracker.hasMembers(group)) await askOwner(deps, owners, group);
}

/** Whether what is left of a group will be made again: its owner may be gone, or have all it wants. */
async function askOwner({ clock, recorder, state, tracker }: RecordDeps, owners: OwnerReader, group: string) {
  const entry = recorder.entryOfOpen(group);
  const subject = entry && state.subjects.get(entry.id);
  if (entry === undefined || subject === undefined || subject.kind === 'Pod') return;
  const { apiVersion = '', kind = '', metadata } = subject;
  const { name = '', uid = '' } = metadata;
  const wanted = await owners.wantedBy({ apiVersion, kind, name, uid }, entry.namespace);
  const isOld = clock.now() - (parseTime(entry.downAt) ?? 0) > FORGOTTEN_MS;
  if (wanted === 0 || (wanted === undefined && isOld)) tracker.removed.add(group);
  else if (wanted !== undefined && tracker.readyOf(uid) >= wanted) tracker.satisfied.add(group);
}

/** What made the pod, else the pod. */
function subjectOf(pod: Pod): KubeObject {
  const { namespace } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner === undefined) return { apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata };
  const { apiVersion, kind, name, uid } = owner;
  return { apiVersion, kind, metadata: { namespace, name, uid } };
}

async function noteReached(deps: RecordDeps, version: string): Promise<void> {
  const { client, home, state } = deps;
  const before = await existing(client.get(disruptionHistoryType, { namespace: home, name: REACHED }));
  if (!(await writeReached(deps, before, { pods: version, gaps: before?.spec?.gaps ?? [] }))) return;
  state.reached = version;
}

/** Entries are written first: what is seen twice after a death is known by its uid. */
async function writeReached(
  { client, clock, home, tracker }: RecordDeps,
  before: DisruptionHistory | undefined,
  { gaps, pods }: { readonly pods: string; readonly gaps: readonly { from: string; to: string }[] },
): Promise<boolean> {
  const reached = { pods, at: formatMicroTime(clock.now()), census: tracker.census };
  const spec = { writer: 'leader', reached, ...(gaps.length > 0 && { gaps: gaps.slice(-MAX_GAPS) }) };
  const labels = { [HISTORY_PART_LABEL]: REACHED };
  try {
    await (before === undefined
      ? client.create(disruptionHistoryType, { metadata: { namespace: home, name: REACHED, labels }, spec })
      : client.update(disruptionHistoryType, { ...before, spec }));
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
