/** One run: from a plan to what was seen, always the same for the same plan. */
import { createHash } from 'node:crypto';
import { settle } from '../../src/machinery/runtime/index.ts';
import { Actors } from './happen.ts';
import { manifestsOf } from './objects.ts';
import { checkRest } from './oracles/rest.ts';
import { type Plan, TROUBLE_MS } from './plan.ts';
import type { Planted } from './planted.ts';
import { World } from './world.ts';

export interface Violation {
  readonly rule: string;
  readonly text: string;
  /** Virtual time. */
  readonly atMs: number;
}

export interface Outcome {
  readonly seed: number;
  readonly violation: Violation | undefined;
  /** Of everything that was committed and everything that went wrong, with the times. */
  readonly trace: string;
  readonly commits: number;
  readonly events: number;
  readonly evictions: number;
  readonly drains: number;
  /** How often which fault really happened. */
  readonly faults: ReadonlyMap<string, number>;
}

/** Until the first pods are there, without trouble. */
const START_MS = 20_000;
const STEP_MS = 5000;
const REST_LIMIT_MS = 45 * 60_000;
/** So long without a change that matters is rest. */
const QUIET_MS = 40_000;

class Broken extends Error {}

export interface SimulateOptions {
  readonly planted?: Planted | undefined;
  /** Called with every line of the trace. */
  readonly tell?: ((line: string) => void) | undefined;
  /** Called when it is over, before everything is stopped. */
  readonly end?: ((world: World) => void) | undefined;
}

export async function simulate(plan: Plan, { end, planted, tell }: SimulateOptions = {}): Promise<Outcome> {
  const hash = createHash('sha256');
  const faults = new Map<string, number>();
  let violation: Violation | undefined;
  let commits = 0;
  let changedMs = 0;
  const note = (line: string): void => {
    const stamped = `${world.clock.elapsed()} ${line}`;
    hash.update(`${stamped}\n`);
    tell?.(stamped);
  };
  const happened = (fault: string): void => {
    faults.set(fault, (faults.get(fault) ?? 0) + 1);
    note(fault);
  };
  const violated = (rule: string, text: string): void => {
    violation ??= { rule, text, atMs: world.clock.elapsed() };
    tell?.(`${world.clock.elapsed()} VIOLATED ${rule}: ${text}`);
  };
  const world: World = new World(plan, { violated, happened, planted });
  world.history.onCommit((commit) => {
    commits += 1;
    for (const { after, key, revision, type } of commit) {
      note(`${revision} ${type} ${key}`);
      hash.update(JSON.stringify(after) ?? '');
      if (!/\/(leases|events|nodes)\//.test(key)) changedMs = world.clock.elapsed();
    }
  });
  const actors = new Actors(world, plan, happened);
  const pass = async (ms: number): Promise<void> => {
    await world.clock.advance(ms);
    world.watches.check();
    if (violation !== undefined) throw new Broken();
  };
  try {
    await world.start();
    for (const what of plan.first ?? []) actors.happen(what);
    for (const { body, path } of manifestsOf(plan)) await world.client.request('POST', path, body);
    await pass(START_MS);
    await play(plan, world, { actors, note, pass });
    world.heal();
    const problems = await settleDown(world, { actors, pass, changedMs: () => changedMs });
    for (const text of problems) violated('rest', text);
    world.watches.checkAtRest();
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
  } finally {
    end?.(world);
    await world.stop();
  }
  const { evictions } = world.budgets;
  const { events } = world.watches;
  const trace = hash.digest('hex');
  return { seed: plan.seed, violation, trace, commits, events, evictions, drains: actors.drained.size, faults };
}

interface Playing {
  readonly actors: Actors;
  readonly note: (line: string) => void;
  readonly pass: (ms: number) => Promise<void>;
}

async function play({ steps }: Plan, world: World, { actors, note, pass }: Playing): Promise<void> {
  const begin = world.clock.elapsed();
  for (const { atMs, what } of steps) {
    await pass(Math.max(0, begin + atMs - world.clock.elapsed()));
    note(JSON.stringify(what));
    actors.happen(what);
    await settle();
  }
  await pass(Math.max(0, begin + TROUBLE_MS - world.clock.elapsed()));
}

/** Waits until nothing changes and everything is as it should be; says what is not. */
async function settleDown(
  world: World,
  { actors, changedMs, pass }: Omit<Playing, 'note'> & { changedMs: () => number },
): Promise<string[]> {
  const begin = world.clock.elapsed();
  for (;;) {
    await pass(STEP_MS);
    const problems: string[] = actors.busy.map((name) => `${name} does not end`);
    checkRest(world.history, (_, text) => problems.push(text));
    const quietMs = world.clock.elapsed() - changedMs();
    if (problems.length === 0 && quietMs >= QUIET_MS) return [];
    if (world.clock.elapsed() - begin < REST_LIMIT_MS) continue;
    return problems.length === 0 ? [`nothing is wrong, and still something changed ${quietMs} ms ago`] : problems;
  }
}
