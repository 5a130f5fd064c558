import {
  isFinished,
  MAINTENANCE_FINALIZER,
  type MaintenanceNodeStatus,
  type MaintenanceStatus,
  type MaintenanceStep,
  type PlannedStep,
  type StepActivity,
} from '../../api/quorate/maintenance.ts';
import { formatAge, formatTime, parseDurationMs, parseTime } from '../../machinery/values/index.ts';
import { OpenTimes } from '../windows/index.ts';
import { sinceBefore, withoutSince } from './blockers.ts';
import type { Decision, PlanWish } from './decision.ts';
import { afterEnd, endWith, findEnding } from './ending.ts';
import {
  type MaintenanceAction,
  claimOf,
  type MaintenanceEvent,
  type MaintenanceFacts,
  type NewBlocker,
  readClaim,
  withdrawals,
} from './facts.ts';
import { conditionActions } from './node-conditions.ts';
import { claimedByOthers, hasBegun, isLeft, nextNodeStates } from './node-states.ts';
import { countBegun, longestNotice, readProgress, type StepProgress, stepsToCome } from './progress.ts';
import { findStaleness } from './stale.ts';
import { type Draft, writeStatus } from './status.ts';
import { isYielding } from './yield.ts';

/** Refused for so long, and nothing on its way out: it is blocked. */
const BLOCKED_MS = 10_000;
/** Refused for so long from the first eviction of a step on: the plan counted on something that is not so. */
const REPLAN_MS = 60_000;
/** How often it is asked again whether what cannot go can. */
const LOOK_AGAIN_MS = 15_000;
const CLAIM_AGAIN_MS = 5_000;
/** How often it is looked whether policies ask for a shorter notice by now. */
const NOTICE_AGAIN_MS = 60_000;
/** What was planned anew is given the time to be seen. */
const SETTLE_MS = 2_000;

/**
 * What a Maintenance does next, from what is so now. Rules, first match wins:
 *  1. it has ended: it is kept for a while
 *  2. it is to end: nodes are let go, then the last status is written
 *  3. it has no plan: one is made
 *  4. it stepped back for others: it waits until they are done
 *  5. a step is under way: what it names is told to go, what went is waited for
 *  6. it is paused, too early or outside its windows: it waits
 *  7. its plan does not fit what is there any more: another one is made
 *  8. a node is not claimed that the next step needs: it is claimed
 *  9. the next step begins
 */
export function decide(facts: MaintenanceFacts): Decision {
  const { maintenance } = facts;
  const { metadata, status = {} } = maintenance;
  if (isFinished(maintenance)) return afterEnd(facts);
  const deleting = metadata.deletionTimestamp !== undefined;
  if (!deleting && metadata.finalizers?.includes(MAINTENANCE_FINALIZER) !== true) {
    return { actions: [{ kind: 'AddFinalizer' }], status, events: [], again: true };
  }
  const nodes = nextNodeStates(facts);
  const ending = findEnding(facts, nodes);
  if (ending !== undefined) return endWith(facts, nodes, ending);
  if (status.plan === undefined) {
    return {
      actions: [],
      status,
      events: [],
      plan: { cameTo: [], everyMs: LOOK_AGAIN_MS },
      lookAgainAt: facts.now + LOOK_AGAIN_MS,
    };
  }
  return carryOn(facts, nodes);
}

/** What a pass comes to. */
interface Course {
  readonly phase: Draft['phase'];
  readonly actions?: readonly MaintenanceAction[];
  readonly step?: MaintenanceStep | undefined;
  readonly waits?: Draft['waits'];
  readonly blockers?: readonly NewBlocker[];
  readonly plan?: PlanWish | undefined;
  readonly lookAgainAt?: number | undefined;
  readonly again?: boolean;
}

function carryOn(facts: MaintenanceFacts, nodes: readonly MaintenanceNodeStatus[]): Decision {
  const { maintenance, now } = facts;
  const { spec, status = {} } = maintenance;
  const progress = readProgress(facts, nodes);
  const counted = countBegun(facts, progress);
  const course =
    yieldCourse(facts, nodes) ??
    (progress !== undefined ? courseOfStep(facts, nodes, progress) : courseBetween(facts, nodes));
  const lasting = lastingBlockers(facts);
  const blockers = sinceBefore([...(course.blockers ?? []), ...lasting], status.blockers, now);
  const claimed = nodes.some(({ state }) => state !== 'Waiting');
  const startedAt = status.startedAt ?? (claimed ? formatTime(now) : undefined);
  const waits = course.phase === 'WaitingForWindow';
  const told = conditionActions(facts, nodes, { ending: false, waits });
  const draft: Draft = {
    phase: course.phase,
    nodes,
    plan: counted.plan,
    step: course.step,
    groups: counted.groups,
    blockers,
    startedAt,
    waits: course.waits,
  };
  const givenUp = releasedClaims(facts);
  return {
    // What is told of nodes comes first: it follows from what is so, not from what is done about it.
    actions: [...told.actions, ...givenUp, ...(course.actions ?? [])],
    status: writeStatus(facts, draft),
    events: [...told.events, ...nodeEvents(facts, nodes)],
    plan: spec?.paused === true ? undefined : course.plan,
    again: course.again,
    lookAgainAt: earliest(course.lookAgainAt, told.lookAgainAt, parseTime(spec?.deadline)),
  };
}

const earliest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** Blockers of the plan and of the request: they stay as they were explained until another plan is made. */
function lastingBlockers({ maintenance: { status } }: MaintenanceFacts): NewBlocker[] {
  const groups = new Set(status?.plan?.blocked?.map(({ group }) => group));
  return (status?.blockers ?? [])
    .filter(({ group, reason }) => reason === 'NodesNotFound' || (group !== undefined && groups.has(group)))
    .map(withoutSince);
}

/** The claims on nodes that somebody took out of it, or that are back, are given up; they stay as they are otherwise. */
function releasedClaims({ maintenance, nodes }: MaintenanceFacts): MaintenanceAction[] {
  return (maintenance.status?.nodes ?? []).flatMap(({ name, state, uid }): MaintenanceAction[] => {
    const node = nodes.get(name);
    if (node === undefined || node.metadata.uid !== uid || readClaim(node).holder !== claimOf(maintenance)) return [];
    return state === 'Released' || state === 'Returned' ? [{ kind: 'LetGo', node: name, uncordon: false }] : [];
  });
}

function nodeEvents({ maintenance }: MaintenanceFacts, nodes: readonly MaintenanceNodeStatus[]): MaintenanceEvent[] {
  const before = new Map(maintenance.status?.nodes?.map(({ name, state }) => [name, state]));
  return nodes
    .filter(({ name, state }) => state === 'Released' && before.get(name) !== 'Released')
    .map(({ name }) => ({
      type: 'Warning',
      reason: 'NodeReleased',
      message: `node ${name} was uncordoned before it was drained: it is left alone, its pods stay`,
    }));
}

/** It stepped back for others: it lets go of what is not drained yet and waits until they are done, or its time is over. */
function yieldCourse(facts: MaintenanceFacts, nodes: readonly MaintenanceNodeStatus[]): Course | undefined {
  const { isUnfinished, maintenance, now } = facts;
  const { spec, status = {} } = maintenance;
  if (spec?.paused === true || !isYielding(maintenance, now, isUnfinished)) return undefined;
  const { to = [], until } = status.yielded ?? {};
  const { activity: _, ...step } = status.step ?? { number: 0, of: 0 };
  const actions = nodes
    .filter(({ name, state }) => state !== 'Drained' && holds(facts, name))
    .map(({ name }): MaintenanceAction => ({ kind: 'LetGo', node: name, uncordon: true }));
  const message = `lets ${to.join(', ')} go first, at the latest until ${until ?? ''}`;
  return {
    phase: 'Paused',
    step,
    actions: [...withdrawals(facts), ...actions],
    waits: { reason: 'Yielded', message },
    lookAgainAt: Math.min(parseTime(until) ?? now, now + CLAIM_AGAIN_MS),
  };
}

/** A step is under way. */
function courseOfStep(
  facts: MaintenanceFacts,
  nodes: readonly MaintenanceNodeStatus[],
  progress: StepProgress,
): Course {
  const { maintenance, now } = facts;
  const { spec, status = {} } = maintenance;
  const step = status.step ?? { number: 0, of: 0 };
  const running = spec?.paused === true ? 'Paused' : 'Running';
  const doing = (activity: StepActivity): MaintenanceStep => ({ ...step, activity });
  if (progress.toAsk.length > 0) return askCourse(facts, nodes, progress);
  if (progress.going > 0) return { phase: running, step: doing('Evicting') };
  if (progress.down === undefined) return { phase: running, step: doing('Recovering'), lookAgainAt: now + 1000 };
  if (progress.down.length > 0) {
    const slow: NewBlocker[] = progress.overdue
      ? progress.down.map((group) => ({
          kind: 'Pod',
          name: group,
          group,
          reason: 'RecoverySlow',
          message: `has not come back within ${spec?.recoveryTimeout ?? '30m'}`,
          remedies: [`kubectl describe the pods of ${group}: what keeps them from being Ready`],
        }))
      : [];
    const phase = slow.length > 0 && running === 'Running' ? 'Blocked' : running;
    return { phase, step: doing('Recovering'), blockers: slow, lookAgainAt: now + 1000 };
  }
  if (progress.away.length > 0) {
    const actions = spec?.uncordon === 'WhenDrained' ? bringBack(facts, progress.away) : [];
    return { phase: running, step: doing('Returning'), actions };
  }
  const done: MaintenanceStep = { number: step.number, of: step.of, begunAt: step.begunAt, doneAt: formatTime(now) };
  return { phase: running, step: done, again: true };
}

/** Drained nodes that are to be uncordoned as soon as they are. */
function bringBack({ maintenance, nodes }: MaintenanceFacts, away: readonly string[]): MaintenanceAction[] {
  return (maintenance.status?.nodes ?? []).flatMap(({ name, state }): MaintenanceAction[] => {
    const node = nodes.get(name);
    if (state !== 'Drained' || !away.includes(name) || node === undefined) return [];
    return readClaim(node).holder === claimOf(maintenance) ? [{ kind: 'LetGo', node: name, uncordon: true }] : [];
  });
}

/** Pods of the step under way that nobody has told to go yet. */
function askCourse(facts: MaintenanceFacts, nodes: readonly MaintenanceNodeStatus[], progress: StepProgress): Course {
  const { askAgainAt, maintenance, now, refusals } = facts;
  const { spec, status = {} } = maintenance;
  const isTold = (facts.notices ?? []).length > 0;
  const activity = isTold && progress.going === 0 ? 'Noticing' : 'Evicting';
  const step: MaintenanceStep = { ...(status.step ?? { number: 0, of: 0 }), activity };
  if (spec?.paused === true) return { phase: 'Paused', step, actions: withdrawals(facts) };
  const claims = claimCourse(facts, nodes, progress.step);
  if (claims !== undefined) return { ...claims, step: { ...step, activity: 'Cordoning' } };
  const plan = status.plan?.number ?? 0;
  const due = progress.toAsk.filter(({ eviction }) => (askAgainAt.get(eviction.group) ?? now) <= now);
  const actions = due.map(
    ({ eviction: { group, whole }, pods }): MaintenanceAction => ({
      kind: 'Evict',
      group,
      pods,
      whole: whole === true,
      plan,
      step: step.number,
    }),
  );
  // What was said of a group that this process has not asked about yet was said to the one before it.
  const blockers = progress.toAsk.flatMap(({ eviction: { group } }): readonly NewBlocker[] => {
    const before = (status.blockers ?? []).filter((one) => one.group === group).map(withoutSince);
    return refusals.get(group) ?? before;
  });
  const since = sinceBefore(blockers, status.blockers, now).map((one) => parseTime(one.since) ?? now);
  const refusedMs = since.length === 0 ? 0 : now - Math.min(...since);
  const begun = progress.step.evictions.some((one) => one.begun === true) || progress.going > 0;
  const next = Math.min(...progress.toAsk.map(({ eviction }) => askAgainAt.get(eviction.group) ?? now + 1000));
  return {
    phase: refusedMs >= BLOCKED_MS && progress.going === 0 ? 'Blocked' : 'Running',
    step,
    actions,
    blockers,
    lookAgainAt: Math.max(next, now + 1),
    ...(!begun && refusedMs >= REPLAN_MS && { plan: { cameTo: [], everyMs: REPLAN_MS } }),
  };
}

/** No step is under way. */
function courseBetween(facts: MaintenanceFacts, nodes: readonly MaintenanceNodeStatus[]): Course {
  const { maintenance, now } = facts;
  const { spec, status = {} } = maintenance;
  const { next, steps } = stepsToCome(status);
  const of = (status.plan?.stepsBefore ?? 0) + (status.plan?.steps.length ?? 0);
  const { activity: _, ...stands } = status.step ?? { number: 0, of };
  const step: MaintenanceStep = { ...stands, of };
  if (spec?.paused === true) return { phase: 'Paused', step };
  const early = tooEarly(facts, steps[0]);
  if (early !== undefined) return { phase: 'WaitingForWindow', step, ...early };
  const claims = claimCourse(facts, nodes, spec?.cordon === 'ByStep' ? steps[0] : undefined);
  // What another one is at work on changes: it is planned anew when that one has let go.
  if (claims?.phase === 'Blocked') return { ...claims, step };
  const { blockers, cameTo, stale } = findStaleness(facts, nodes);
  if (stale) {
    const plan = { cameTo, everyMs: SETTLE_MS };
    return { phase: standing(status), step, plan, blockers, lookAgainAt: now + SETTLE_MS };
  }
  if (claims !== undefined) return { ...claims, step: { ...step, activity: 'Cordoning' } };
  if (steps.length === 0)
    return withoutSteps(facts, step, [...blockers, ...claimBlockers(claimedByOthers(facts, nodes))]);
  const pause = parseDurationMs(spec?.pace?.pauseBetweenSteps ?? '0s') ?? 0;
  const until = (parseTime(step.doneAt) ?? now - pause) + pause;
  if (until > now) return { phase: 'Running', step: { ...step, activity: 'Pausing' }, lookAgainAt: until, blockers };
  const begun: MaintenanceStep = { number: next, of, begunAt: formatTime(now), activity: 'Evicting' };
  return { phase: 'Running', step: begun, again: true, blockers };
}

const standing = ({ phase }: MaintenanceStatus): Draft['phase'] => (phase === 'Blocked' ? 'Blocked' : 'Running');

/** Nothing more is planned: pods go that were told to, or something cannot go and is looked at again. */
function withoutSteps(facts: MaintenanceFacts, step: MaintenanceStep, blockers: readonly NewBlocker[]): Course {
  const { maintenance, now, pods } = facts;
  const blocked = maintenance.status?.plan?.blocked ?? [];
  const stays = pods.some(({ going }) => !going);
  if (!stays || (blocked.length === 0 && blockers.length === 0))
    return { phase: 'Running', step, lookAgainAt: now + 1000 };
  const plan = { cameTo: [], everyMs: LOOK_AGAIN_MS };
  return { phase: 'Blocked', step, blockers, plan, lookAgainAt: now + LOOK_AGAIN_MS };
}

/** It is not time yet; what has to be told first is told only where the window is still open when it may go. */
function tooEarly(
  { maintenance: { spec }, noticeMs = new Map<string, number>(), now }: MaintenanceFacts,
  next: PlannedStep | undefined,
): Pick<Course, 'waits' | 'lookAgainAt'> | undefined {
  const notBefore = parseTime(spec?.notBefore);
  if (notBefore !== undefined && notBefore > now) {
    return { waits: { reason: 'NotBefore', message: `begins at ${spec?.notBefore ?? ''}` }, lookAgainAt: notBefore };
  }
  const windows = new OpenTimes(spec?.windows ?? []);
  const told = longestNotice(next, noticeMs);
  const at = windows.fits(now, told?.ms ?? 0);
  if (at === now) return undefined;
  const window = windows.at(now);
  const opensAt = at ?? (window.open ? undefined : window.opensAt);
  const opens = opensAt === undefined ? 'no window ever opens' : `the next window opens at ${formatTime(opensAt)}`;
  if (told === undefined) return { waits: { reason: 'OutsideWindow', message: opens }, lookAgainAt: opensAt };
  const takes = `${told.group} is told ${formatAge(told.ms)} before it goes`;
  const message =
    at === undefined ? `${takes}, and no window is that long` : `${takes}, which fits at ${formatTime(at)}`;
  return {
    waits: { reason: 'OutsideWindow', message },
    lookAgainAt: Math.min(at ?? now + NOTICE_AGAIN_MS, now + NOTICE_AGAIN_MS),
  };
}

/**
 * Claims what is not claimed yet, in the order of names: of a step, or all. Where another Maintenance holds one,
 * AllOrNothing lets go of what it took, as long as nothing has begun, so that two never wait in a ring; BestEffort goes on
 * with the others. Undefined when there is nothing to claim.
 */
function claimCourse(
  facts: MaintenanceFacts,
  nodes: readonly MaintenanceNodeStatus[],
  step: PlannedStep | undefined,
): Course | undefined {
  const { maintenance, now } = facts;
  const { plan } = maintenance.status ?? {};
  const ofStep = step && [
    ...(step.completes ?? []),
    ...step.evictions.flatMap(({ pods }) => pods.map(({ node }) => node)),
  ];
  const wanted = nodes.filter(
    (node) => !isLeft(node) && node.name !== plan?.leftForLast && (ofStep === undefined || ofStep.includes(node.name)),
  );
  const others = claimedByOthers(facts, wanted);
  const blockers = claimBlockers(others);
  const bestEffort = maintenance.spec?.mode === 'BestEffort';
  if (others.size > 0 && !bestEffort) {
    const mine = hasBegun(maintenance) ? [] : nodes.filter(({ name }) => holds(facts, name));
    const actions = mine.map(({ name }): MaintenanceAction => ({ kind: 'LetGo', node: name, uncordon: true }));
    return { phase: 'Blocked', actions, blockers, lookAgainAt: now + CLAIM_AGAIN_MS };
  }
  const open = wanted.filter(({ name }) => !others.has(name) && !holds(facts, name));
  if (open.length === 0) return undefined;
  const actions = open.map(({ name }): MaintenanceAction => ({ kind: 'Claim', node: name }));
  return { phase: 'Running', actions, blockers, again: true };
}

function claimBlockers(others: ReadonlyMap<string, string>): NewBlocker[] {
  return [...others].map(([node, holder]) => ({
    kind: 'Maintenance',
    name: holder,
    reason: 'NodeClaimed',
    message: `has claimed node ${node}`,
    remedies: [`wait for it, or: quorate maintenance cancel ${holder}`],
  }));
}

function holds({ maintenance, nodes }: MaintenanceFacts, name: string): boolean {
  const node = nodes.get(name);
  return node !== undefined && readClaim(node).holder === claimOf(maintenance);
}
