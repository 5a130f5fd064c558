import { controllerOf } from '../../api/core/owner.ts';
import { isMirrorPod, isPodActive } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../api/resource-types.ts';
import { decideAllTogether } from '../../decisions/all-budgets/index.ts';
import { findUnfit as findUnfitUnits, type PlanStep } from '../../decisions/drain-plan/index.ts';
import { evictPod, existing, listAll, sleep } from '../../machinery/runtime/index.ts';
import { cordon, type DrainDeps, gatherDaemonSets, POLL_MS, RETRY_MS } from '../drain/drain.ts';
import { evictionBudgets, gatherBudgets } from '../../cluster-state/gather.ts';
import { askCluster } from '../../cluster-state/plan-question.ts';
import type { PlannedDrain } from './plan.ts';
import { type DrainRules, filterPod, idOf } from '../../decisions/drain-question/index.ts';
import { type DrainLook, listingLook } from './look.ts';

export type ExecuteOutcome =
  | 'Done'
  | 'WouldRun'
  | 'Paused'
  | 'TimedOut'
  | 'MovedOn'
  | 'NoRoom'
  | 'NotEvictable'
  | 'Failed';

export interface ExecuteResult {
  readonly outcome: ExecuteOutcome;
  readonly stepsDone: number;
  readonly steps: number;
  /** What stands in the way, one line each. */
  readonly problems: readonly string[];
}

export interface ExecuteOptions {
  readonly rules: DrainRules;
  readonly gracePeriodSeconds?: number | undefined;
  /** 0: wait as long as it takes. */
  readonly timeoutMs: number;
  /** Only look: say what a run would say before it touches anything. */
  readonly dryRun?: boolean | undefined;
  /** Steps that an earlier run has finished. */
  readonly stepsDone: number;
  /** Makes an emptied node take pods again, where the plan counts on that; absent: waits until somebody does. */
  readonly bringBack?: ((node: string) => Promise<void>) | undefined;
  /** Called after each step, before the next begins. */
  readonly save: (stepsDone: number) => void;
  readonly isPaused: () => boolean;
  /** Who has watched all along need not list. */
  readonly look?: DrainLook | undefined;
}

/**
 * Carries out a plan step by step: evicts what the step names, waits until it is gone and what it took down serves
 * again, and goes on. Budgets are asked for every eviction all the same; what they refuse now is asked for again. A pause
 * takes effect between two evictions; what has gone then is seen when the plan is taken up again.
 */
export async function executePlan(
  deps: DrainDeps,
  planned: PlannedDrain,
  options: ExecuteOptions,
): Promise<ExecuteResult> {
  const { client, clock, report } = deps;
  const { steps } = planned.plan;
  const until = options.timeoutMs > 0 ? clock.elapsed() + options.timeoutMs : Number.POSITIVE_INFINITY;
  const run = { deps, planned, options, until, look: options.look ?? listingLook(client, clock) };
  const end = (outcome: ExecuteOutcome, stepsDone: number, problems: readonly string[] = []): ExecuteResult => ({
    outcome,
    stepsDone,
    steps: steps.length,
    problems,
  });
  const pods = await listAll(client, podType, undefined);
  const changes = findChanges(planned, pods, options.stepsDone);
  if (changes.length > 0) return end('MovedOn', options.stepsDone, changes);
  const refused = await findRefused(run, pods);
  if (refused.length > 0) return end('NotEvictable', options.stepsDone, refused);
  if (options.dryRun === true) return end('WouldRun', options.stepsDone, await findUnfit(run));
  const completed = new Set(steps.slice(0, options.stepsDone).flatMap(({ completes }) => completes));
  await cordon(
    deps,
    planned.nodes.filter((node) => !planned.nodesReturn || !completed.has(node)),
  );
  for (const [at, step] of steps.entries()) {
    if (at < options.stepsDone) continue;
    if (options.isPaused()) return end('Paused', at);
    const count = step.evictions.reduce((sum, one) => sum + one.pods.length, 0);
    report.step(
      `step ${at + 1} of ${steps.length}: ${count} pods, ${step.evictions.filter(({ disrupts }) => disrupts).length} groups go down`,
    );
    const unfit = await findUnfitNow(run, step, steps.slice(0, at));
    if (unfit.length > 0) return end('NoRoom', at, unfit);
    const failed = await runStep(run, step);
    if (typeof failed === 'object') return end('Failed', at, failed.problems);
    if (failed !== 'done') return end(failed, at);
    options.save(at + 1);
  }
  return end('Done', steps.length);
}

/** How long owners that start their pods again with a delay may leave a group without any. */
const MADE_AGAIN_MS = 30_000;

interface Run {
  readonly deps: DrainDeps;
  readonly planned: PlannedDrain;
  readonly options: ExecuteOptions;
  readonly until: number;
  readonly look: DrainLook;
}

type StepEnd = 'done' | 'Paused' | 'TimedOut' | { readonly problems: readonly string[] };

async function runStep(run: Run, step: PlanStep): Promise<StepEnd> {
  const { deps, options, look, planned, until } = run;
  const { client, clock, report } = deps;
  const ids = step.evictions.flatMap(({ pods }) => pods);
  let waiting = await stillThere(look, ids, planned.pods);
  const evicted = new Set<string>();
  let emptyAt: number | undefined;
  for (;;) {
    let reason: string | undefined;
    for (const id of waiting.filter((one) => !evicted.has(one))) {
      if (options.isPaused()) return 'Paused';
      const answer = await evictPod(client, nameOf(id), options.gracePeriodSeconds);
      if (answer.kind === 'failed') return { problems: [`pod ${id} cannot be evicted: ${answer.text}`] };
      if (answer.kind === 'wait') reason ??= answer.text;
      else evicted.add(id);
      if (answer.kind === 'evicted') report.step(`pod ${id} evicted`);
    }
    // What is gone stays gone: another pod of its name is its replacement.
    if (waiting.length > 0) waiting = await stillThere(look, waiting, planned.pods);
    if (waiting.length === 0) {
      emptyAt ??= clock.elapsed();
      const down = await unitsDown(run, step, clock.elapsed() - emptyAt < MADE_AGAIN_MS);
      reason = down[0] === undefined ? undefined : `${down[0]} to serve again`;
      const away = down.length > 0 ? undefined : await nodesAway(run, step);
      reason ??= away;
      if (reason === undefined) {
        report.progress({ left: 0, total: ids.length, groupsDown: 0, waitingFor: undefined });
        return 'done';
      }
    }
    report.progress({ left: waiting.length, total: ids.length, groupsDown: 0, waitingFor: reason });
    if (options.isPaused()) return 'Paused';
    if (clock.elapsed() >= until) return 'TimedOut';
    await sleep(clock, Math.max(look.restMs(), waiting.length > 0 && reason !== undefined ? RETRY_MS : POLL_MS));
  }
}

const nameOf = (id: string): { namespace: string; name: string } => {
  const slash = id.indexOf('/');
  return { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
};

/** The pods of a step that have not gone: a pod of the same name with another UID is a replacement. */
async function stillThere(
  look: DrainLook,
  ids: readonly string[],
  uids: Readonly<Record<string, string>>,
): Promise<string[]> {
  const present = await look.uids();
  return ids.filter((id) => present.has(id) && present.get(id) === uids[id]);
}

/**
 * Units of the step that do not serve. A group without any pod may be about to be made again; one that nobody makes again
 * is not waited for: `madeAgain` says which it is taken for.
 */
async function unitsDown({ look }: Run, step: PlanStep, madeAgain: boolean): Promise<string[]> {
  const pods = new Set(step.evictions.flatMap((one) => one.pods));
  const wanted = new Set(step.evictions.map(({ unit }) => unit));
  const serving = await look.serving(wanted);
  return [...wanted].filter((unit) => serving.get(unit) === false || missing(unit)).sort();

  function missing(unit: string): boolean {
    return madeAgain && !serving.has(unit) && !pods.has(unit);
  }
}

const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** What keeps nodes from taking pods again that the plan counts on; undefined when nothing does. */
async function nodesAway({ deps: { client }, options, planned }: Run, step: PlanStep): Promise<string | undefined> {
  if (!planned.nodesReturn) return undefined;
  for (const name of step.completes) {
    if (options.bringBack !== undefined) await options.bringBack(name);
    const node = await existing(client.get(nodeType, { name }));
    if (node?.spec?.unschedulable === true) return `${name} is empty; work on it, then: kubectl uncordon ${name}`;
    // The taint goes a moment after the mark does, by another hand, and keeps pods away until then.
    if (node?.spec?.taints?.some(({ key }) => key === UNSCHEDULABLE)) return `${name} to take pods again`;
  }
  return undefined;
}

/** How the cluster differs from what the plan was made for, as far as that matters. */
function findChanges(planned: PlannedDrain, pods: readonly Pod[], stepsDone: number): string[] {
  const done = planned.plan.steps.slice(0, stepsDone);
  const empty = new Set(planned.nodesReturn ? done.flatMap(({ completes }) => completes) : []);
  const toDrain = new Set(planned.nodes.filter((node) => !empty.has(node)));
  const blocked = new Set(planned.plan.blocked.flatMap(({ nodes }) => nodes));
  const changes: string[] = [];
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? '';
    if (!toDrain.has(node) || blocked.has(node) || isFixed(pod)) continue;
    const known = planned.pods[idOf(pod)];
    if (known === undefined) changes.push(`pod ${idOf(pod)} is on ${node} and not in the plan`);
    else if (known !== pod.metadata.uid)
      changes.push(`pod ${idOf(pod)} on ${node} is another one than when the plan was made`);
  }
  return changes;
}

function isFixed(pod: Pod): boolean {
  return !isPodActive(pod) || controllerOf(pod)?.kind === 'DaemonSet' || isMirrorPod(pod);
}

/**
 * Asks once more whether all that a step takes down finds places, in the cluster as it is now. Plans of version 1 were made
 * without that question.
 */
async function findUnfitNow(
  { deps: { client, clock }, planned }: Run,
  step: PlanStep,
  done: readonly PlanStep[],
): Promise<string[]> {
  if (planned.version === 1 || step.evictions.length === 0) return [];
  const back = new Set(planned.nodesReturn ? done.flatMap(({ completes }) => completes) : []);
  const nodes = await listAll(client, nodeType, undefined);
  const { asked, pods } = await askCluster(client, nodes, {
    drain: new Set(planned.nodes.filter((name) => !back.has(name))),
    nodesReturn: planned.nodesReturn,
    now: clock.now(),
  });
  const present = new Map(pods.map((pod) => [idOf(pod), pod.metadata.uid]));
  const evictions = step.evictions.map((one) => ({
    ...one,
    pods: one.pods.filter((id) => present.get(id) === planned.pods[id]),
  }));
  return findUnfitUnits(asked, { ...step, evictions }).map(({ text, unit }) => `${unit}: ${text}`);
}

/** What the next step would wait for, should it start now. */
async function findUnfit({ deps: { client, clock }, options, planned }: Run): Promise<string[]> {
  const next = planned.plan.steps[options.stepsDone];
  if (next === undefined) return [];
  const now = clock.now();
  const state = await gatherBudgets(client, { now });
  const present = new Map(state.pods.map((pod) => [idOf(pod), pod.metadata.uid]));
  const ids = next.evictions.flatMap(({ pods }) => pods).filter((id) => present.get(id) === planned.pods[id]);
  const isCordoned = (node: string): boolean => planned.nodes.includes(node) || state.isCordoned(node);
  const all = { ...evictionBudgets(state, now), isCordoned, closing: planned.nodes };
  const { steps } = decideAllTogether(all, ids.map(nameOf));
  return steps
    .filter(({ allowed }) => !allowed)
    .map(({ pod, refusedBy: [guard], verdict }) => {
      const reason = verdict.allowed && guard !== undefined ? `${guard.reason} (${guard.budget})` : verdict.reason;
      return `step ${options.stepsDone + 1} would wait for pod ${pod.namespace}/${pod.name}: ${reason}`;
    });
}

/** Pods of the plan that a drain does not take without being told to. */
async function findRefused({ deps, options, planned }: Run, pods: readonly Pod[]): Promise<string[]> {
  const daemonSetExists = await gatherDaemonSets(deps.client);
  const context = { rules: options.rules, daemonSetExists, now: deps.clock.now() };
  return pods
    .filter((pod) => planned.pods[idOf(pod)] === pod.metadata.uid)
    .map((pod) => ({ pod, verdict: filterPod(pod, context) }))
    .filter(({ verdict }) => verdict.take === 'refused')
    .map(({ pod, verdict }) => `pod ${idOf(pod)} ${verdict.text ?? ''}`);
}
