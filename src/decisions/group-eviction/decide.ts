import type { Pod } from '../../api/generated/core-v1.ts';
import {
  decideTogether,
  type DisruptionIndex,
  exemptionOf,
  type Grant,
  isUp,
  type JointVerdict,
  type LimitCharge,
  type CountedPod,
  type Step,
  withRoom,
} from '../disruption/index.ts';
import {
  type BudgetIndex,
  type JointJudgement,
  judgeTogether,
  type UnavailabilityGates,
} from '../unavailability/index.ts';

export interface GroupEvictionQuestion {
  /** Pods of one namespace, none of them terminating. */
  readonly members: readonly CountedPod[];
  readonly disruption: DisruptionIndex;
  readonly unavailability: BudgetIndex;
  readonly gates: UnavailabilityGates;
  /** Replicas an owner asks for, by uid; undefined when nobody knows. */
  readonly scaleOf: (ownerUid: string) => number | undefined;
  readonly nowMs: number;
  readonly compat?: boolean | undefined;
}

/** What one PodDisruptionBudget is charged for the group. */
export interface DisruptionCharge {
  readonly budget: string;
  readonly unit: 'Pod' | 'PodGroup';
  readonly pods: readonly { readonly name: string; readonly cost: 0 | 1 }[];
}

export type GroupVerdict =
  | {
      readonly allowed: true;
      readonly disruption: readonly DisruptionCharge[];
      readonly unavailability: Extract<JointJudgement, { allowed: true }>['charges'];
      /** The places that PodUnavailableBudgets ask for. */
      readonly rooms: Extract<JointJudgement, { allowed: true }>['rooms'];
      /** Grants under budgets that ask for room, with the pod that each is for. */
      readonly placed: readonly { readonly pod: CountedPod; readonly grant: Grant }[];
      /** Policies that count a disruption, with the pod that begins it. */
      readonly limits: readonly { readonly pod: CountedPod; readonly charge: LimitCharge }[];
    }
  | { readonly allowed: false; readonly reason: 'DisruptionBudget'; readonly step: Step }
  | {
      readonly allowed: false;
      readonly reason: 'UnavailableBudget';
      readonly pod: Pod;
      readonly refusals: Extract<JointJudgement, { allowed: false }>['refusals'];
    };

/**
 * Decides whether the members of a group may all go at once. Rules, first match wins:
 *  1. a PodDisruptionBudget refuses one of them, those before it taken as gone: refuse
 *  2. a PodUnavailableBudget does: refuse
 *  3. grant, and say what every budget is to be charged
 * Members that a budget has approved already cost nothing again, so that asking twice is harmless.
 */
export function decideGroupEviction(question: GroupEvictionQuestion): GroupVerdict {
  const { compat, disruption, gates, members, nowMs, scaleOf, unavailability } = question;
  const open = members.filter((pod) => !isApproved(disruption, pod, nowMs));
  const joint = placeTogether(disruption, open, nowMs);
  const step = joint.steps.find(({ verdict }) => !verdict.allowed);
  if (step !== undefined) return { allowed: false, reason: 'DisruptionBudget', step };
  const judge = (): JointJudgement =>
    judgeTogether({
      operation: 'EVICT',
      index: unavailability,
      pods: members.map(({ name }) => name),
      gates,
      scaleOf,
      nowMs,
      compat,
      room: { judge: disruption.room },
    });
  const judged = disruption.room === undefined ? judge() : disruption.room.during(judge);
  if (!judged.allowed) return { ...judged, reason: 'UnavailableBudget' };
  const placed = joint.steps.flatMap(({ pod: { name }, verdict }) => {
    const pod = members.find((member) => member.name === name);
    return verdict.allowed && verdict.room !== undefined && pod !== undefined ? [{ pod, grant: verdict }] : [];
  });
  const limits = joint.steps.flatMap(({ pod: { name }, verdict }) => {
    const pod = members.find((member) => member.name === name);
    const charge = verdict.allowed ? verdict.limits : undefined;
    return charge === undefined || pod === undefined ? [] : [{ pod, charge }];
  });
  const { charges, rooms } = judged;
  return { allowed: true, disruption: chargesOf(joint.steps), unavailability: charges, rooms, placed, limits };
}

/** Room that budgets ask for is looked for as well, for all of the groups at once. */
function placeTogether(index: DisruptionIndex, pods: readonly CountedPod[], nowMs: number): JointVerdict {
  const decide = (): JointVerdict => {
    const { steps } = decideTogether(index, pods, nowMs, { everyBudget: true });
    const placed = steps.map((step) => withRoom(index, step, nowMs, { isCordoned: () => false }));
    return { allowed: placed.every(({ verdict }) => verdict.allowed), steps: placed };
  };
  return index.room === undefined ? decide() : index.room.during(decide);
}

/** Its budgets have recorded it a moment ago. */
function isApproved(index: DisruptionIndex, pod: CountedPod, nowMs: number): boolean {
  const { views = [] } = index.ask(pod.namespace, pod.name, nowMs) ?? {};
  if (views.length === 0 || exemptionOf(pod) !== undefined || !isUp(pod)) return false;
  return views.every(({ counted }) => !counted);
}

function chargesOf(steps: readonly Step[]): DisruptionCharge[] {
  const charges = new Map<string, { unit: 'Pod' | 'PodGroup'; pods: { name: string; cost: 0 | 1 }[] }>();
  for (const { also = [], pod, verdict } of steps) {
    for (const { charge } of verdict.allowed ? [verdict, ...also] : []) {
      if (charge === undefined) continue;
      const { cost, view } = charge;
      const known = charges.get(view.budget.name) ?? { unit: view.mode.unit, pods: [] };
      known.pods.push({ name: pod.name, cost });
      charges.set(view.budget.name, known);
    }
  }
  return [...charges].map(([budget, charge]) => ({ budget, ...charge }));
}
