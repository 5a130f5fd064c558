import { Account, goesDown } from './account.ts';
import type { PlanBudget, PlanPod, PlanQuestion } from './model.ts';
import type { Move } from './moves.ts';
import type { Parcel } from './packing.ts';

/** Part of one unit, going at once. */
export interface SerialMove {
  readonly move: Move;
  readonly pods: readonly PlanPod[];
}

/** What goes in one step. */
export interface BatchStep {
  readonly parts: readonly SerialMove[];
  readonly completes: readonly string[];
}

interface Batching {
  readonly budgets: ReadonlyMap<string, PlanBudget>;
  readonly fits: (parcels: readonly Parcel[]) => boolean;
}

/**
 * Puts moves that were found one after the other into as few steps as their order allows: a move joins the step before
 * it where budgets and room do. Pods of a step find only the nodes open that were so before it. Undefined when they cannot
 * go in this order at all.
 */
export function batch(question: PlanQuestion, serial: readonly SerialMove[], how: Batching): BatchStep[] | undefined {
  return stepsOf(question, serial, how, true) ?? stepsOf(question, serial, how, false);
}

/** Undefined when joining has left no room for something later. */
function stepsOf(
  question: PlanQuestion,
  serial: readonly SerialMove[],
  { budgets, fits }: Batching,
  join: boolean,
): BatchStep[] | undefined {
  const tracker = new NodeTracker(question);
  const steps: BatchStep[] = [];
  const early = tracker.settle([]);
  if (early.length > 0) steps.push({ parts: [], completes: early });
  let parcels: Parcel[] = [];
  for (let at = 0; at < serial.length; ) {
    const account = new Account(budgets);
    const taken = new Map<Move, PlanPod[]>();
    const open = tracker.open;
    const from = at;
    for (let next = serial[at]; next !== undefined; next = serial[at]) {
      const already = taken.get(next.move)?.length ?? 0;
      // Joined, what goes in parts for nothing must not become a loss.
      const costs = goesDown(next.move.unit, already + next.pods.length) && !goesDown(next.move.unit, next.pods.length);
      const { move } = next;
      const turn = at;
      const with_ = [...parcels, ...next.pods.map((pod) => ({ pod, open, move, turn }))];
      if (at > from && (!join || costs || !fits(with_))) break;
      if (!account.take(next.move.unit, next.pods)) break;
      if (at === from && !fits(with_)) return undefined;
      parcels = with_;
      taken.set(next.move, [...(taken.get(next.move) ?? []), ...next.pods]);
      at += 1;
    }
    if (at === from) return undefined;
    const parts = [...taken].map(([move, pods]) => ({ move, pods }));
    steps.push({ parts, completes: tracker.settle([...taken.values()].flat()) });
  }
  return steps;
}

/** Which nodes are empty, and which take pods. */
class NodeTracker {
  readonly #question: PlanQuestion;
  readonly #waiting: Map<string, Set<string>>;

  constructor(question: PlanQuestion) {
    this.#question = question;
    this.#waiting = new Map(question.nodes.filter(({ drain }) => drain).map(({ name }) => [name, new Set<string>()]));
    for (const { id, node } of question.pods) this.#waiting.get(node)?.add(id);
  }

  /** A bit for each node that takes pods. */
  get open(): number {
    const { nodes, nodesReturn } = this.#question;
    return nodes.reduce(
      (mask, { drain, name }, index) =>
        !drain || (nodesReturn && !this.#waiting.has(name)) ? mask | (1 << index) : mask,
      0,
    );
  }

  /** Marks pods as gone; answers the nodes that are empty now. */
  settle(pods: readonly PlanPod[]): string[] {
    for (const { id, node } of pods) this.#waiting.get(node)?.delete(id);
    const empty = [...this.#waiting].filter(([, left]) => left.size === 0).map(([name]) => name);
    for (const name of empty) this.#waiting.delete(name);
    return empty.sort();
  }
}
