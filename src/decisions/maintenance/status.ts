import type { Condition } from '../../api/generated/meta-v1.ts';
import type {
  MaintenanceBlocker,
  MaintenanceGroups,
  MaintenanceNodeStatus,
  MaintenancePhase,
  MaintenancePlan,
  MaintenanceSpec,
  MaintenanceStatus,
  MaintenanceStep,
  PlannedStep,
} from '../../api/quorate/maintenance.ts';
import { formatTime, parseDurationMs, parseTime } from '../../machinery/values/index.ts';
import { setCondition } from '../disruption/index.ts';
import { OpenTimes } from '../windows/index.ts';
import { tellBlocker } from './blockers.ts';
import type { MaintenanceEnding } from './decision.ts';
import type { MaintenanceFacts } from './facts.ts';
import { isEmptied } from './node-states.ts';
import { longestNotice, stepsToCome } from './progress.ts';

/** Where nobody knows how long a group takes to come back. */
const UNKNOWN_SECONDS = 60;
const STEADY_MS = 30_000;

/** What a pass has found; the rest of the status follows from it. */
export interface Draft {
  readonly phase: MaintenancePhase;
  readonly nodes: readonly MaintenanceNodeStatus[];
  readonly plan: MaintenancePlan | undefined;
  readonly step: MaintenanceStep | undefined;
  readonly groups: MaintenanceGroups;
  readonly blockers: readonly MaintenanceBlocker[];
  readonly startedAt: string | undefined;
  /** Why there is no plan. */
  readonly unplanned?: { readonly reason: 'CannotAllGo' | 'CannotTell'; readonly message: string } | undefined;
  /** Why it does not go on. */
  readonly waits?: { readonly reason: 'NotBefore' | 'OutsideWindow' | 'Yielded'; readonly message: string } | undefined;
}

export function writeStatus(facts: MaintenanceFacts, draft: Draft): MaintenanceStatus {
  const { maintenance, now } = facts;
  const { metadata, spec = { nodes: {} }, status = {} } = maintenance;
  const { blockers, groups, nodes, phase, plan, startedAt, step } = draft;
  const drained = nodes.filter(isEmptied).length;
  const [first] = blockers;
  const next: MaintenanceStatus = {
    phase,
    observedGeneration: metadata.generation,
    ...(startedAt !== undefined && { startedAt }),
    ...(plan !== undefined && { plan }),
    ...(step !== undefined && { step }),
    nodes: [...nodes],
    nodesTotal: nodes.length,
    nodesDrained: drained,
    groups,
    ...(blockers.length > 0 && { blockers: [...blockers] }),
    ...(status.waitsFor !== undefined && { waitsFor: status.waitsFor }),
    ...(status.yielded !== undefined && { yielded: status.yielded }),
    summary: {
      ...(step !== undefined && { step: `${step.number}/${step.of}` }),
      nodes: `${drained}/${nodes.length}`,
      groups: `${groups.downTotal}/${groups.planned}`,
      ...(first !== undefined && { waitsFor: tellBlocker(first) }),
      ...windowText(spec, now),
    },
  };
  const end =
    phase === 'Blocked' || phase === 'Pending' || phase === 'Paused' ? undefined : expectedEnd(next, spec, facts);
  return {
    ...next,
    ...(end !== undefined && { expectedEnd: steadyEnd(status.expectedEnd, end) }),
    conditions: conditionsOf(draft, { before: status.conditions ?? [], generation: metadata.generation, now }),
  };
}

const NO_CYCLE: Told = ['Deadlocked', 'False', 'NoCycle', ''];

type Told = readonly [type: string, status: 'True' | 'False', reason: string, message: string];

function conditionsOf(
  draft: Draft,
  { before, generation, now }: { before: readonly Condition[]; generation: number | undefined; now: number },
): Condition[] {
  const { phase, plan, unplanned } = draft;
  const [first] = draft.blockers;
  const planned: Told =
    plan === undefined
      ? ['Planned', 'False', unplanned?.reason ?? 'CannotTell', unplanned?.message ?? 'no plan was made yet']
      : plan.stepsBefore === 0 && plan.steps.length === 0
        ? ['Planned', 'False', 'NothingToDrain', 'nothing on these nodes has to move']
        : [
            'Planned',
            'True',
            'PlanMade',
            `plan ${plan.number}: ${plan.steps.length} steps, ${plan.disruptions} outages`,
          ];
  const blocked: Told =
    first === undefined
      ? ['Blocked', 'False', 'NothingInTheWay', '']
      : ['Blocked', 'True', first.reason, `${tellBlocker(first)}: ${first.message}`];
  const told: Told[] = [
    planned,
    progressOf(draft),
    phase === 'Planned' || phase === 'WaitingForWindow' ? ['Blocked', 'False', 'NothingInTheWay', ''] : blocked,
    // Whether drains wait for each other is found out by who sees all of them.
    ...(before.some(({ type }) => type === 'Deadlocked') ? [] : [NO_CYCLE]),
    ['Complete', 'False', 'InProgress', ''],
    ['Failed', 'False', 'NotFailed', ''],
  ];
  return withConditions(before, told, { generation, now });
}

function progressOf({ phase, step, waits }: Draft): Told {
  if (waits !== undefined && (phase === 'WaitingForWindow' || waits.reason === 'Yielded'))
    return ['Progressing', 'False', waits.reason, waits.message];
  if (phase === 'Paused') return ['Progressing', 'False', 'Paused', 'spec.paused is true'];
  if (phase !== 'Running') return ['Progressing', 'False', phase === 'Planned' ? 'NotBefore' : 'Blocked', ''];
  const recovering = step?.activity === 'Recovering' || step?.activity === 'Returning';
  if (step?.activity === 'Noticing') {
    return ['Progressing', 'True', 'NoticeRunning', 'groups are told that they have to go'];
  }
  return ['Progressing', 'True', recovering ? 'Recovering' : 'Draining', ''];
}

function withConditions(
  before: readonly Condition[],
  told: readonly Told[],
  { generation, now }: { generation: number | undefined; now: number },
): Condition[] {
  let conditions = [...before];
  for (const [type, status, reason, message] of told) {
    conditions = setCondition(conditions, { type, status, reason, message, observedGeneration: generation }, now);
  }
  return conditions;
}

/** The last status. Counts and plan stay for who reads it later; nobody waits for anything any more. */
export function finishStatus(
  { maintenance, now }: MaintenanceFacts,
  nodes: readonly MaintenanceNodeStatus[],
  { message, phase, reason }: MaintenanceEnding,
): MaintenanceStatus {
  const { metadata, status = {} } = maintenance;
  const { blockers = [], expectedEnd: _, step, waitsFor: _waited, yielded: _yielded, ...kept } = status;
  const drained = nodes.filter(isEmptied).length;
  const done = phase === 'Done';
  const told: Told[] = [
    ...(reason === 'NodesNotFound' ? [['Planned', 'False', 'NodesNotFound', message] as const] : []),
    ['Progressing', 'False', 'Finished', message],
    ['Blocked', 'False', 'NothingInTheWay', ''],
    NO_CYCLE,
    [
      'Complete',
      done && reason === 'Drained' ? 'True' : 'False',
      done && reason === 'Drained' ? 'Drained' : 'Incomplete',
      message,
    ],
    ['Failed', phase === 'Failed' ? 'True' : 'False', phase === 'Failed' ? reason : 'NotFailed', message],
  ];
  const { activity: __, ...ended } = step ?? { number: 0, of: 0 };
  return {
    ...kept,
    phase,
    observedGeneration: metadata.generation,
    finishedAt: formatTime(now),
    ...(step !== undefined && { step: ended }),
    nodes: [...nodes],
    nodesTotal: nodes.length,
    nodesDrained: drained,
    ...(kept.groups !== undefined && { groups: { ...kept.groups, downNow: 0 } }),
    // What was in the way when it ended is why it did.
    ...(phase === 'Failed' && blockers.length > 0 && { blockers }),
    summary: {
      ...(step !== undefined && { step: `${step.number}/${step.of}` }),
      nodes: `${drained}/${nodes.length}`,
      ...(kept.groups !== undefined && { groups: `${kept.groups.downTotal}/${kept.groups.planned}` }),
    },
    conditions: withConditions(status.conditions ?? [], told, { generation: metadata.generation, now }),
  };
}

/** What is expected moves a little with every look; it is told anew when it moves by more. */
function steadyEnd(before: string | undefined, end: number): string {
  const known = parseTime(before);
  return known !== undefined && Math.abs(known - end) < STEADY_MS ? formatTime(known) : formatTime(end);
}

/** Each step takes as long as its longest notice and then its slowest group, and its notice begins and ends in one window. */
function expectedEnd(
  status: MaintenanceStatus,
  spec: MaintenanceSpec,
  { noticeMs = new Map(), notices = [], now }: MaintenanceFacts,
): number | undefined {
  if (status.plan === undefined) return undefined;
  const windows = new OpenTimes(spec.windows ?? []);
  const pause = parseDurationMs(spec.pace?.pauseBetweenSteps ?? '0s') ?? 0;
  const { number = 0, begunAt, doneAt } = status.step ?? {};
  const current =
    begunAt !== undefined && doneAt === undefined ? status.plan.steps[number - 1 - status.plan.stepsBefore] : undefined;
  const lasts = (step: PlannedStep): number =>
    Math.max(0, ...step.evictions.map(({ seconds }) => seconds ?? UNKNOWN_SECONDS)) * 1000;
  let at = Math.max(now, parseTime(spec.notBefore) ?? now);
  if (current !== undefined) {
    const goes = notices.map(({ deadline }) => parseTime(deadline) ?? 0);
    at = Math.max(now, Math.max(parseTime(begunAt) ?? now, ...goes) + lasts(current));
  }
  for (const step of stepsToCome(status).steps) {
    const notice = longestNotice(step, noticeMs)?.ms ?? 0;
    const begins = windows.fits(at, notice);
    if (begins === undefined) return undefined;
    at = begins + notice + lasts(step) + pause;
  }
  return at;
}

function windowText({ windows = [] }: MaintenanceSpec, now: number): { window?: string } {
  if (windows.length === 0) return {};
  const answer = new OpenTimes(windows).at(now);
  if (answer.open) return { window: 'open' };
  return { window: answer.opensAt === undefined ? 'never' : formatTime(answer.opensAt) };
}
