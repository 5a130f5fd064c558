import { parseDurationMs, parseTime } from '../../machinery/values/index.ts';
import {
  DEFAULT_RECOVERY_TIMEOUT,
  type GroupHit,
  type MaintenanceGroups,
  type MaintenanceNodeStatus,
  type MaintenancePlan,
  type MaintenanceStatus,
  type PlannedEviction,
  type PlannedPod,
  type PlannedStep,
} from '../../api/quorate/maintenance.ts';
import type { MaintenanceFacts } from './facts.ts';
import { currentStep } from './node-states.ts';

/** How far the step under way has come. */
export interface StepProgress {
  readonly step: PlannedStep;
  /** Evictions with pods that nobody has told to go. */
  readonly toAsk: readonly { readonly eviction: PlannedEviction; readonly pods: readonly PlannedPod[] }[];
  /** Pods on their way out. */
  readonly going: number;
  /** Groups that are not whole again; undefined where nobody has looked. */
  readonly down: readonly string[] | undefined;
  /** What it took down should be back by now. */
  readonly overdue: boolean;
  /** Nodes that it emptied and that have to come back. */
  readonly away: readonly string[];
}

export function readProgress(
  { groups, maintenance, now, present }: MaintenanceFacts,
  nodes: readonly MaintenanceNodeStatus[],
): StepProgress | undefined {
  const step = currentStep(maintenance);
  if (step === undefined) return undefined;
  const states = new Map(nodes.map(({ name, state }) => [name, state]));
  const released = ({ node }: PlannedPod): boolean => states.get(node) === 'Released';
  const toAsk = step.evictions.flatMap((eviction) => {
    const pods = eviction.pods.filter((pod) => present.get(pod.uid) === 'There' && !released(pod));
    return pods.length === 0 ? [] : [{ eviction, pods }];
  });
  const going = step.evictions.flatMap(({ pods }) => pods).filter(({ uid }) => present.get(uid) === 'Going').length;
  const down = groups && step.evictions.map(({ group }) => group).filter((group) => groups.get(group) === 'Down');
  const { recoveryTimeout = DEFAULT_RECOVERY_TIMEOUT } = maintenance.spec ?? {};
  const begunAt = parseTime(maintenance.status?.step?.begunAt) ?? now;
  const away =
    maintenance.spec?.nodesReturn === true
      ? (step.completes ?? []).filter((name) => !['Returned', 'Gone', 'Released'].includes(states.get(name) ?? 'Gone'))
      : [];
  return { step, toAsk, going, down, overdue: now - begunAt > (parseDurationMs(recoveryTimeout) ?? 0), away };
}

/**
 * Marks evictions whose pods have begun to go, and counts the groups that went down with them. Both are one write of the
 * status, so nothing is counted twice.
 */
export function countBegun(
  { groups, maintenance, present }: MaintenanceFacts,
  progress: StepProgress | undefined,
): { plan: MaintenancePlan | undefined; groups: MaintenanceGroups } {
  const status = maintenance.status ?? {};
  const hits = new Map((status.groups?.hit ?? []).map((hit) => [hit.group, hit]));
  const isBegun = ({ pods }: PlannedEviction): boolean => pods.some(({ uid }) => present.get(uid) !== 'There');
  const fresh = new Set(progress?.step.evictions.filter((one) => one.begun !== true && isBegun(one)) ?? []);
  for (const { disrupts, group } of fresh) {
    if (!disrupts) continue;
    const hit: GroupHit = hits.get(group) ?? { group, count: 0, allowed: 1 };
    hits.set(group, { ...hit, count: hit.count + 1 });
  }
  const plan =
    fresh.size === 0 || status.plan === undefined
      ? status.plan
      : {
          ...status.plan,
          steps: status.plan.steps.map((step) =>
            step === progress?.step
              ? { ...step, evictions: step.evictions.map((one) => (fresh.has(one) ? { ...one, begun: true } : one)) }
              : step,
          ),
        };
  const downTotal = [...hits.values()].reduce((sum, { count }) => sum + count, 0);
  const downNow = groups === undefined ? (status.groups?.downNow ?? 0) : countDown(groups);
  const planned = downTotal + countToCome(plan, status.step?.number ?? 0, progress !== undefined);
  const list = [...hits.values()];
  return {
    plan,
    groups: {
      downNow: progress === undefined ? 0 : downNow,
      downTotal,
      planned,
      ...(list.length > 0 && { hit: list }),
    },
  };
}

const countDown = (groups: ReadonlyMap<string, string>): number =>
  [...groups.values()].filter((state) => state === 'Down').length;

/** Outages that are planned and have not begun. */
function countToCome(plan: MaintenancePlan | undefined, number: number, underWay: boolean): number {
  if (plan === undefined) return 0;
  const from = number - plan.stepsBefore - (underWay ? 1 : 0);
  return plan.steps
    .slice(Math.max(0, from))
    .flatMap(({ evictions }) => evictions)
    .filter(({ begun, disrupts }) => disrupts && begun !== true).length;
}

/** Steps that have not begun, and the number of the first of them. */
export function stepsToCome({ plan, step }: MaintenanceStatus): { steps: readonly PlannedStep[]; next: number } {
  const number = step?.number ?? 0;
  return { steps: plan?.steps.slice(Math.max(0, number - plan.stepsBefore)) ?? [], next: number + 1 };
}

/** The group of a step that is to be told the longest time before it goes. */
export function longestNotice(
  step: PlannedStep | undefined,
  noticeMs: ReadonlyMap<string, number>,
): { readonly group: string; readonly ms: number } | undefined {
  let longest: { group: string; ms: number } | undefined;
  for (const { group } of step?.evictions ?? []) {
    const ms = noticeMs.get(group) ?? 0;
    if (ms > (longest?.ms ?? 0)) longest = { group, ms };
  }
  return longest;
}
