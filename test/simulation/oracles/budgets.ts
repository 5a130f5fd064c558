/**
 * Budgets, by the pods that are stored and nothing else: an eviction that takes a unit down leaves at least as many up as
 * the budget asks for, and costs once.
 */
import type { Commit, History, StoredObject } from '../history.ts';
import type { Violated } from './oracle.ts';
import { evictedIn, groupOf, isLeaving, isReady } from './pods.ts';

const BUDGETS = '/registry/policy/poddisruptionbudgets/';
const PODS = '/registry/core/pods/';

export interface BudgetCounts {
  evictions: number;
  charged: number;
}

export function watchBudgets(history: History, violated: Violated): BudgetCounts {
  const counts: BudgetCounts = { evictions: 0, charged: 0 };
  const chargedUids = new Map<string, string>();
  let before = new Map<string, StoredObject>();
  history.onCommit((commit) => {
    const touches = commit.some(({ key }) => key.startsWith(PODS));
    const evicted = evictedIn(commit);
    if (evicted.length > 0) {
      counts.evictions += evicted.length;
      checkUnits(history, { before, evicted, violated });
    }
    checkCharges(history, commit, { chargedUids, counts, violated });
    if (touches) before = new Map([...history.state].filter(([key]) => key.startsWith(PODS)));
  });
  return counts;
}

function checkUnits(
  history: History,
  { before, evicted, violated }: { before: Map<string, StoredObject>; evicted: StoredObject[]; violated: Violated },
): void {
  const minimums = new Map(history.select('podgroups').map((group) => [group.metadata.name, minimumOf(group)]));
  for (const budget of history.select('poddisruptionbudgets')) {
    if (!evicted.some((pod) => selects(budget, pod))) continue;
    const needed = budget.spec.minAvailable as number;
    const upBefore = unitsUp([...before.values()], budget, minimums);
    const upAfter = unitsUp(history.select('pods'), budget, minimums);
    if (upAfter < upBefore && upAfter < needed) {
      const names = evicted.map(({ metadata }) => metadata.name).join(', ');
      violated(
        'budget',
        `eviction of ${names} left ${upAfter} units of ${budget.metadata.name} up, ${needed} are needed`,
      );
    }
  }
}

function checkCharges(
  history: History,
  commit: Commit,
  { chargedUids, counts, violated }: { chargedUids: Map<string, string>; counts: BudgetCounts; violated: Violated },
): void {
  for (const { after, before, key } of commit) {
    if (!key.startsWith(BUDGETS) || after === undefined) continue;
    const { name } = after.metadata;
    const allowed: unknown = after.status?.disruptionsAllowed ?? 0;
    if (typeof allowed !== 'number' || allowed < 0) violated('charge', `${name} allows ${String(allowed)} disruptions`);
    const known = new Set(Object.keys(before?.status?.disruptedPods ?? {}));
    // What was kept for a group that was told and stays is given back with the end of its notice.
    if (commit.some(isGivingBack)) {
      for (const podName of known) {
        const uid = history.state.get(`${PODS}default/${podName}`)?.metadata.uid;
        if (after.status?.disruptedPods?.[podName] === undefined) chargedUids.delete(`${uid} ${name}`);
      }
    }
    for (const podName of Object.keys(after.status?.disruptedPods ?? {})) {
      if (known.has(podName)) continue;
      const pod = history.state.get(`${PODS}default/${podName}`);
      if (pod === undefined) continue;
      counts.charged += 1;
      const mark = `${pod.metadata.uid} ${name}`;
      if (chargedUids.has(mark)) violated('charge', `${podName} was charged to ${name} twice`);
      chargedUids.set(mark, podName);
    }
  }
}

const isGivingBack = ({ after, key }: Commit[number]): boolean =>
  key.includes('/groupevictions/') && ['Withdrawn', 'Superseded'].includes(after?.status?.notice?.state as string);

const minimumOf = (group: StoredObject): number =>
  (group.spec?.schedulingPolicy?.gang?.minCount as number | undefined) ?? 1;

export function selects(budget: StoredObject, pod: StoredObject): boolean {
  const wanted = (budget.spec.selector?.matchLabels ?? {}) as Record<string, string>;
  return Object.entries(wanted).every(([name, value]) => pod.metadata.labels?.[name] === value);
}

/** Groups that have their minimum, and pods of no group that are up. */
export function unitsUp(
  pods: readonly StoredObject[],
  budget: StoredObject,
  minimums: ReadonlyMap<string, number>,
): number {
  const up = new Map<string, number>();
  for (const pod of pods) {
    if (!selects(budget, pod) || !isReady(pod) || isLeaving(pod)) continue;
    const unit = groupOf(pod) ?? `pod ${pod.metadata.uid}`;
    up.set(unit, (up.get(unit) ?? 0) + 1);
  }
  return [...up].filter(([unit, count]) => count >= (minimums.get(unit) ?? 1)).length;
}
