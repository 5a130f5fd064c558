import type { DrainPlan, PlanQuestion } from './model.ts';
import { planDrain } from './plan.ts';
import { compareText } from './room.ts';

/** How many nodes are tried; each costs a plan of the whole fleet. */
const TRIED = 3;

export interface KeptPlan {
  readonly question: PlanQuestion;
  readonly plan: DrainPlan;
  /** The node that the others move to; it is drained when they are back. */
  readonly kept?: string | undefined;
}

/**
 * Plans a drain as asked. Where every node is to go and come back, nothing could begin, because there would be no node
 * to move to; one is then left for last, of the emptiest the one that lets most of the rest go.
 */
export function planKeepingOne(question: PlanQuestion): KeptPlan {
  const plan = planDrain(question);
  const stuck = plan.blocked.some(({ reason }) => reason === 'NoRoom');
  if (!stuck || !question.nodesReturn || question.nodes.length < 2 || question.nodes.some(({ drain }) => !drain)) {
    return { question, plan };
  }
  const pods = new Map<string, number>();
  for (const { node } of question.pods) pods.set(node, (pods.get(node) ?? 0) + 1);
  const emptiest = question.nodes
    .map(({ name }) => name)
    .sort((a, b) => (pods.get(a) ?? 0) - (pods.get(b) ?? 0) || compareText(a, b))
    .slice(0, TRIED);
  let best: KeptPlan = { question, plan };
  for (const kept of emptiest) {
    const nodes = question.nodes.map((node) => (node.name === kept ? { ...node, drain: false } : node));
    const others = { ...question, nodes };
    const found = planDrain(others);
    if (found.blocked.length < best.plan.blocked.length) best = { question: others, plan: found, kept };
    if (found.blocked.length === 0) break;
  }
  return best;
}
