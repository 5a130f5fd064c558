import type { Pod } from '../../api/generated/core-v1.ts';
import { daemonSetType, nodeType, podType } from '../../api/resource-types.ts';
import {
  decideTogether,
  type Explanation,
  explainEviction,
  explainStep,
  type Step,
} from '../../decisions/disruption/index.ts';
import { type Client, type Clock, isForbidden, isNotFound, listAll, sleep } from '../../machinery/runtime/index.ts';
import { matches, type Selector } from '../../machinery/values/index.ts';
import { type DrainRules, filterPod } from './drain-filter.ts';
import { evictPod } from './evict-pod.ts';
import { type BudgetState, gatherBudgets } from './gather.ts';

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
  readonly explanations: readonly Explanation[];
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

const RETRY_MS = 5_000;
const POLL_MS = 1_000;

/**
 * Empties nodes. Cordons them, looks at all their pods together, and then evicts in an order that finishes the groups
 * already taken before it breaks another. With `allOrNothing` nothing is touched unless everything could go now; nodes
 * cordoned for the look are given back.
 */
export async function drainNodes(deps: DrainDeps, options: DrainOptions): Promise<DrainResult> {
  const { client, clock, report } = deps;
  const cordoned = options.dryRun ? [] : await cordon(deps, options.nodes);
  const giveBack = async (): Promise<void> => {
    for (const name of cordoned) {
      await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable: null } } });
      report.step(`node ${name} uncordoned again`);
    }
  };
  if (options.dryRun) for (const name of options.nodes) await client.get(nodeType, { name });

  const state = await gatherBudgets(client, { now: clock.now() });
  const chosen = await choosePods(deps, options, state);
  if (chosen.some(({ state: one }) => one === 'Refused')) {
    await giveBack();
    return { outcome: 'NotEvictable', nodes: options.nodes, pods: chosen, explanations: [] };
  }
  const targets = chosen.filter(({ state: one }) => one === 'Planned');
  const { allowed, steps } = decideTogether(state.index, targets, clock.now());
  const blocked = steps.filter(({ verdict }) => !verdict.allowed);
  const explanations = explain(state, blocked, clock.now());
  if (options.dryRun || (!allowed && options.allOrNothing)) {
    await giveBack();
    const planned = inOrder(chosen, steps);
    return { outcome: allowed ? 'WouldDrain' : 'Refused', nodes: options.nodes, pods: planned, explanations };
  }
  return evictAll(deps, options, { chosen, steps });
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

async function choosePods(
  { client, clock, report }: DrainDeps,
  options: DrainOptions,
  state: BudgetState,
): Promise<DrainPod[]> {
  const daemonSets = await listAll(client, daemonSetType, undefined).catch((error: unknown) => {
    if (isForbidden(error) || isNotFound(error)) return [];
    throw error;
  });
  const known = new Set(daemonSets.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  const context = {
    rules: options.rules,
    daemonSetExists: (namespace: string, name: string) => known.has(`${namespace}/${name}`),
    now: clock.now(),
  };
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
  readonly steps: readonly Step[];
}

/** Evicts what is left in the planned order, again and again as budgets allow, until all pods are gone. */
async function evictAll(deps: DrainDeps, options: DrainOptions, plan: Plan): Promise<DrainResult> {
  const { client, clock, report } = deps;
  const start = clock.now();
  const targets = plan.chosen.filter(({ state }) => state === 'Planned');
  const uids = await uidsOf(deps, targets);
  const states = new Map<string, DrainPod>(targets.map((pod) => [keyOf(pod), pod]));
  const set = (pod: DrainPod, state: DrainPod['state'], text?: string): void => {
    states.set(keyOf(pod), { ...pod, state, text });
  };
  const result = (outcome: DrainOutcome, explanations: readonly Explanation[] = []): DrainResult => {
    const others = plan.chosen.filter(({ state }) => state !== 'Planned');
    return { outcome, nodes: options.nodes, pods: [...states.values(), ...others], explanations };
  };
  let order: readonly Step[] = plan.steps;
  let explanations: readonly Explanation[] = [];
  for (;;) {
    if (options.timeoutMs > 0 && clock.now() - start > options.timeoutMs) return result('TimedOut', explanations);
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
    if (state !== undefined) {
      const joint = decideTogether(state.index, waiting, clock.now());
      order = joint.steps;
      explanations = explain(
        state,
        joint.steps.filter(({ verdict }) => !verdict.allowed),
        clock.now(),
      );
    } else order = [];
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

const isDown = (states: ReadonlyMap<string, DrainPod>, { name, namespace }: Step['pod']): boolean =>
  ['Evicted', 'Gone'].includes(states.get(`${namespace}/${name}`)?.state ?? '');

function explain({ index, isCordoned }: BudgetState, blocked: readonly Step[], now: number): Explanation[] {
  const seen = new Set<string>();
  const explanations: Explanation[] = [];
  for (const step of blocked) {
    const { budget, pod, unit } = step;
    // One explanation for each group is enough to act on.
    const key = `${pod.namespace}/${budget}/${unit ?? pod.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const alone = explainEviction(index, step.pod, now, { isCordoned });
    const explanation = alone?.allowed ? explainStep(index, step, now) : alone;
    if (explanation !== undefined) explanations.push(explanation);
  }
  return explanations;
}

function inOrder(chosen: readonly DrainPod[], steps: readonly Step[]): DrainPod[] {
  const byKey = new Map(chosen.map((pod) => [keyOf(pod), pod]));
  const planned = steps.flatMap(({ pod, unit, verdict }) => {
    const target = byKey.get(`${pod.namespace}/${pod.name}`);
    if (target === undefined) return [];
    const text = `${verdict.reason}${unit === undefined ? '' : `, group ${unit}`}`;
    return [{ ...target, state: verdict.allowed ? target.state : ('Waiting' as const), text }];
  });
  return [...planned, ...chosen.filter(({ state }) => state !== 'Planned')];
}

function nameOf({ metadata, spec }: Pod) {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '', node: spec?.nodeName ?? '' };
}

const keyOf = ({ name, namespace }: DrainPod): string => `${namespace}/${name}`;
