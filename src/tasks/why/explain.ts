import type { Pod } from '../../api/generated/core-v1.ts';
import {
  type ExplainedBudgets,
  explainPod,
  explainTogether,
  formatPodExplanation,
  formatTogether,
  type JointExplanation,
  type PodExplanation,
} from '../../decisions/all-budgets/index.ts';
import {
  type BudgetExplanation,
  explainBudget,
  formatBudgetExplanation,
  setGroupOf,
} from '../../decisions/disruption/index.ts';
import { isBoundToNode } from '../../decisions/drain-question/index.ts';
import {
  explainUnavailableBudget,
  formatUnavailableBudget,
  type UnavailableBudgetExplanation,
} from '../../decisions/unavailability/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { assertNode } from '../../cluster-state/cluster-reader.ts';
import { type BudgetState, evictionBudgets, gatherBudgets } from '../../cluster-state/gather.ts';
import { type DrainOnNode, drainsOf, formatDrains } from './drains.ts';
import { formatNotice, type NoticeNow, noticeOfPod } from './notices.ts';
import { parseTarget, TARGET_NAMES } from './target.ts';

export interface WhyAnswer {
  readonly value:
    | (PodExplanation & { readonly notice?: NoticeNow })
    | BudgetExplanation
    | UnavailableBudgetExplanation
    | (JointExplanation & { readonly drains?: readonly DrainOnNode[] });
  readonly lines: readonly string[];
  /** An eviction would be granted, or a budget could lose one more. */
  readonly granted: boolean;
}

interface Asked {
  readonly state: BudgetState;
  readonly all: ExplainedBudgets;
  readonly namespace: string;
  readonly name: string;
}

/** Finds the pod, budget, group or node and explains it with the same functions that answer evictions. */
export async function explainTarget(
  client: Client,
  { namespace, now, target }: { target: string; namespace: string; now: number },
): Promise<WhyAnswer> {
  const { kind, name } = parseTarget(target);
  if (kind === 'node') return explainNode(client, name, now);
  const state = await gatherBudgets(client, { namespace, now });
  const asked = { state, all: evictionBudgets(state, now), namespace, name };
  const answer =
    kind === 'group'
      ? groupAnswer(asked, target)
      : kind === 'pod'
        ? await podAnswer(client, asked)
        : kind === 'budget'
          ? budgetAnswer(asked)
          : kind === 'unavailable-budget'
            ? guardAnswer(asked)
            : ((await podAnswer(client, asked)) ?? budgetAnswer(asked) ?? guardAnswer(asked));
  if (answer === undefined) throw new Error(`no ${TARGET_NAMES[kind]} "${name}" in namespace "${namespace}"`);
  return answer;
}

async function podAnswer(client: Client, { all, name, namespace }: Asked): Promise<WhyAnswer | undefined> {
  const value = explainPod(all, { namespace, name });
  if (value === undefined) return undefined;
  const lines = formatPodExplanation(value, all.now);
  const { index, now } = all;
  const notice = await noticeOfPod(client, { index, namespace, name, now });
  if (notice === undefined) return { value, lines, granted: value.allowed };
  return { value: { ...value, notice }, lines: [...lines, ...formatNotice(notice)], granted: false };
}

function budgetAnswer({ all: { index, now }, name, namespace }: Asked): WhyAnswer | undefined {
  const value = explainBudget(index, { namespace, name }, now);
  return value && { value, lines: formatBudgetExplanation(value, now), granted: value.budget.allowed > 0 };
}

function guardAnswer({ all: { unavailability }, name, namespace }: Asked): WhyAnswer | undefined {
  const entry = unavailability.indexes.of(namespace).budget(name);
  if (entry === undefined) return undefined;
  const value = explainUnavailableBudget(entry);
  return { value, lines: formatUnavailableBudget(value), granted: value.allowed > 0 };
}

/** A group by its PodGroup, by its place in a LeaderWorkerSet, or by the name that other answers give it. */
function groupAnswer({ all, name, state }: Asked, target: string): WhyAnswer | undefined {
  const every = state.everyGroup();
  const names = [target, name, `PodGroup/${name}`, `LeaderWorkerSet/${name}`, `Workload/${name}`, `JobSet/${name}`];
  const isIt = (pod: Pod): boolean => {
    const { name: podName = '', namespace = '' } = pod.metadata;
    const unit = every.ask(namespace, podName, all.now)?.views[0]?.unit;
    const called = unit && every.unitName(namespace, podName, 'everything');
    const group = setGroupOf(pod.metadata.labels);
    return [unit?.key, called, group].some((one) => one !== undefined && names.includes(one));
  };
  const members = state.pods.filter(isIt);
  const [first] = members;
  if (first === undefined) return undefined;
  const { name: podName = '', namespace = '' } = first.metadata;
  const called = every.unitName(namespace, podName, 'everything') ?? setGroupOf(first.metadata.labels) ?? target;
  const value = explainTogether(all, called, members);
  return { value, lines: formatTogether(value, all.now), granted: value.allowed };
}

async function explainNode(client: Client, name: string, now: number): Promise<WhyAnswer> {
  await assertNode(client, name);
  const state = await gatherBudgets(client, { now });
  const isCordoned = (node: string): boolean => node === name || state.isCordoned(node);
  const all = { ...evictionBudgets(state, now), isCordoned, closing: [name] };
  const pods = state.pods.filter((pod) => pod.spec?.nodeName === name && !isBoundToNode(pod));
  const together = explainTogether(all, `node ${name}`, pods);
  const drains = await drainsOf(client, name);
  const value = drains.length === 0 ? together : { ...together, drains };
  return { value, lines: [...formatTogether(together, now), ...formatDrains(drains)], granted: together.allowed };
}
