import type { PodFacts } from '../placement/index.ts';
import type { HeldRoom, PlanPod, PlanQuestion, PlanStep, UnitEviction } from './model.ts';
import { secondsOf } from './time.ts';

/** Says for every unit of a plan what it asks for, how long it is away, and which room is kept for it. */
export function withNeeds(steps: readonly PlanStep[], question: PlanQuestion): PlanStep[] {
  const pods = new Map<string, PlanPod>();
  // Members that restart only because others go are named by their UID.
  for (const pod of question.pods) pods.set(pod.facts.uid, pod).set(pod.id, pod);
  const times = new Map(question.units.map(({ id, time }) => [id, time]));
  const amountsOf = (facts: readonly PodFacts[]): Record<string, number> => {
    const sums = new Map<string, number>([['pods', facts.length]]);
    for (const { requests } of facts) {
      for (const { amount, slot } of requests) {
        const name = question.cluster.resources.names[slot] ?? '';
        sums.set(name, (sums.get(name) ?? 0) + amount);
      }
    }
    return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  const holdOf = ({ where }: UnitEviction): HeldRoom[] => {
    const byNode = new Map<string, PodFacts[]>();
    for (const [id, node] of Object.entries(where)) {
      const pod = pods.get(id);
      if (pod?.replacement === undefined || pod.node === node) continue;
      byNode.set(node, [...(byNode.get(node) ?? []), pod.replacement]);
    }
    return [...byNode]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([node, facts]) => ({ node, amounts: amountsOf(facts) }));
  };
  return steps.map((step) => ({
    ...step,
    evictions: step.evictions.map((eviction) => {
      const time = times.get(eviction.unit);
      const seconds = secondsOf(time, eviction.disrupts);
      return {
        ...eviction,
        needs: amountsOf(Object.keys(eviction.where).flatMap((id) => pods.get(id)?.replacement ?? [])),
        ...(question.reserve === true && { hold: holdOf(eviction) }),
        ...(seconds !== undefined && { seconds }),
        ...(eviction.disrupts && time?.by !== undefined && { secondsBy: time.by }),
      };
    }),
  }));
}
