import type { Pod } from '../../api/generated/core-v1.ts';
import { daemonSetType, nodeType, podType } from '../../api/resource-types.ts';
import {
  decideAllTogether,
  explainJointStep,
  type JointStep,
  type PodExplanation,
} from '../../decisions/all-budgets/index.ts';
import type { PodName } from '../../decisions/disruption/index.ts';
import { type Client, type Clock, listAll, sleep } from '../../machinery/runtime/index.ts';
import { matches, type Selector } from '../../machinery/values/index.ts';
import { type DrainRules, filterPod } from '../../decisions/drain-question/drain-filter.ts';
import { evictPod } from '../../machinery/runtime/evict-pod.ts';
import { assertNode, ClusterReader } from '../../cluster-state/cluster-reader.ts';
import { type BudgetState, evictionBudgets, gatherBudgets } from '../../cluster-state/gather.ts';

export interface DrainOptions {
  readonly nodes: readonly string[];
  readonly rules: DrainRules;
  /** Start only what can be finished; otherwise go as far as budgets allow and wait. */
  readonly allOrNothing: boolean;
  readonly dryRun: boolean;
  /** 0: wait as long as it takes. */
  readonly timeoutMs: number;
  readonly gracePeriodSeconds?: number | undefined;
  readonly podSelector?: Selector | undefined;
}

export type DrainOutcome = 'Drained' | 'WouldDrain' | 'Refused' | 'NotEvictable' | 'TimedOut' | 'Failed';

export interface DrainPod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly state: 'Planned' | 'Left' | 'Refused' | 'Waiting' | 'Evicted' | 'Gone' | 'Failed';
  readonly text?: string | undefined;
}

export interface DrainResult {
  readonly outcome: DrainOutcome;
  readonly nodes: readonly string[];
  readonly pods: readonly DrainPod[];
  /** Why the pods that block cannot go; for refusals and waits. */
  readonly explanations: readonly PodExplanation[];
}

/** How far a drain has come, for live display. */
export interface DrainProgress {
  readonly left: number;
  readonly total: number;
  readonly groupsDown: number;
  readonly waitingFor: string | undefined;
}

export interface DrainReport {
  step(text: string): void;
  progress(progress: DrainProgress): void;
}

export interface DrainDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly report: DrainReport;
}

export const RETRY_MS = 5_000;
export const POLL_MS = 1_000;

/**
 * Empties nodes. Cordons them, looks at all their pods together, and then evicts in an order that finishes the groups
 * already taken before it breaks another. With `allOrNothing` nothing is touched unless everything could go now; nodes
 * cordoned for the look are given back.
 */
export async function drainNodes(deps: DrainDeps, options: DrainOptions): Promise<DrainResult> {
  const { client, report } = deps;
  const cordoned = options.dryRun ? [] : await cordon(deps, options.nodes);
  const giveBack = async (): Promise<void> => {
    for (const name of cordoned) {
      await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable: null } } });
      report.step(`node ${name} uncordoned again`);
    }
  };
  let looked: Look;
  try {
    looked = await look(deps, options);
    if (options.dryRun) for (const name of options.nodes) await assertNode(client, name);
  } catch (error) {
    await giveBack();
    throw error;
  }
  const { chosen, explanations, steps } = looked;
  const isRefused = chosen.some(({ state }) => state === 'Refused');
  const allowed = steps.every((step) => step.allowed);
  if (!isRefused && !options.dryRun && (allowed || !options.allOrNothing)) {
    return evictAll(deps, options, { chosen, steps });
  }
  await giveBack();
  if (isRefused) return { outcome: 'NotEvictable', nodes: options.nodes, pods: chosen, explanations: [] };
  const planned = inOrder(chosen, steps);
  return { outcome: allowed ? 'WouldDrain' : 'Refused', nodes: options.nodes, pods: planned, explanations };
}

interface Look {
  readonly chosen: readonly DrainPod[];
  /** What all budgets say to the pods that would go, in the order in which they should. */
  readonly steps: readonly JointStep[];
  readonly explanations: readonly PodExplanation[];
}

async function look(deps: DrainDeps, options: DrainOptions): Promise<Look> {
  const now = deps.clock.now();
  const state = await gatherBudgets(deps.client, { now });
  const chosen = await choosePods(deps, options, state);
  const targets = chosen.filter((pod) => pod.state === 'Planned');
  return { chosen, ...judge(state, targets, { nodes: options.nodes, now }) };
}

/** Asks every budget about pods that would go together from nodes that take no more. */
function judge(
  state: BudgetState,
  pods: readonly PodName[],
  { nodes, now }: { nodes: readonly string[]; now: number },
): Omit<Look, 'chosen'> {
  const isCordoned = (node: string): boolean => nodes.includes(node) || state.isCordoned(node);
  const all = { ...evictionBudgets(state, now), isCordoned, closing: nodes };
  const { steps } = decideAllTogether(all, pods);
  const explanations = new Map<string, PodExplanation>();
  for (const step of steps) {
    if (step.allowed) continue;
    // One explanation for each group is enough to act on.
    const key = `${step.pod.namespace}/${step.budget}/${step.unit ?? step.pod.name}`;
    const explanation = explanations.has(key) ? undefined : explainJointStep(all, step);
    if (explanation !== undefined) explanations.set(key, explanation);
  }
  return { steps, explanations: [...explanations.values()] };
}

export async function cordon({ client, report }: DrainDeps, nodes: readonly string[]): Promise<string[]> {
  const changed: string[] = [];
  for (const name of nodes) {
    const node = await client.get(nodeType, { name });
    if (node.spec?.unschedulable === true) continue;
    await client.patch(nodeType, { name }, { type: 'strategic', body: { spec: { unschedulable: true } } });
    report.step(`node ${name} cordoned`);
    changed.push(name);
  }
  return changed;
}

/**
 * Tells whether the DaemonSet of a pod is there.
 * @throws {CannotTellError} when that may not be read
 */
export async function gatherDaemonSets(client: Client): Promise<(namespace: string, name: string) => boolean> {
  const reader = new ClusterReader(client);
  const sets = await reader.list([daemonSetType]);
  reader.assertComplete();
  const known = new Set(sets.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  return (namespace, name) => known.has(`${namespace}/${name}`);
}

async function choosePods(
  { client, clock, report }: DrainDeps,
  options: DrainOptions,
  state: BudgetState,
): Promise<DrainPod[]> {
  const context = { rules: options.rules, daemonSetExists: await gatherDaemonSets(client), now: clock.now() };
  const onNodes = state.pods.filter(
    (pod) =>
      options.nodes.includes(pod.spec?.nodeName ?? '') &&
      (options.podSelector === undefined || matches(options.podSelector, pod.metadata.labels)),
  );
  return onNodes.map((pod) => {
    const { take, text } = filterPod(pod, context);
    const chosen = {
      ...nameOf(pod),
      text,
      state: take === 'yes' ? 'Planned' : take === 'no' ? 'Left' : 'Refused',
    } as const;
    if (text !== undefined && take !== 'refused') report.step(`pod ${chosen.namespace}/${chosen.name} ${text}`);
    return chosen;
  });
}

interface Plan {
  readonly chosen: readonly DrainPod[];
  readonly steps: readonly JointStep[];
}

/** Evicts what is left in the planned order, again and again as budgets allow, until all pods are gone. */
async function evictAll(deps: DrainDeps, options: DrainOptions, plan: Plan): Promise<DrainResult> {
  const { client, clock, report } = deps;
  const start = clock.elapsed();
  const targets = plan.chosen.filter(({ state }) => state === 'Planned');
  const uids = await uidsOf(deps, targets);
  const states = new Map<string, DrainPod>(targets.map((pod) => [keyOf(pod), pod]));
  const set = (pod: DrainPod, state: DrainPod['state'], text?: string): void => {
    states.set(keyOf(pod), { ...pod, state, text });
  };
  const result = (outcome: DrainOutcome, explanations: readonly PodExplanation[] = []): DrainResult => {
    const others = plan.chosen.filter(({ state }) => state !== 'Planned');
    return { outcome, nodes: options.nodes, pods: [...states.values(), ...others], explanations };
  };
  let order: readonly JointStep[] = plan.steps;
  let explanations: readonly PodExplanation[] = [];
  for (;;) {
    if (options.timeoutMs > 0 && clock.elapsed() - start > options.timeoutMs) return result('TimedOut', explanations);
    const waiting: DrainPod[] = [];
    for (const { pod } of order) {
      const target = states.get(`${pod.namespace}/${pod.name}`);
      if (target === undefined || (target.state !== 'Planned' && target.state !== 'Waiting')) continue;
      const answer = await evictPod(client, pod, options.gracePeriodSeconds);
      if (answer.kind === 'evicted') {
        set(target, 'Evicted');
        report.step(`pod ${keyOf(target)} evicted`);
      } else if (answer.kind === 'gone') set(target, 'Gone');
      else if (answer.kind === 'wait') {
        if (target.state !== 'Waiting') report.step(`pod ${keyOf(target)} waits: ${answer.text}`);
        set(target, 'Waiting', answer.text);
        waiting.push(target);
      } else {
        set(target, 'Failed', answer.text);
        report.step(`pod ${keyOf(target)} cannot be evicted: ${answer.text}`);
      }
    }
    await noteGone(deps, states, uids, set);
    const left = [...states.values()].filter(({ state }) => state !== 'Gone' && state !== 'Failed');
    const state = waiting.length > 0 ? await gatherBudgets(client, { now: clock.now() }) : undefined;
    report.progress({
      left: left.length,
      total: states.size,
      groupsDown: new Set(plan.steps.filter(({ pod }) => isDown(states, pod)).map(({ unit }) => unit ?? '')).size,
      waitingFor: waiting[0] === undefined ? undefined : states.get(keyOf(waiting[0]))?.text,
    });
    if (left.length === 0) {
      const failed = [...states.values()].some(({ state: one }) => one === 'Failed');
      return result(failed ? 'Failed' : 'Drained', explanations);
    }
    if (state === undefined) order = [];
    else ({ explanations, steps: order } = judge(state, waiting, { nodes: options.nodes, now: clock.now() }));
    await sleep(clock, waiting.length > 0 ? RETRY_MS : POLL_MS);
  }
}

async function uidsOf({ client }: DrainDeps, targets: readonly DrainPod[]): Promise<Map<string, string>> {
  const uids = new Map<string, string>();
  for (const node of new Set(targets.map((pod) => pod.node))) {
    for (const { metadata } of await listAll(client, podType, undefined, `spec.nodeName=${node}`)) {
      uids.set(`${metadata.namespace}/${metadata.name}`, metadata.uid ?? '');
    }
  }
  return uids;
}

/** A pod of the same name with another UID is its replacement: the one that was evicted is gone. */
async function noteGone(
  deps: DrainDeps,
  states: ReadonlyMap<string, DrainPod>,
  uids: ReadonlyMap<string, string>,
  set: (pod: DrainPod, state: DrainPod['state']) => void,
): Promise<void> {
  const evicted = [...states.values()].filter(({ state }) => state === 'Evicted' || state === 'Waiting');
  if (evicted.length === 0) return;
  const present = await uidsOf(deps, evicted);
  for (const pod of evicted) if (present.get(keyOf(pod)) !== uids.get(keyOf(pod))) set(pod, 'Gone');
}

const isDown = (states: ReadonlyMap<string, DrainPod>, { name, namespace }: PodName): boolean =>
  ['Evicted', 'Gone'].includes(states.get(`${namespace}/${name}`)?.state ?? '');

function inOrder(chosen: readonly DrainPod[], steps: readonly JointStep[]): DrainPod[] {
  const byKey = new Map(chosen.map((pod) => [keyOf(pod), pod]));
  const planned = steps.flatMap(({ allowed, pod, refusedBy: [guard], unit, verdict }) => {
    const target = byKey.get(`${pod.namespace}/${pod.name}`);
    if (target === undefined) return [];
    const reason = guard === undefined || !verdict.allowed ? verdict.reason : `${guard.reason} (${guard.budget})`;
    const text = `${reason}${unit === undefined ? '' : `, group ${unit}`}`;
    return [{ ...target, state: allowed ? target.state : ('Waiting' as const), text }];
  });
  return [...planned, ...chosen.filter(({ state }) => state !== 'Planned')];
}

function nameOf({ metadata, spec }: Pod) {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '', node: spec?.nodeName ?? '' };
}

const keyOf = ({ name, namespace }: DrainPod): string => `${namespace}/${name}`;
