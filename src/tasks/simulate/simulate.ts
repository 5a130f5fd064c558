import { FED_KINDS } from '../../decisions/disruption/index.ts';
import { UNAVAILABILITY_KINDS } from '../../decisions/unavailability/index.ts';
import { CannotTellError } from '../../cluster-state/cluster-reader.ts';
import type { Snapshot } from '../snapshot/index.ts';
import { act, type Action, checkActions } from './actions.ts';
import type { Ending } from './node-actions.ts';
import { Observer, type SimulatedSample } from './observer.ts';
import { createReloads, type ReloadTimes } from './reload.ts';
import { SecondCount } from './second-count.ts';
import { SimulatedTimeline, type BudgetLine } from './timeline.ts';
import { startWorld, type World } from './world.ts';

export interface SimulationOptions {
  readonly actions: readonly Action[];
  readonly order: 'plan' | 'node-by-node';
  readonly nodeDowntimeMs: number;
  readonly recoverAfterMs?: number | undefined;
  readonly nodeStartMs?: number | undefined;
  readonly reload: ReloadTimes;
  /** Simulated time after which it ends whatever happens. */
  readonly limitMs: number;
  readonly stepMs: number;
  readonly seed: number;
  readonly onProgress?: ((simulatedMs: number) => void) | undefined;
}

export interface SimulationResult {
  readonly actions: readonly (Ending & { readonly action: Action; readonly endSeconds: number })[];
  /** When the last action was over and everything served again, or the limit. */
  readonly seconds: number;
  readonly settled: boolean;
  /** `Stuck`: work is left and nothing more will happen. `TimeLimit`: it was still going on. */
  readonly end: 'Finished' | 'Stuck' | 'TimeLimit';
  readonly budgets: readonly BudgetLine[];
  /** Groups that went down once, and those that did more often. */
  readonly disruptedOnce: readonly string[];
  readonly disruptedAgain: readonly { readonly group: string; readonly times: number }[];
  readonly pods: { readonly before: SimulatedSample['pods']; readonly after: SimulatedSample['pods'] };
  /** Nodes in the snapshot. */
  readonly nodes: number;
  /** Pods that were made, and pods that went. */
  readonly changes: { readonly created: number; readonly deleted: number };
  readonly events: readonly { readonly seconds: number; readonly text: string }[];
  /** What of the snapshot could not be loaded. */
  readonly problems: readonly string[];
  /**
   * Budgets over groups that Kubernetes' own controller counts in pods as well, as on clusters in mode alongside. Both
   * counts are played: such a budget may hold back more than its groups ask for.
   */
  readonly countedTwice: readonly string[];
}

/** Time that pods of the snapshot get to come up, before the story begins. */
const WARM_UP_MS = 10_000;
const NOT_FINISHED = 'NotFinished';
const NODE_START_MS = 90_000;
/** After the last action, this long without any change means that nothing more will happen. */
const CALM_MS = 120_000;
/** Pods stay on a dead node for five minutes after it is found dead, and nothing changes meanwhile. */
const FAILURE_CALM_MS = 420_000;
/** And so does this long while one is still waiting, beyond what it may wait for. */
const STUCK_MS = 600_000;

function longestWait(options: SimulationOptions): number {
  const { actions, nodeDowntimeMs, nodeStartMs = NODE_START_MS, recoverAfterMs = 0, reload } = options;
  const waits = actions.map((one) => (one.kind === 'wait' ? one.ms : one.kind === 'spot' ? one.noticeMs : 0));
  return Math.max(
    nodeDowntimeMs,
    nodeStartMs,
    recoverAfterMs,
    reload.defaultMs,
    ...waits,
    ...reload.byWorkload.values(),
  );
}

/** When the first node was lost. */
function lossSeconds(events: SimulationResult['events']): number | undefined {
  return events.find(({ text }) => / (loses power|is lost)/.test(text))?.seconds;
}

/** Plays actions on a snapshot, with simulated time, and tells what became of groups and budgets. */
export async function simulate(snapshot: Snapshot, options: SimulationOptions): Promise<SimulationResult> {
  assertComplete(snapshot);
  const observer = new Observer();
  const second = new SecondCount(snapshot);
  let begun = false;
  const world = await startWorld(snapshot, {
    seed: options.seed,
    guards: (index) => [second.guard(index)],
    extra: [observer, createReloads(options.reload, () => begun)],
  });
  try {
    await checkActions(world.client, options.actions);
    for (let at = 0; at < WARM_UP_MS; at += 1000) await world.advance(1000);
    begun = true;
    const nodes = snapshot.objects.filter(({ kind }) => kind === 'Node').length;
    const twice = second.budgets(observer.index, world.clock.now());
    return { ...(await play(world, observer, options)), nodes, countedTwice: twice };
  } finally {
    await world.stop();
  }
}

const NEEDED: ReadonlySet<string> = new Set([...FED_KINDS, ...UNAVAILABILITY_KINDS].map(({ kind }) => kind));

/** @throws {CannotTellError} when whoever took the snapshot was not allowed to read what budgets decide on */
function assertComplete({ missing }: Snapshot): void {
  const unread = Object.keys(missing ?? {}).filter((kind) => missing[kind] === 'Forbidden' && NEEDED.has(kind));
  if (unread.length === 0) return;
  throw new CannotTellError(unread, `the snapshot was taken without the right to list ${unread.join(', ')}`);
}

function disruptedBy(hits: ReadonlyMap<string, number>): Pick<SimulationResult, 'disruptedOnce' | 'disruptedAgain'> {
  const all = [...hits];
  return {
    disruptedOnce: all.flatMap(([group, times]) => (times === 1 ? [group] : [])).sort(),
    disruptedAgain: all.flatMap(([group, times]) => (times > 1 ? [{ group, times }] : [])),
  };
}

type Played = Omit<SimulationResult, 'nodes' | 'countedTwice'>;

async function play(world: World, observer: Observer, options: SimulationOptions): Promise<Played> {
  const { client, clock } = world;
  const begin = clock.now();
  const seconds = (): number => Math.round((clock.now() - begin) / 1000);
  const timeline = new SimulatedTimeline();
  observer.takeChanges();
  const before = observer.sample(clock.now());
  timeline.add(0, before);
  const events: { seconds: number; text: string }[] = [];
  const note = (text: string): void => void events.push({ seconds: seconds(), text });
  const { nodeDowntimeMs, nodeStartMs = NODE_START_MS, order, recoverAfterMs } = options;
  const rules = { order, nodeDowntimeMs, nodeStartMs, recoverAfterMs, look: observer.lookAt(clock) };
  const ended: (Ending & { action: Action; endSeconds: number })[] = [];
  const changes = { created: 0, deleted: 0 };
  let running = options.actions.length;
  let failure: unknown;
  for (const action of options.actions) {
    void act({ client, clock }, action, { ...rules, note })
      .then((ending) => ended.push({ action, ...ending, endSeconds: seconds() }))
      .catch((error: unknown) => (failure = error))
      .finally(() => (running -= 1));
  }
  const fails = options.actions.some(({ kind }) => kind === 'fail' || kind === 'spot');
  let stuck = false;
  let last = before;
  let changedAt = begin;
  let settled = false;
  while (clock.now() - begin < options.limitMs && !settled) {
    await world.advance(options.stepMs);
    if (failure !== undefined) throw failure;
    for (const { pod, what } of observer.takeChanges()) {
      note(`pod ${pod} ${what}`);
      changes[what === 'is made' ? 'created' : 'deleted'] += 1;
    }
    const sample = observer.sample(clock.now());
    if (sample !== last) {
      timeline.add(seconds(), sample);
      if (JSON.stringify([sample.budgets, sample.pods]) !== JSON.stringify([last.budgets, last.pods]))
        changedAt = clock.now();
      last = sample;
    }
    options.onProgress?.(clock.now() - begin);
    const calm = clock.now() - changedAt;
    const whole = last.pods.ready === last.pods.total;
    // Whatever a drain still waits for will not happen any more.
    stuck = calm > STUCK_MS + longestWait(options);
    if (stuck) break;
    settled = running === 0 && (calm >= (fails ? FAILURE_CALM_MS : CALM_MS) || (whole && !fails && calm >= 5_000));
  }
  for (const action of options.actions) {
    if (ended.some((one) => one.action === action)) continue;
    const waiting = events.findLast(({ text }) => text.startsWith('waiting for '))?.text;
    ended.push({
      action,
      finished: false,
      outcome: waiting === undefined ? NOT_FINISHED : `${NOT_FINISHED}, ${waiting}`,
      endSeconds: seconds(),
    });
  }
  return {
    actions: ended,
    seconds: settled
      ? Math.max(0, Math.round((changedAt - begin) / 1000), ...ended.map(({ endSeconds }) => endSeconds))
      : seconds(),
    settled,
    end: settled && ended.every((one) => one.finished) ? 'Finished' : settled || stuck ? 'Stuck' : 'TimeLimit',
    budgets: timeline.budgets(fails ? lossSeconds(events) : undefined),
    ...disruptedBy(timeline.hits()),
    pods: { before: before.pods, after: last.pods },
    changes,
    events,
    problems: world.problems,
  };
}
