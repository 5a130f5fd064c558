import type { ProtectedOperation } from '../../api/kruise/types.ts';
import {
  decideTogether,
  type DisruptionIndex,
  judgeEviction,
  openAccount,
  type PodName,
  type Step,
  withRoom,
} from '../disruption/index.ts';
import {
  explainRefusals,
  type UnavailabilityJudgement,
  UnavailabilityAccount,
  type UnavailabilityFeed,
  type UnavailabilityGates,
  type UnavailabilityOpinion,
} from '../unavailability/index.ts';

/** The state that budgets of both kinds decide on, and what is to be done to the pods. */
export interface AllBudgets {
  readonly index: DisruptionIndex;
  readonly unavailability: UnavailabilityFeed;
  readonly gates: UnavailabilityGates;
  readonly operation: Extract<ProtectedOperation, 'EVICT' | 'DELETE'>;
  readonly now: number;
  /** Whether a node is cordoned; only asked for budgets that look ahead. Absent: none is. */
  readonly isCordoned?: ((node: string) => boolean) | undefined;
  /** Nodes that a drain is about to cordon. */
  readonly closing?: readonly string[] | undefined;
}

/** What both kinds say to one pod. It goes only if all agree. */
export interface JointStep extends Step {
  readonly allowed: boolean;
  /** The PodUnavailableBudgets that refuse. */
  readonly refusedBy: readonly UnavailabilityOpinion[];
}

export interface JointAnswer {
  readonly allowed: boolean;
  /** In the order in which the pods should go. */
  readonly steps: readonly JointStep[];
}

/** Decides whether these pods may all go without waiting for any replacement, and in which order. */
export function decideAllTogether(all: AllBudgets, pods: readonly PodName[]): JointAnswer {
  const decide = (): JointAnswer => openAllBudgets(all)(pods);
  return all.index.room === undefined ? decide() : all.index.room.during(decide);
}

/** Judges one set of pods after another, each as if those granted before were gone. No budget pays for a refusal. */
export function openAllBudgets(all: AllBudgets): (pods: readonly PodName[]) => JointAnswer {
  const { closing, index, isCordoned = () => false, now } = all;
  const judge = openAccount(index, now);
  const guards = new Map<string, UnavailabilityAccount>();
  return (pods) => {
    const order = decideTogether(index, pods, now).steps.map(({ pod }) => pod);
    const accounts = [...new Set(order.map(({ namespace }) => namespace))].map((namespace) => {
      const known = guards.get(namespace) ?? openGuards(all, namespace);
      guards.set(namespace, known);
      return known;
    });
    const steps = during(accounts, () =>
      order.flatMap((pod) => {
        const guard = guards.get(pod.namespace);
        const said = guard?.ask(pod.name);
        // A pod that a guard keeps must not cost the other budgets anything.
        const [taken] = (said?.allowed === false ? decideTogether(index, [pod], now) : judge([pod])).steps;
        if (taken === undefined) return [];
        const step = withRoom(index, lookAhead(all, taken), now, { isCordoned, closing });
        if (said?.allowed === true && step.verdict.allowed) guard?.take(pod.name, said);
        return [{ ...step, allowed: step.verdict.allowed && said?.allowed !== false, refusedBy: opinions(said) }];
      }),
    );
    return { allowed: steps.every(({ allowed }) => allowed), steps };
  };
}

/** A budget may ask that the first pod of a cordoned node goes only if all of its pods there could. */
function lookAhead({ index, isCordoned, now }: AllBudgets, step: Step): Step {
  const { budget, pod, verdict } = step;
  if (isCordoned === undefined || !verdict.allowed || budget === undefined) return step;
  if (index.budget(pod.namespace, budget)?.lookahead !== true) return step;
  const alone = judgeEviction(index, pod, now, { isCordoned, room: false });
  return alone?.allowed === false && alone.reason === 'NodeNotDrainable' ? { ...step, verdict: alone } : step;
}

function openGuards(
  { closing, gates, index, now, operation, unavailability }: AllBudgets,
  namespace: string,
): UnavailabilityAccount {
  const leftover = unavailability.leftoverIn(namespace);
  const room = { judge: index.room, closing };
  const question = { operation, gates, nowMs: now, scaleOf: unavailability.scaleOf, leftover, room };
  return new UnavailabilityAccount(unavailability.indexes.of(namespace), question);
}

function during<T>([first, ...rest]: readonly UnavailabilityAccount[], work: () => T): T {
  return first === undefined ? work() : first.run(() => during(rest, work));
}

const opinions = (judgement: UnavailabilityJudgement | undefined): readonly UnavailabilityOpinion[] =>
  judgement === undefined || judgement.allowed ? [] : explainRefusals(judgement.refusals);
