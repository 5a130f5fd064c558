/**
 * Is a history linearizable? In the way of Wing and Gong, told from the front as Lowe does: the possible worlds are kept,
 * each a state and the operations under way that have taken effect in it. An answer leaves the worlds that explain it.
 * An operation without an answer is under way for ever: it may have taken effect at any time, or never.
 */

/** What one object may do, one operation after another. */
export interface Model<State, Operation> {
  readonly initial: State;
  /** Undefined where the operation cannot have had its answer in this state. */
  step(state: State, operation: Operation): State | undefined;
  /** The same text for the same state. */
  textOf(state: State): string;
}

/** Moments of one clock that only tells before from after. */
export interface Timed {
  readonly called: number;
  /** Undefined where no answer came. */
  readonly answered: number | undefined;
}

export type Linearization<Operation> =
  | { readonly is: 'linearizable' }
  /** `at` is the first answer that nothing explains; `worlds` are the states that were possible before it. */
  | { readonly is: 'broken'; readonly at: Operation; readonly worlds: readonly string[] }
  | { readonly is: 'too large'; readonly at: Operation };

interface World<State> {
  readonly state: State;
  /** Of the operations under way, those that have taken effect. */
  readonly done: ReadonlySet<number>;
}

const MOST_WORLDS = 100_000;
const SHOWN_WORLDS = 8;

export function linearize<State, Operation extends Timed>(
  model: Model<State, Operation>,
  operations: readonly Operation[],
): Linearization<Operation> {
  const underWay = new Map<number, Operation>();
  let worlds: World<State>[] = [{ state: model.initial, done: new Set() }];
  for (const { at, isAnswer } of moments(operations)) {
    const operation = operations[at] as Operation;
    if (!isAnswer) {
      underWay.set(at, operation);
      continue;
    }
    const next = explain({ model, underWay, worlds }, at);
    if (next === undefined) return { is: 'too large', at: operation };
    if (next.length === 0) {
      const texts = worlds.slice(0, SHOWN_WORLDS).map(({ state }) => model.textOf(state));
      return { is: 'broken', at: operation, worlds: texts };
    }
    underWay.delete(at);
    worlds = next;
  }
  return { is: 'linearizable' };
}

interface Search<State, Operation> {
  readonly model: Model<State, Operation>;
  readonly underWay: ReadonlyMap<number, Operation>;
  readonly worlds: readonly World<State>[];
}

/** The worlds in which operation `answered` has taken effect, which is forgotten then; undefined where they are too many. */
function explain<State, Operation>(
  { model, underWay, worlds }: Search<State, Operation>,
  answered: number,
): World<State>[] | undefined {
  const explained = new Map<string, World<State>>();
  const seen = new Set<string>();
  const open = [...worlds];
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    const text = textOf(model, world);
    if (seen.has(text)) continue;
    seen.add(text);
    if (seen.size > MOST_WORLDS) return undefined;
    if (world.done.has(answered)) {
      const done = new Set(world.done);
      done.delete(answered);
      const rest = { state: world.state, done };
      explained.set(textOf(model, rest), rest);
      continue;
    }
    for (const [at, operation] of underWay) {
      if (world.done.has(at)) continue;
      const state = model.step(world.state, operation);
      if (state !== undefined) open.push({ state, done: new Set([...world.done, at]) });
    }
  }
  return [...explained.values()];
}

function textOf<State, Operation>(model: Model<State, Operation>, { done, state }: World<State>): string {
  return `${[...done].sort((a, b) => a - b).join()}|${model.textOf(state)}`;
}

interface Moment {
  readonly at: number;
  readonly isAnswer: boolean;
  readonly moment: number;
}

function moments(operations: readonly Timed[]): Moment[] {
  const all: Moment[] = [];
  for (const [at, { answered, called }] of operations.entries()) {
    all.push({ at, isAnswer: false, moment: called });
    if (answered !== undefined) all.push({ at, isAnswer: true, moment: answered });
  }
  return all.sort((a, b) => a.moment - b.moment);
}
