import type { MaintenanceNodeStatus, MaintenanceStatus, MaintenanceStep } from '../../api/quorate/maintenance.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { sinceBefore } from './blockers.ts';
import type { PlanWish } from './decision.ts';
import { endedUnfound } from './ending.ts';
import type { MaintenanceEvent, MaintenanceFacts, NewBlocker } from './facts.ts';
import type { PlanMade } from './make-plan.ts';
import { currentStep, nextNodeStates } from './node-states.ts';
import { countBegun, readProgress, stepsToCome } from './progress.ts';
import { writeStatus } from './status.ts';

/** What came of making a plan. */
export type PlanOutcome =
  | { readonly kind: 'NodesNotFound'; readonly message: string }
  | { readonly kind: 'CannotTell'; readonly message: string }
  | {
      readonly kind: 'Made';
      readonly made: PlanMade;
      /** Why what the plan leaves cannot go. */
      readonly blockers: readonly NewBlocker[];
      /** The nodes that the request stands for. */
      readonly nodes: readonly { readonly name: string; readonly uid: string }[];
      /** Named, and not there. */
      readonly missing: readonly string[];
    };

export interface Adopted {
  readonly status: MaintenanceStatus;
  readonly events: readonly MaintenanceEvent[];
}

/** The status with a plan, or with why there is none. */
export function adoptPlan(facts: MaintenanceFacts, outcome: PlanOutcome, wish: PlanWish): Adopted {
  const { maintenance } = facts;
  if (outcome.kind === 'NodesNotFound') {
    const events: MaintenanceEvent[] = [{ type: 'Warning', reason: 'Failed', message: outcome.message }];
    return { status: endedUnfound(facts, outcome.message), events };
  }
  if (outcome.kind === 'CannotTell') return cannotTell(facts, outcome.message);
  const first = maintenance.status?.plan === undefined;
  const blockers = [...outcome.blockers, ...unknownNodes(outcome.missing)];
  const stuck = outcome.made.plan.blocked ?? [];
  if (first && maintenance.spec?.mode !== 'BestEffort' && stuck.length > 0) {
    const message = `${stuck.length} groups cannot go; nothing is touched before all can`;
    return unplanned(facts, outcome.nodes, { reason: 'CannotAllGo', message }, blockers);
  }
  return first ? firstPlan(facts, outcome, blockers) : nextPlan(facts, outcome, { wish, blockers });
}

type Made = Extract<PlanOutcome, { kind: 'Made' }>;

const unknownNodes = (missing: readonly string[]): NewBlocker[] =>
  missing.map((name) => ({
    kind: 'Node',
    name,
    reason: 'NodesNotFound',
    message: 'no such node; the others go on without it',
  }));

const waiting = (nodes: Made['nodes'], now: number): MaintenanceNodeStatus[] =>
  nodes.map(({ name, uid }) => ({ name, uid, state: 'Waiting', since: formatTime(now) }));

const NONE = { downNow: 0, downTotal: 0, planned: 0 };

function unplanned(
  facts: MaintenanceFacts,
  nodes: Made['nodes'],
  why: { readonly reason: 'CannotAllGo' | 'CannotTell'; readonly message: string },
  blockers: readonly NewBlocker[],
): Adopted {
  const { maintenance, now } = facts;
  const status = writeStatus(facts, {
    phase: 'Pending',
    nodes: waiting(nodes, now),
    plan: undefined,
    step: undefined,
    groups: NONE,
    blockers: sinceBefore(blockers, maintenance.status?.blockers, now),
    startedAt: undefined,
    unplanned: why,
  });
  return { status, events: [] };
}

function cannotTell(facts: MaintenanceFacts, message: string): Adopted {
  const { maintenance, now } = facts;
  const { status = {} } = maintenance;
  const blocker: NewBlocker = {
    kind: 'Access',
    reason: 'CannotTell',
    message,
    remedies: ['let the operator read it: quorate install prints the roles it needs'],
  };
  if (status.plan === undefined) return unplanned(facts, [], { reason: 'CannotTell', message }, [blocker]);
  const nodes = nextNodeStates(facts);
  const counted = countBegun(facts, readProgress(facts, nodes));
  const next = writeStatus(facts, {
    phase: 'Blocked',
    nodes,
    plan: counted.plan,
    step: status.step,
    groups: counted.groups,
    blockers: sinceBefore([blocker], status.blockers, now),
    startedAt: status.startedAt,
  });
  return { status: next, events: [] };
}

function firstPlan(facts: MaintenanceFacts, { made, nodes }: Made, blockers: readonly NewBlocker[]): Adopted {
  const { maintenance, now } = facts;
  const { plan } = made;
  const step: MaintenanceStep = { number: 0, of: plan.steps.length };
  const status = writeStatus(facts, {
    phase: 'Planned',
    nodes: waiting(nodes, now),
    plan,
    step,
    groups: { ...NONE, planned: plan.disruptions, hit: [...made.hits] },
    blockers: sinceBefore(blockers, maintenance.status?.blockers, now),
    startedAt: undefined,
  });
  const message = `${plan.steps.length} steps, ${plan.disruptions} outages of groups, ${nodes.length} nodes`;
  return { status, events: [{ type: 'Normal', reason: 'Planned', message }] };
}

function nextPlan(
  facts: MaintenanceFacts,
  { made }: Made,
  { blockers, wish }: { wish: PlanWish; blockers: readonly NewBlocker[] },
): Adopted {
  const { maintenance, now } = facts;
  const { status = {} } = maintenance;
  const before = status.plan;
  const number = status.step?.number ?? 0;
  // A step that has begun and from which nothing has gone takes what the new plan begins with.
  const open = currentStep(maintenance) !== undefined;
  const nothing = made.plan.steps.length === 0;
  const same = nothing && !open && stepsToCome(status).steps.length === 0 && wish.cameTo.length === 0;
  const stepsBefore = open && !nothing ? number - 1 : number;
  const plan = same && before !== undefined ? { ...before, blocked: made.plan.blocked } : { ...made.plan, stepsBefore };
  const of = plan.stepsBefore + plan.steps.length;
  const step: MaintenanceStep = {
    ...(status.step ?? { number }),
    of,
    ...(open && nothing && { doneAt: formatTime(now) }),
  };
  const next = { ...status, plan, step, groups: { ...(status.groups ?? NONE), hit: [...made.hits] } };
  const then: MaintenanceFacts = { ...facts, maintenance: { ...maintenance, status: next } };
  const came = new Set(wish.cameTo);
  const nodes = nextNodeStates(then).map((node) =>
    came.has(node.name) ? { ...node, replans: (node.replans ?? 0) + 1 } : node,
  );
  const counted = countBegun(then, readProgress(then, nodes));
  const written = writeStatus(then, {
    phase: status.phase ?? 'Running',
    nodes,
    plan: counted.plan,
    step,
    groups: counted.groups,
    blockers: sinceBefore(blockers, status.blockers, now),
    startedAt: status.startedAt,
  });
  if (same) return { status: written, events: [] };
  const message = `plan ${plan.number} follows plan ${before?.number ?? 0}: outages ${counted.groups.planned} (before ${status.groups?.planned ?? 0}), end ${written.expectedEnd ?? 'not known'} (before ${status.expectedEnd ?? 'not known'})`;
  return { status: written, events: [{ type: 'Normal', reason: 'Replanned', message }] };
}
