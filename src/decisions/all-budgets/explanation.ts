import {
  type Explanation,
  explainEviction,
  explainStep,
  formatExplanation,
  isRefusalReason,
  type PodName,
} from '../disruption/index.ts';
import { explainUnavailability, formatOpinions, type UnavailabilityOpinion } from '../unavailability/index.ts';
import { type AllBudgets, decideAllTogether, type JointStep } from './together.ts';

/** Why a pod may or may not be evicted now, by budgets of both kinds. */
export interface PodExplanation extends Explanation {
  /** What its PodUnavailableBudgets say; absent when it has none. */
  readonly unavailability?: readonly UnavailabilityOpinion[];
  /** Its group goes as one: what is said here is said of all of it. */
  readonly asOne?: { readonly group: string; readonly members: number };
}

export interface ExplainedBudgets extends AllBudgets {
  readonly isCordoned: (node: string) => boolean;
}

/** Asks every budget of a pod the very questions an eviction would ask; undefined when there is no such pod. */
export function explainPod(all: ExplainedBudgets, pod: PodName): PodExplanation | undefined {
  const alone = explainAlone(all, pod);
  const group = all.index.asOne(pod.namespace, pod.name);
  if (alone === undefined || group === undefined || alone.reason === 'MultipleBudgets') return alone;
  const asOne = { group: group.group, members: group.members.length };
  if (!alone.allowed) return { ...alone, asOne };
  const refused = decideAllTogether(all, group.members).steps.find(({ allowed }) => !allowed);
  const told = refused && explainJointStep(all, refused);
  return { ...(told ?? alone), asOne };
}

function explainAlone(all: ExplainedBudgets, pod: PodName): PodExplanation | undefined {
  const { closing, gates, index, isCordoned, now, unavailability } = all;
  const alone = explainEviction(index, pod, now, { isCordoned, closing });
  if (alone === undefined) return undefined;
  const leftover = unavailability.leftoverIn(pod.namespace);
  const room = { judge: index.room, closing };
  const question = { gates, scaleOf: unavailability.scaleOf, nowMs: now, leftover, room };
  const opinions = explainUnavailability(unavailability.indexes.of(pod.namespace), pod.name, question);
  return withOpinions(alone, opinions);
}

/** Explains a step that was refused, perhaps only because of the steps before it. */
export function explainJointStep(all: ExplainedBudgets, step: JointStep): PodExplanation | undefined {
  const alone = explainAlone(all, step.pod);
  if (alone === undefined || !alone.allowed) return alone;
  const joint = explainStep(all.index, step, all.now) ?? alone;
  return step.refusedBy.length === 0 ? joint : { ...withOpinions(joint, step.refusedBy), jointly: true };
}

function withOpinions(alone: Explanation, unavailability: readonly UnavailabilityOpinion[]): PodExplanation {
  if (unavailability.length === 0) return alone;
  const allowed = alone.allowed && unavailability.every((opinion) => opinion.allowed);
  return { ...alone, allowed, unavailability };
}

/** One sentence per line, for people. */
export function formatPodExplanation({ asOne, ...explanation }: PodExplanation, now: number): string[] {
  const lines = formatBudgetsOf(explanation, now);
  if (asOne === undefined) return lines;
  const { group, members } = asOne;
  return [...lines, `Its group ${group} goes as one: an eviction of one of its ${members} members takes all of them.`];
}

function formatBudgetsOf(explanation: PodExplanation, now: number): string[] {
  const { unavailability = [], ...alone } = explanation;
  if (unavailability.length === 0) return formatExplanation(alone, now);
  const refusedByOwn = isRefusalReason(explanation.reason);
  const own = formatExplanation({ ...alone, allowed: !refusedByOwn }, now);
  const when = explanation.jointly ? 'after the pods before it' : 'now';
  const first = explanation.allowed || refusedByOwn ? [] : [`Pod ${explanation.pod} may not be evicted ${when}.`];
  const said = explanation.reason === 'NoBudget' ? [`No PodDisruptionBudget selects pod ${explanation.pod}.`] : own;
  return [...first, ...said, ...formatOpinions(unavailability)];
}
