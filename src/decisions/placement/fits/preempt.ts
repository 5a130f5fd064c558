import type { Cluster } from '../cluster/cluster.ts';
import type { Answer, GroupAsk, PreemptibleUnit } from './model.ts';

type Yes = Extract<Answer, { fits: 'Yes' }>;

/**
 * Makes room for a group by taking whole units of lower priority, in the order in which they would go, as few as will
 * do; undefined where all of them together are not enough. The cluster is left as it was found.
 */
export function fitsOver(
  ask: GroupAsk,
  cluster: Cluster,
  tries: (ask: GroupAsk) => { readonly fits: Answer['fits'] } | Yes,
): Yes | undefined {
  const priority = Math.min(...ask.pods.map((pod) => pod.priority));
  // Whoever preempts looks for a way: what is found is what is done.
  const own: GroupAsk = { ...ask, searches: () => true };
  const taken: { readonly victim: PreemptibleUnit; readonly back: () => void }[] = [];
  let found: Yes | undefined;
  for (const victim of ask.mayPreempt ?? []) {
    const back = take(victim, priority, cluster);
    if (back === undefined) continue;
    taken.push({ victim, back });
    const answer = tries(own);
    if (!('where' in answer) || answer.fits !== 'Yes') continue;
    found = answer;
    break;
  }
  const victims = found === undefined ? [] : spareOthers();
  for (const { back } of taken.reverse()) back();
  return found && { ...found, proof: 'Witness', victims };

  /** The last to go are the first to be let off, where the group finds its places all the same. */
  function spareOthers(): string[] {
    for (let at = taken.length - 2; at >= 0; at -= 1) {
      const one = taken[at];
      if (one === undefined) continue;
      one.back();
      const answer = tries(own);
      if ('where' in answer && answer.fits === 'Yes') {
        found = answer;
        taken.splice(at, 1);
      } else take(one.victim, priority, cluster);
    }
    return taken.map(({ victim }) => victim.unit);
  }
}

/** Takes all pods of a unit off their nodes; undefined where one of them is not less important. */
function take({ pods }: PreemptibleUnit, priority: number, cluster: Cluster): (() => void) | undefined {
  const placed = pods.flatMap((uid) => cluster.placed(uid) ?? []);
  if (placed.length === 0 || placed.some(({ pod }) => pod.priority >= priority)) return undefined;
  const places = placed.map(({ node, pod }) => ({ pod, node: node.name }));
  for (const { pod } of places) cluster.remove(pod.uid);
  return () => {
    for (const { node, pod } of places) cluster.place(pod, node);
  };
}
