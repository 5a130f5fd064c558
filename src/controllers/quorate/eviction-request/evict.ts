import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction, ResponderStatus } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { DEFAULT_RESPONDER, evictionType } from '../../../api/lifecycle/index.ts';
import {
  activeTurn,
  afterAnother,
  afterTry,
  defaultStep,
  isOver,
  report,
  type TryAnswer,
  turnsOf,
  wantsGone,
} from '../../../decisions/eviction-requests/index.ts';
import { evictPod } from '../../../machinery/runtime/evict-pod.ts';
import { isConflict } from '../../../machinery/runtime/index.ts';
import { type EvictionRequestDeps, type TargetMemory, placeOf } from './deps.ts';
import { BY_TARGET, targetKey } from '../../shared/eviction-targets.ts';
import { type Gathered, isStillAsked } from './gather.ts';
import { askForGroup, isTogether } from './ask-group.ts';
import type { GroupSeen } from './groups.ts';

/** How often a report is tried against others that write the same status. */
const MAX_WRITES = 5;

export interface EvictionTry {
  /** What was written has a consequence at once. */
  readonly again: boolean;
  readonly until?: number | undefined;
}

/**
 * The turn of the responder that speaks for the group: where the pod does not go alone, the group is told now, so that all
 * of it is told at once. What comes of that is not for the Eviction to say: its only entry is that of the responder.
 */
export async function askForNotice(
  deps: EvictionRequestDeps,
  memory: TargetMemory,
  eviction: Eviction,
  { now, object, requests }: Gathered,
): Promise<EvictionTry> {
  if (object === undefined || object.metadata.deletionTimestamp) return { again: false };
  const { groupTries } = memory;
  if (groupTries !== undefined && now < groupTries.nextAt) return { again: false, until: groupTries.nextAt };
  if (!requests.some(wantsGone) || !(await isStillAsked(deps, requests))) return { again: false };
  if ((await askForWhole(deps, object, eviction)) === undefined) return { again: false };
  memory.groupTries = afterAnother(groupTries, now);
  return { again: false, until: memory.groupTries.nextAt };
}

/** The turn of the default responder: it calls `pods/eviction`, or asks for the whole group, until the pod goes. */
export async function evictByDefault(
  deps: EvictionRequestDeps,
  memory: TargetMemory,
  eviction: Eviction,
  facts: Gathered,
): Promise<EvictionTry> {
  const { now, object, pod, requests } = facts;
  const turn = activeTurn(turnsOf(eviction.status ?? {}));
  if (pod === undefined || object === undefined || turn === undefined) return { again: false };
  const step = defaultStep(pod, turn.report, {
    now,
    tries: memory.tries,
    isWanted: requests.some(wantsGone),
  });
  if (step.kind === 'Wait') return { again: false, until: step.until };
  if (step.kind === 'Report') {
    await tell(deps, eviction, () => step.report);
    return { again: step.report.completionTime !== undefined, until: step.until };
  }
  if (!(await isStillAsked(deps, requests))) return { again: false };
  const answer = await ask(deps, object, eviction);
  const { tries } = afterTry(turn.report, answer, { now, tries: memory.tries });
  const before = memory.tries;
  memory.tries = tries;
  await tell(deps, eviction, (own) => afterTry(own, answer, { now: deps.clock.now(), tries: before }).report);
  return { again: false, until: tries.nextAt };
}

async function ask(deps: EvictionRequestDeps, pod: Pod, eviction: Eviction): Promise<TryAnswer> {
  const { name = '', namespace = '', uid } = pod.metadata;
  const whole = await askForWhole(deps, pod, eviction);
  if (whole !== undefined) return whole;
  const answer = await evictPod(deps.client, { namespace, name }, undefined, { uid });
  return { refused: answer.kind === 'wait' || answer.kind === 'failed' ? answer.text : undefined };
}

/** Undefined where the pod goes alone. */
async function askForWhole(deps: EvictionRequestDeps, pod: Pod, eviction: Eviction): Promise<TryAnswer | undefined> {
  const { uid } = pod.metadata;
  const group = await deps.groups?.find(pod);
  if (group === undefined) return undefined;
  const isAsked = (of: Pod): boolean => of.metadata.uid === uid || isAskedFor(deps, of);
  const asked = new Set(group.members.filter(isAsked).map(({ metadata }) => metadata.uid ?? ''));
  if (!isTogether(group, (one) => asked.has(one))) return undefined;
  return askForGroup(deps.client, group, causesOf(deps, group, eviction));
}

const keyOfPod = ({ metadata: { name, namespace, uid } }: Pod): string => targetKey({ name, namespace, uid });

function isAskedFor({ requests }: EvictionRequestDeps, pod: Pod): boolean {
  return requests.byIndex(BY_TARGET, keyOfPod(pod)).some(wantsGone);
}

/** Every Eviction under way of the group's pods: the GroupEviction is theirs together. */
function causesOf({ evictions }: EvictionRequestDeps, { members }: GroupSeen, own: Eviction): Eviction[] {
  const all = members.flatMap((pod) => evictions.byIndex(BY_TARGET, keyOfPod(pod)));
  const others = all.filter((one) => !isOver(one) && one.metadata.uid !== own.metadata.uid);
  return [own, ...others];
}

/** Others write the same status: what is reported is put into what stands there now, while it is still our turn. */
async function tell(
  { client }: EvictionRequestDeps,
  eviction: Eviction,
  newsFor: (own: ResponderStatus) => Partial<ResponderStatus>,
): Promise<void> {
  let current = eviction;
  for (let write = 1; ; write += 1) {
    const { status = {} } = current;
    const turns = turnsOf(status);
    const turn = activeTurn(turns);
    if (turn?.name !== DEFAULT_RESPONDER) return;
    const responders = [...report(turns, DEFAULT_RESPONDER, newsFor(turn.report)).responders];
    try {
      await client.updateStatus(evictionType, { ...current, status: { ...status, responders } });
      return;
    } catch (error) {
      if (!isConflict(error) || write === MAX_WRITES) throw error;
      current = await client.get(evictionType, placeOf(eviction));
    }
  }
}
