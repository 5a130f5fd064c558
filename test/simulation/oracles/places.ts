/**
 * Budgets on a cluster, where evictions are let pass at one time and carried out at another: never more gangs are down by
 * evictions than the budget allows. A pod holds its place from when it is Ready for the first time until it is being
 * deleted; readiness that comes and goes is nobody's doing, and nothing but evictions deletes pods here.
 */
import type { History } from '../history.ts';
import type { Plan } from '../plan.ts';
import type { BudgetCounts } from './budgets.ts';
import type { Violated } from './oracle.ts';
import { evictedIn, groupOf, isLeaving, isReady } from './pods.ts';

const PODS = '/registry/core/pods/';

export function watchPlaces(history: History, { gangs }: Plan, violated: Violated): BudgetCounts {
  const counts: BudgetCounts = { evictions: 0, charged: 0 };
  const wereReady = new Set<string>();
  const mayGo = gangs.length - Math.max(1, gangs.length - 1);
  let isCounting = false;
  history.onCommit((commit) => {
    if (!commit.some(({ key }) => key.startsWith(PODS))) return;
    counts.evictions += evictedIn(commit).length;
    const pods = history.select('pods');
    for (const pod of pods) if (isReady(pod)) wereReady.add(pod.metadata.uid);
    const holding = pods.filter((pod) => wereReady.has(pod.metadata.uid) && !isLeaving(pod));
    const down = gangs.filter(({ minimum, name }) => holding.filter((pod) => groupOf(pod) === name).length < minimum);
    isCounting ||= down.length === 0;
    if (isCounting && down.length > mayGo)
      violated('budget', `${down.map(({ name }) => name).join(', ')} are down by evictions, ${mayGo} may be`);
  });
  return counts;
}
