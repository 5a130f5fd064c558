/** Questions asked of a copy: what would be left if nodes failed, were drained, or something shrank. */
import { controllerOf } from '../api/core/owner.ts';
import { isPodActive } from '../api/core/pod-state.ts';
import type { Pod } from '../api/generated/core-v1.ts';
import { decideAllTogether } from '../decisions/all-budgets/index.ts';
import { LWS } from '../api/lws/types.ts';
import { computeAllowed, computeDesired } from '../decisions/disruption/index.ts';
import { chooseVictims, rankByColocation } from '../decisions/downscale/index.ts';
import { isBoundToNode } from '../decisions/drain-question/index.ts';
import { matches } from '../machinery/values/index.ts';
import { byName } from './by-name.ts';
import { type ShownBudget, budgetViews } from './budget-views.ts';
import { copyFleet, type Fleet } from './fleet.ts';
import type { ShownGroup } from './group-book.ts';
import { type Mark, MARKS } from './marks.ts';

export type WhatIfQuestion =
  | { readonly kind: 'fail' | 'drain'; readonly nodes: ReadonlySet<string> }
  | { readonly kind: 'scale'; readonly owner: string; readonly by: number };

export interface WhatIfGroup {
  readonly before: ShownGroup;
  /** Undefined: nothing is left of it. */
  readonly after: ShownGroup | undefined;
}

export interface WhatIfAnswer {
  readonly marks: readonly { readonly mark: Mark; readonly now: number; readonly later: number }[];
  readonly groups: readonly WhatIfGroup[];
  readonly budgets: readonly { readonly before: ShownBudget; readonly after: ShownBudget | undefined }[];
  /** Pods that would be lost. */
  readonly lost: readonly string[];
  /** Pods that budgets would keep, in a drain. */
  readonly kept: readonly { readonly pod: string; readonly reason: string }[];
}

export function answer(fleet: Fleet, question: WhatIfQuestion, now: number): WhatIfAnswer {
  const copy = copyFleet(fleet, now);
  const { kept, lost } = choosePods(fleet, question, now);
  for (const pod of lost) {
    if (question.kind === 'scale') copy.delete('Pod', pod.metadata.namespace ?? '', pod.metadata.name ?? '');
    else copy.set('Pod', down(pod));
  }
  if (question.kind === 'fail') for (const node of question.nodes) copy.delete('Node', '', node);
  copy.settle(now);
  recount(copy, question.kind === 'scale' ? lost : [], now);
  return { ...compare(fleet, copy, now), lost: lost.map(idOf).sort(byName), kept };
}

/** It is still expected, and does not serve until another has taken its place. */
function down(pod: Pod): Pod {
  const conditions = pod.status?.conditions?.map((one) => (one.type === 'Ready' ? { ...one, status: 'False' } : one));
  return { ...pod, status: { ...pod.status, conditions } as NonNullable<Pod['status']> };
}

const idOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function choosePods(fleet: Fleet, question: WhatIfQuestion, now: number): { lost: Pod[]; kept: WhatIfAnswer['kept'] } {
  if (question.kind === 'scale') {
    const pods = [...fleet.pods.values()].filter((pod) => ownerOf(pod) === question.owner && isPodActive(pod));
    return { lost: shrink(question.owner, pods, question.by, now), kept: [] };
  }
  const onNodes = [...fleet.pods.values()].filter((pod) => question.nodes.has(pod.spec?.nodeName ?? ''));
  if (question.kind === 'fail') return { lost: onNodes, kept: [] };
  const moved = onNodes.filter((pod) => !isBoundToNode(pod) && isPodActive(pod));
  const isCordoned = (node: string): boolean => question.nodes.has(node) || fleet.isCordoned(node);
  const names = moved.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
  const { steps } = decideAllTogether({ ...fleet.budgets(now), isCordoned, closing: [...question.nodes] }, names);
  const lost: Pod[] = [];
  const kept: { pod: string; reason: string }[] = [];
  for (const { allowed, pod, refusedBy, verdict } of steps) {
    const id = `${pod.namespace}/${pod.name}`;
    const found = fleet.pods.get(id);
    if (allowed && found !== undefined) lost.push(found);
    else kept.push({ pod: id, reason: verdict.allowed ? (refusedBy[0]?.reason ?? '') : verdict.reason });
  }
  return { lost, kept };
}

/** What a workload is called where it can be scaled, such as `default/ReplicaSet/web`. */
export function ownerOf(pod: Pod): string | undefined {
  const { labels, namespace = '' } = pod.metadata;
  const set = labels?.[LWS.name];
  if (set !== undefined) return `${namespace}/LeaderWorkerSet/${set}`;
  const owner = controllerOf(pod);
  if (owner?.kind !== 'ReplicaSet' && owner?.kind !== 'StatefulSet') return undefined;
  return `${namespace}/${owner.kind}/${owner.name}`;
}

/** Everything that can shrink, with how many replicas it has. */
export function scalable(fleet: Fleet): Map<string, number> {
  const units = new Map<string, Set<string>>();
  for (const pod of fleet.pods.values()) {
    const owner = ownerOf(pod);
    if (owner === undefined || !isPodActive(pod)) continue;
    const unit = pod.metadata.labels?.[LWS.groupIndex] ?? pod.metadata.name ?? '';
    const known = units.get(owner);
    if (known === undefined) units.set(owner, new Set([unit]));
    else known.add(unit);
  }
  return new Map([...units].map(([owner, names]) => [owner, names.size] as const).sort(([a], [b]) => byName(a, b)));
}

/** Sets lose their highest numbers, ReplicaSets what their own rules put first. */
function shrink(owner: string, pods: readonly Pod[], by: number, now: number): Pod[] {
  const kind = owner.split('/')[1];
  if (kind === 'ReplicaSet') {
    return chooseVictims({ pods, count: by, ranks: rankByColocation(pods), now }).map(({ pod }) => pod);
  }
  const numberOf = ({ metadata }: Pod): number =>
    Number(kind === 'LeaderWorkerSet' ? metadata.labels?.[LWS.groupIndex] : /\d+$/.exec(metadata.name ?? '')?.[0]);
  const numbers = [...new Set(pods.map(numberOf))].sort((a, b) => b - a).slice(0, by);
  return pods.filter((pod) => numbers.includes(numberOf(pod)));
}

/** No controller counts in a copy: what it would publish is worked out here, by its own arithmetic. */
function recount({ index }: Fleet, scaledAway: readonly Pod[], now: number): void {
  for (const { name, namespace } of Array.from(index.budgets())) {
    const count = index.count(namespace, name, now);
    if (count === undefined) continue;
    const { budget, healthy, mode } = count;
    const fewer = scaledAway.filter(
      ({ metadata }) => metadata.namespace === namespace && matches(budget.selector, metadata.labels),
    ).length;
    const expected = mode.unit === 'PodGroup' ? count.expectedUnits : Math.max(0, budget.status.expectedPods - fewer);
    const desired = computeDesired(budget, expected);
    const disruptionsAllowed = computeAllowed(healthy, desired, expected);
    const status = { ...budget.status, disruptionsAllowed, currentHealthy: healthy, desiredHealthy: desired };
    index.setBudget({ ...budget, status: { ...status, expectedPods: expected } });
  }
}

function compare(fleet: Fleet, copy: Fleet, now: number): Pick<WhatIfAnswer, 'marks' | 'groups' | 'budgets'> {
  const before = fleet.groups.all();
  const after = copy.groups.all();
  const tally = (groups: ReadonlyMap<string, ShownGroup>, mark: Mark): number =>
    [...groups.values()].filter((group) => group.mark === mark).length;
  const groups = [...before.values()]
    .map((group) => ({ before: group, after: after.get(group.id) }))
    .filter((one) => one.after?.mark !== one.before.mark || one.after.healthy !== one.before.healthy)
    .sort((a, b) => rank(a) - rank(b) || byName(a.before.id, b.before.id));
  const then = new Map(budgetViews(copy, now).map((view) => [view.id, view]));
  return {
    marks: [...MARKS].reverse().map((mark) => ({ mark, now: tally(before, mark), later: tally(after, mark) })),
    groups,
    budgets: budgetViews(fleet, now).map((view) => ({ before: view, after: then.get(view.id) })),
  };
}

/** What breaks comes first. */
const rank = ({ after, before }: WhatIfGroup): number =>
  after === undefined || (after.mark === 'broken' && before.mark !== 'broken') ? 0 : 1;
