import { tellAnswer } from '../placement/index.ts';
import { searchPlan } from './exact.ts';
import { planFrugally } from './frugal.ts';
import { type GreedyPlan, type LeftBehind, planGreedily } from './greedy.ts';
import type { BlockedUnit, DrainPlan, PlanBudget, PlanQuestion, PlanStep } from './model.ts';
import { withNeeds } from './needs.ts';
import { compareText } from './room.ts';
import { timeOf } from './time.ts';
import { countUnavoidable, findBudgetBlock, gatherMoves, mayGoEitherWay, type Move } from './moves.ts';

/**
 * Plans a drain in steps. Within a step everything is evicted at once; a step begins when what the last one took down
 * serves again, so each step has the whole allowance of every budget.
 *
 * What is best, in this order: the fewest pods left behind, the fewest disruptions. A unit that would go down is moved
 * whole or left alone. A greedy plan is taken where it is known to be best; small fleets are searched for a better
 * one otherwise.
 */
export function planDrain(question: PlanQuestion): DrainPlan {
  const budgets = new Map(question.budgets.map((budget) => [budget.id, budget]));
  const blocked: BlockedUnit[] = [];
  const open: Move[] = [];
  for (const move of gatherMoves(question)) {
    const block = findBudgetBlock(move, budgets);
    if (block === undefined) open.push(move);
    else blocked.push(block);
  }
  const { plan, proved } = chooseWhole(question, open, (moves) => planMoves(question, moves, budgets));
  const { left, steps } = plan;
  const leftIds = new Set(left.map(({ unit }) => unit.id));
  const lowerBound = proved
    ? countDisruptions(steps)
    : boundOf(
        open.filter(({ unit }) => !leftIds.has(unit.id)),
        budgets,
      );
  return summarize(steps, { question, lowerBound, blocked: [...blocked, ...left.map(withoutRoom)] });
}

/** A plan, and whether it is known that there is none with fewer disruptions. */
interface MadePlan {
  readonly plan: GreedyPlan;
  readonly proved: boolean;
}

function planMoves(question: PlanQuestion, moves: readonly Move[], budgets: ReadonlyMap<string, PlanBudget>): MadePlan {
  const made = planInTurn(question, moves, budgets);
  const { left } = made.plan;
  if (left.length === 0 || (question.allowExchange !== true && question.reserve !== true)) return made;
  // Either what stays behind goes at the end, or it goes first, before others have moved for good.
  const wanted = new Set(left.map(({ unit }) => unit.id));
  let best = made.plan;
  for (const after of [made.plan.steps, []]) {
    const other = planGreedily(question, moves, budgets, { piecemeal: true, exchange: { after, wanted } });
    if (comparePlans(standingOf(other, question), standingOf(best, question)) < 0) best = other;
  }
  return best === made.plan ? made : { plan: best, proved: false };
}

/** Without a step in which units go into each other's room. */
function planInTurn(
  question: PlanQuestion,
  moves: readonly Move[],
  budgets: ReadonlyMap<string, PlanBudget>,
): MadePlan {
  const greedy = chooseGreedy(question, moves, budgets);
  if (greedy.left.length === 0 && countDisruptions(greedy.steps) === boundOf(moves, budgets)) {
    return { plan: greedy, proved: true };
  }
  // A search that came to its end has proved that there is nothing better.
  const found = searchPlan(question, moves, budgets);
  return {
    plan: found === undefined || isAsGood(greedy, found, question) ? greedy : found,
    proved: found !== undefined,
  };
}

/** With this many units that may go either way, each way is looked at for each of them. */
const MAX_EITHER_WAY = 3;

/**
 * The best plan where units that could give their members one by one may as well go whole, and so go down: members that
 * have to share a label cannot leave its value one by one.
 */
function chooseWhole(
  question: PlanQuestion,
  moves: readonly Move[],
  planOf: (moves: readonly Move[]) => MadePlan,
): MadePlan {
  const first = planOf(moves);
  const either = moves.filter((move) => mayGoEitherWay(move, question));
  if (either.length === 0 || (first.proved && isFree(first.plan))) return first;
  const leftIds = new Set(first.plan.left.map(({ unit }) => unit.id));
  const whole = (chosen: readonly Move[]): MadePlan =>
    planOf(moves.map((move) => (chosen.includes(move) ? { ...move, spare: 0 } : move)));
  let best = first;
  const keep = (other: MadePlan): void => {
    if (comparePlans(standingOf(other.plan, question), standingOf(best.plan, question)) < 0) best = other;
  };
  if (!first.proved || either.length > MAX_EITHER_WAY) {
    // Of a large fleet, those that found no other way.
    const chosen = either.filter(({ unit }) => leftIds.has(unit.id));
    if (chosen.length > 0) keep(whole(chosen));
    return { ...best, proved: false };
  }
  let proved = true;
  for (let ways = 1; ways < 1 << either.length; ways += 1) {
    const other = whole(either.filter((_, at) => ways & (1 << at)));
    keep(other);
    proved &&= other.proved;
  }
  return { ...best, proved };
}

/** Nothing stays, and nothing goes down. */
const isFree = ({ left, steps }: GreedyPlan): boolean => left.length === 0 && countDisruptions(steps) === 0;

/**
 * Whether the first takes as few units down and leaves as few pods behind as the one that a search proved best, is better
 * in what counts after that, and leaves no unit half moved.
 */
function isAsGood(greedy: GreedyPlan, found: GreedyPlan, question: PlanQuestion): boolean {
  const [one, other] = [standingOf(greedy, question), standingOf(found, question)];
  if (one.podsLeft !== other.podsLeft || one.disruptions !== other.disruptions) return false;
  const moved = new Set(greedy.steps.flatMap(({ evictions }) => evictions.map(({ unit }) => unit)));
  return comparePlans(one, other) < 0 && greedy.left.every(({ unit }) => !moved.has(unit.id));
}

/** What plans are told apart by. */
export interface PlanStanding {
  readonly podsLeft: number;
  readonly disruptions: number;
  readonly seconds: number;
  /** Units whose start-up time is not known. */
  readonly unknown: number;
  readonly steps: number;
  readonly text: string;
}

/**
 * The better plan first: fewest pods left behind, fewest units down, then the shortest time, where a time that is known
 * comes before one that may be longer, then fewest steps.
 */
export function comparePlans(a: PlanStanding, b: PlanStanding): number {
  return (
    a.podsLeft - b.podsLeft ||
    a.disruptions - b.disruptions ||
    a.unknown - b.unknown ||
    a.seconds - b.seconds ||
    a.steps - b.steps ||
    compareText(a.text, b.text)
  );
}

function standingOf({ left, steps }: GreedyPlan, question: PlanQuestion): PlanStanding {
  const { seconds, unknown } = timeOf(steps, question);
  return {
    podsLeft: countPods(left),
    disruptions: countDisruptions(steps),
    seconds,
    unknown: unknown.length,
    steps: steps.length,
    text: JSON.stringify(steps.map(({ evictions }) => evictions.map(({ pods }) => pods))),
  };
}

/**
 * Where the usual greedy plan runs out of room, one that takes care of it comes further. Where even that leaves something
 * behind, units may as well be taken apart.
 */
function chooseGreedy(
  question: PlanQuestion,
  moves: readonly Move[],
  budgets: ReadonlyMap<string, PlanBudget>,
): GreedyPlan {
  const usual = planGreedily(question, moves, budgets, { piecemeal: false });
  if (!question.nodesReturn || usual.left.length === 0) return usual;
  const frugal = planFrugally(question, moves, budgets);
  if (frugal.left.length === 0) return frugal;
  const piecemeal = planGreedily(question, moves, budgets, { piecemeal: true });
  return countPods(frugal.left) < countPods(piecemeal.left) ? frugal : piecemeal;
}

const countPods = (moves: readonly Move[]): number => moves.reduce((sum, { pods }) => sum + pods.length, 0);

function boundOf(moves: readonly Move[], budgets: ReadonlyMap<string, PlanBudget>): number {
  return moves.reduce((sum, move) => sum + countUnavoidable(move, budgets), 0);
}

function withoutRoom({ answer, unit, pods }: LeftBehind): BlockedUnit {
  const nodes = [...new Set(pods.map(({ node }) => node))].sort();
  const blocked = { unit: unit.id, budgets: [], nodes };
  if (answer === undefined)
    return { ...blocked, reason: 'NoRoom', text: 'NoRoom: not while all the others move as well' };
  const text = tellAnswer(answer);
  if (answer.fits !== 'No') return { ...blocked, reason: 'CannotTell', text };
  const { binding, nearMiss } = answer;
  return { ...blocked, reason: 'NoRoom', text, binding, nearMiss };
}

function countDisruptions(steps: readonly PlanStep[]): number {
  return steps.reduce((sum, { evictions }) => sum + evictions.filter(({ disrupts }) => disrupts).length, 0);
}

function summarize(
  steps: readonly PlanStep[],
  { blocked, lowerBound, question }: { question: PlanQuestion; lowerBound: number; blocked: readonly BlockedUnit[] },
): DrainPlan {
  const hits = new Map<string, number>();
  for (const { evictions } of steps) {
    for (const { unit, disrupts } of evictions) if (disrupts) hits.set(unit, (hits.get(unit) ?? 0) + 1);
  }
  return {
    steps: withNeeds(steps, question),
    disruptions: [...hits.values()].reduce((sum, count) => sum + count, 0),
    lowerBound,
    hitAgain: [...hits.values()].filter((count) => count > 1).length,
    blocked,
    time: timeOf(steps, question),
  };
}
