/**
 * Counts what the evaluation of an expression costs, and ends it when it is too much. The library has no such bound, but
 * evaluates each node of the tree through a function that the node holds: here each gets one that counts.
 *
 * Units are those of the real server, roughly: one for a node, and a tenth of the sizes of what a call or comparison
 * looks at.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { LIMITS } from '../exchange/limits.ts';

export class CostExceeded extends Error {
  override name = 'CostExceeded';
  /** What it was too much for: one evaluation, or what evaluations before had left. */
  readonly of: 'call' | 'budget';

  constructor(of: 'call' | 'budget') {
    super(of === 'call' ? 'operation cancelled: actual cost limit exceeded' : OUT_OF_BUDGET);
    this.of = of;
  }
}

export const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** What the expressions of one object or one policy may cost together. */
export class CelBudget {
  left: number = LIMITS.celBudget;
}

const budgets = new WeakMap<object, CelBudget>();

/** Expressions over the same variables share a budget. */
export function budgetOf(variables: object): CelBudget {
  let budget = budgets.get(variables);
  if (budget === undefined) budgets.set(variables, (budget = new CelBudget()));
  return budget;
}

/** One evaluation at a time: they never wait for anything. */
interface Evaluation {
  left: number;
  /** Sizes of what the parts of the node under way have given. */
  sizes: number;
  readonly limit: CostExceeded['of'];
  exceeded: CostExceeded | undefined;
}

/** What others took is so little that this one is too dear by itself: the real server has a larger budget, and says so. */
const NEARLY_ALL = 0.9;

/** What it takes to begin, so that many small evaluations count as well. */
const CALL_UNITS = 5;

let current: Evaluation = { left: 0, sizes: 0, limit: 'call', exceeded: undefined };

/** Runs a metered expression; throws CostExceeded also where the expression itself would pass over an error. */
export function metered<T>(budget: CelBudget, run: () => T): T {
  const outer = current;
  const allowed = Math.min(LIMITS.celCall, budget.left);
  const limit = allowed < LIMITS.celCall * NEARLY_ALL ? 'budget' : 'call';
  const own: Evaluation = { left: allowed, sizes: 0, limit, exceeded: undefined };
  current = own;
  try {
    spend(CALL_UNITS);
    const result = run();
    if (own.exceeded !== undefined) throw own.exceeded;
    return result;
  } catch (error) {
    throw own.exceeded ?? error;
  } finally {
    budget.left -= allowed - own.left;
    current = outer;
  }
}

/** Also for functions whose cost shows neither in what they get nor in what they give. */
export function spend(units: number): void {
  current.left -= units;
  if (current.left >= 0) return;
  // One error for all, as it may be thrown once for every item of a list.
  current.exceeded ??= new CostExceeded(current.limit);
  throw current.exceeded;
}

type Evaluate = (this: ASTNode, evaluator: unknown, node: ASTNode, context: unknown) => unknown;

/** The part of a node that its type does not tell of. */
interface Inside {
  readonly op: string;
  readonly args: unknown;
  readonly meta: { readonly evaluate?: Evaluate; readonly alternate?: unknown; readonly macro?: unknown };
  setMeta(key: 'evaluate', value: Evaluate): void;
}

/** Operations that look at all of what they get. */
const SIZED = new Set(['call', 'rcall', '==', '!=', 'in', '+', '<', '<=', '>', '>=']);

/** Puts a meter into every node of a tree that has been checked and not yet evaluated. */
export function meter(root: ASTNode): void {
  const seen = new Set<unknown>();
  const left: unknown[] = [root];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    if (isNode(value)) {
      left.push(value.args, value.meta.alternate, value.meta.macro);
      if (value.op !== 'value' && value.meta.evaluate !== undefined) meterNode(value, value.meta.evaluate);
    } else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) {
      left.push(...Object.values(value));
    }
  }
}

const isNode = (value: object): value is Inside => 'op' in value && 'meta' in value && 'setMeta' in value;

function meterNode(node: Inside, evaluate: Evaluate): void {
  const isSized = SIZED.has(node.op);
  node.setMeta('evaluate', function (evaluator, ast, context) {
    spend(1);
    const before = current.sizes;
    current.sizes = 0;
    const result = evaluate.call(this, evaluator, ast, context);
    if (isSized && current.sizes > 0) spend(current.sizes / 10);
    current.sizes = before + sizeOf(result);
    return result;
  });
}

const sizes = new WeakMap<object, number>();

/** Characters of texts, and items and members at every depth; looked up once for each list and map. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let size = sizes.get(value);
  if (size === undefined) {
    size = 1;
    if (Array.isArray(value)) for (const item of value) size += 1 + sizeOf(item);
    else for (const key in value) size += 1 + sizeOf((value as Record<string, unknown>)[key]);
    sizes.set(value, size);
  }
  return size;
}
