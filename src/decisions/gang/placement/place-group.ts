import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import type { Diagnosis } from '../../placement/filters/diagnosis.ts';
import { placeExhaustively } from './exhaustive.ts';
import { feasibility } from './feasibility.ts';
import { faresAlike, findNode, isWithin, NodeSearch, type Within } from './find-node.ts';
import { type Placement, Trial } from './trial.ts';

export interface LeafQuestion {
  readonly kind: 'leaf';
  readonly name: string;
  /** Members that must have a place: `minCount` of a gang, one for a basic group. */
  readonly needed: number;
  /** Members that have a place already. */
  readonly scheduled: number;
  /** The others, in the order they are tried. */
  readonly pods: readonly PodFacts[];
  /** Members must share one value of this node label. */
  readonly topologyKey?: string | undefined;
  /** Nodes of members that have a place; they decide the value. */
  readonly scheduledOn?: readonly string[] | undefined;
}

export interface CompositeQuestion {
  readonly kind: 'composite';
  readonly name: string;
  /** Child groups that must be satisfied. */
  readonly needed: number;
  readonly children: readonly GroupQuestion[];
  /** All pods below must share one value of this node label. */
  readonly topologyKey?: string | undefined;
}

export type GroupQuestion = LeafQuestion | CompositeQuestion;

export interface LeftOut {
  readonly pod: PodFacts;
  /** Absent for a pod that would have fitted, had the rest of its group. */
  readonly diagnosis?: Diagnosis | undefined;
}

export interface GroupPlacement {
  readonly reason: 'Scheduled' | 'Unschedulable';
  /** Empty unless scheduled. */
  readonly placements: readonly Placement[];
  readonly leftOut: readonly LeftOut[];
  readonly message: string;
}

interface Attempt {
  readonly satisfied: boolean;
  readonly leftOut: LeftOut[];
  readonly message: string;
}

const SEARCH_BUDGET = 20_000;

/**
 * Decides where the pods of a group go, all or none. The cluster is left as it was found.
 *
 *  1. enough members must find a place, counting those that have one; what fits beyond that is placed too
 *  2. members are placed one by one, each at its best node; where that fails and the members differ, every other
 *     way is looked for, up to a bound
 *  3. a group that must share a node label, of pods or of groups, keeps to one value: that of members which have a
 *     place, or the first that takes all, or the one that takes most; groups below choose within it
 *  4. satisfied without placing anything new is not success: the members left need room made for them
 */
export function placeGroup(question: GroupQuestion, cluster: Cluster): GroupPlacement {
  const trial = new Trial(cluster);
  const { leftOut, message, satisfied } = attempt(question, trial, []);
  const placements = [...trial.placements];
  trial.rollback();
  if (satisfied && placements.length > 0) return { reason: 'Scheduled', placements, leftOut, message };
  return {
    reason: 'Unschedulable',
    placements: [],
    leftOut: [...leftOut, ...placements.map(({ pod }) => ({ pod }))],
    message,
  };
}

function attempt(question: GroupQuestion, trial: Trial, within: Within): Attempt {
  const { topologyKey } = question;
  const attemptIn = (domains: Within): Attempt =>
    question.kind === 'leaf' ? attemptLeaf(question, trial, domains) : attemptComposite(question, trial, domains);
  if (topologyKey === undefined) return attemptIn(within);
  let best: { attempt: Attempt; placed: number; domains: Within } | undefined;
  const mark = trial.placements.length;
  for (const value of valuesFor(question, trial.cluster, within)) {
    const domains = [...within, { key: topologyKey, value }];
    const outcome = attemptIn(domains);
    const placed = trial.placements.length - mark;
    if (outcome.satisfied && outcome.leftOut.length === 0) return outcome;
    const better =
      best === undefined ||
      Number(outcome.satisfied) * 1e6 + placed > Number(best.attempt.satisfied) * 1e6 + best.placed;
    if (better) best = { attempt: outcome, placed, domains };
    trial.rollback(mark);
  }
  if (best === undefined) {
    const where = within.map(({ key, value }) => `${key}=${value}`).join(', ');
    const message = `no node${where && ` with ${where}`} has the label "${topologyKey}" that the group must share`;
    return { satisfied: false, leftOut: podsOf(question).map((pod) => ({ pod })), message };
  }
  return best.attempt.satisfied ? attemptIn(best.domains) : best.attempt;
}

export function podsOf(question: GroupQuestion): readonly PodFacts[] {
  return question.kind === 'leaf' ? question.pods : question.children.flatMap(podsOf);
}

const nodesOf = (question: GroupQuestion): readonly string[] =>
  question.kind === 'leaf' ? (question.scheduledOn ?? []) : question.children.flatMap(nodesOf);

/** The values to try: the one members stand in already, or all of them, fullest first. */
function valuesFor(question: GroupQuestion, cluster: Cluster, within: Within): string[] {
  const { topologyKey = '' } = question;
  const pinned = new Set<string>();
  for (const name of nodesOf(question)) {
    const value = cluster.node(name)?.labels[topologyKey];
    if (value !== undefined) pinned.add(value);
  }
  if (pinned.size > 0) return [...pinned].slice(0, 1);
  const free = new Map<string, number>();
  for (const node of cluster.nodes) {
    const value = node.labels[topologyKey];
    if (value === undefined || !isWithin(node, within)) continue;
    free.set(value, (free.get(value) ?? 0) + (node.allocatable[0] ?? 0) - (node.requested[0] ?? 0));
  }
  // The fullest domain that takes the whole group leaves the emptier ones for groups that need them.
  return [...free].sort((a, b) => a[1] - b[1]).map(([value]) => value);
}

function attemptComposite({ children, name, needed }: CompositeQuestion, trial: Trial, within: Within): Attempt {
  const mark = trial.placements.length;
  const leftOut: LeftOut[] = [];
  let satisfied = 0;
  let failure = '';
  for (const [index, child] of children.entries()) {
    const outcome = attempt(child, trial, within);
    leftOut.push(...outcome.leftOut);
    if (outcome.satisfied) satisfied += 1;
    else failure ||= outcome.message;
    if (feasibility(needed, satisfied, children.length - index - 1) !== 'Impossible') continue;
    leftOut.push(
      ...children
        .slice(index + 1)
        .flatMap(podsOf)
        .map((pod) => ({ pod })),
    );
    break;
  }
  if (satisfied >= needed) return { satisfied: true, leftOut, message: '' };
  leftOut.push(...trial.placements.slice(mark).map(({ pod }) => ({ pod })));
  trial.rollback(mark);
  const message = `${satisfied} of ${children.length} groups of "${name}" fit, at least ${needed} needed; ${failure}`;
  return { satisfied: false, leftOut, message };
}

function attemptLeaf(question: LeafQuestion, trial: Trial, within: Within): Attempt {
  const { name, needed, pods, scheduled } = question;
  const mark = trial.placements.length;
  const leftOut: LeftOut[] = [];
  let failed: { pod: PodFacts; diagnosis: Diagnosis } | undefined;
  const search = new NodeSearch(trial.cluster, within);
  for (const [index, pod] of pods.entries()) {
    const placed = trial.placements.length - mark;
    if (feasibility(needed, scheduled + placed, pods.length - index) === 'Impossible') {
      leftOut.push(...pods.slice(index).map((rest) => ({ pod: rest, diagnosis: failed?.diagnosis })));
      break;
    }
    if (failed !== undefined && faresAlike(failed.pod, pod, trial.cluster)) {
      leftOut.push({ pod, diagnosis: failed.diagnosis });
      continue;
    }
    const { diagnosis, node } = search.find(pod);
    if (node !== undefined) trial.place(pod, node);
    else {
      failed = { pod, diagnosis };
      leftOut.push(failed);
    }
  }
  const placed = trial.placements.length - mark;
  if (scheduled + placed >= needed) return { satisfied: true, leftOut, message: describe(leftOut) };
  trial.rollback(mark);
  const alike = pods.every((pod) => faresAlike(pods[0] as PodFacts, pod, trial.cluster));
  const wanted = needed - scheduled;
  if (!alike && wanted <= pods.length && placeExhaustively(pods, trial, { wanted, budget: SEARCH_BUDGET, within })) {
    return { satisfied: true, leftOut: fillIn(question, trial, { mark, within }), message: '' };
  }
  const short = `${scheduled + placed} of ${scheduled + pods.length} pods of group "${name}" fit, at least ${needed} needed`;
  return {
    satisfied: false,
    leftOut: complete(leftOut, pods),
    message: [short, describe(leftOut)].filter(Boolean).join(': '),
  };
}

/** Once the minimum has a place, whoever else fits. */
function fillIn({ pods }: LeafQuestion, trial: Trial, { mark, within }: { mark: number; within: Within }): LeftOut[] {
  const placed = new Set(trial.placements.slice(mark).map(({ pod }) => pod.uid));
  const leftOut: LeftOut[] = [];
  for (const pod of pods) {
    if (placed.has(pod.uid)) continue;
    const { diagnosis, node } = findNode(pod, trial.cluster, within);
    if (node !== undefined) trial.place(pod, node);
    else leftOut.push({ pod, diagnosis });
  }
  return leftOut;
}

/** A pod without a place keeps its diagnosis; one that had a place before the roll-back has none. */
function complete(leftOut: readonly LeftOut[], pods: readonly PodFacts[]): LeftOut[] {
  const known = new Map(leftOut.map((entry) => [entry.pod.uid, entry]));
  return pods.map((pod) => known.get(pod.uid) ?? { pod });
}

const describe = (leftOut: readonly LeftOut[]): string =>
  leftOut.find(({ diagnosis }) => diagnosis !== undefined)?.diagnosis?.message ?? '';
