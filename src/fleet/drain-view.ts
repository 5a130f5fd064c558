/** Drains: the plan for nodes that were chosen, how far it has come, and what holds up those under way. */
import { isPodFinished } from '../api/core/pod-state.ts';
import type { Pod } from '../api/generated/core-v1.ts';
import { explainTogether, type JointExplanation } from '../decisions/all-budgets/index.ts';
import {
  countNaiveDisruptions,
  type DrainPlan,
  type NaiveDrain,
  planKeepingOne,
} from '../decisions/drain-plan/index.ts';
import { buildQuestion, isBoundToNode } from '../decisions/drain-question/index.ts';
import { Cluster } from '../decisions/placement/index.ts';
import type { Fleet } from './fleet.ts';

export interface MadePlan {
  readonly nodes: readonly string[];
  readonly nodesReturn: boolean;
  readonly madeAt: number;
  readonly tookMs: number;
  /** A node that is left for last, so that the others have somewhere to move to. */
  readonly kept: string | undefined;
  readonly plan: DrainPlan;
  readonly naive: NaiveDrain;
  /** UIDs of the pods that go: a pod of the same name with another is a replacement. */
  readonly uids: ReadonlyMap<string, string>;
}

export function makePlan(
  fleet: Fleet,
  { nodes, nodesReturn }: { nodes: ReadonlySet<string>; nodesReturn: boolean },
  now: number,
): MadePlan {
  const startedMs = performance.now();
  const cluster = new Cluster();
  for (const node of fleet.nodes.values()) cluster.setNode(node);
  const asked = buildQuestion({
    cluster,
    pods: [...fleet.pods.values()],
    groups: fleet.unitSources(),
    drain: nodes,
    nodesReturn,
    now,
  });
  const { kept, plan, question } = planKeepingOne(asked);
  const uids = new Map<string, string>();
  for (const { evictions } of plan.steps) {
    for (const id of evictions.flatMap(({ pods }) => pods)) uids.set(id, fleet.pods.get(id)?.metadata.uid ?? '');
  }
  const naive = countNaiveDisruptions(question);
  const tookMs = performance.now() - startedMs;
  return { nodes: [...nodes].sort(), nodesReturn, madeAt: now, tookMs, kept, plan, naive, uids };
}

export type StepState = 'Ahead' | 'Running' | 'Done';

/** How far a plan has come: a step is done when the pods it names have gone. */
export function stepStates({ plan, uids }: MadePlan, { pods }: Pick<Fleet, 'pods'>): StepState[] {
  return plan.steps.map(({ evictions }) => {
    const ids = evictions.flatMap((one) => one.pods);
    const stay = ids.filter((id) => {
      const { metadata } = pods.get(id) ?? {};
      return metadata?.uid === uids.get(id) && !metadata?.deletionTimestamp;
    });
    if (stay.length === ids.length) return 'Ahead';
    return ids.some((id) => pods.get(id)?.metadata.uid === uids.get(id)) ? 'Running' : 'Done';
  });
}

export interface RunningDrain {
  readonly node: string;
  /** Pods a drain would still take. */
  readonly left: readonly string[];
  readonly going: number;
  readonly joint: JointExplanation;
}

/** As many are told in full; a fleet may be cordoned as a whole. */
const MOST_TOLD = 24;

/** Nodes that take no more pods and still hold some, with what their pods would be answered now. */
export function runningDrains(fleet: Fleet, now: number): { drains: RunningDrain[]; empty: string[]; more: number } {
  const cordoned = [...fleet.nodes.keys()].filter(fleet.isCordoned).sort();
  if (cordoned.length === 0) return { drains: [], empty: [], more: 0 };
  const wanted = new Set(cordoned);
  const held = new Map<string, Pod[]>();
  for (const pod of fleet.pods.values()) {
    const node = pod.spec?.nodeName ?? '';
    if (!wanted.has(node) || isBoundToNode(pod) || isPodFinished(pod)) continue;
    const pods = held.get(node);
    if (pods === undefined) held.set(node, [pod]);
    else pods.push(pod);
  }
  const all = fleet.budgets(now);
  const busy = cordoned.filter((node) => held.has(node));
  const drains = busy.slice(0, MOST_TOLD).map((node): RunningDrain => {
    const pods = held.get(node) ?? [];
    const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
    const left = staying.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`).sort();
    return { node, left, going: pods.length - staying.length, joint: explainTogether(all, `node ${node}`, staying) };
  });
  return { drains, empty: cordoned.filter((node) => !held.has(node)), more: busy.length - drains.length };
}
