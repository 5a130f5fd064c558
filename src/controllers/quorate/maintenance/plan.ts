import type { Pod } from '../../../api/generated/core-v1.ts';
import type { MaintenancePods, PlannedBlock } from '../../../api/quorate/maintenance.ts';
import { nodeType } from '../../../api/resource-types.ts';
import { CannotTellError, evictionBudgets, gatherBudgets } from '../../../cluster-state/index.ts';
import { askCluster } from '../../../cluster-state/plan-question.ts';
import { explainTogether } from '../../../decisions/all-budgets/index.ts';
import { planKeepingOne, type PlanQuestion } from '../../../decisions/drain-plan/index.ts';
import { filterPod, idOf } from '../../../decisions/drain-question/index.ts';
import {
  budgetBlocker,
  chooseNodes,
  claimedByOthers,
  isLeft,
  type MaintenanceFacts,
  makePlan,
  type NewBlocker,
  nextNodeStates,
  plannedBlocker,
  type PlanOutcome,
} from '../../../decisions/maintenance/index.ts';
import { type Client, listAll } from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';
import type { MaintenanceDeps } from './deps.ts';
import { factOf } from './gather.ts';

const EXPLAINED = 50;

/** Makes a plan for the nodes that are still to do, with the function that `quorate plan drain` has. */
export async function planFor(deps: MaintenanceDeps, facts: MaintenanceFacts): Promise<PlanOutcome> {
  try {
    return await makeFor(deps, facts);
  } catch (error) {
    if (error instanceof CannotTellError) return { kind: 'CannotTell', message: error.message };
    throw error;
  }
}

async function makeFor(
  { client, groupEvictions, recoveries }: MaintenanceDeps,
  facts: MaintenanceFacts,
): Promise<PlanOutcome> {
  const { maintenance, now } = facts;
  const { metadata, spec = { nodes: {} }, status = {} } = maintenance;
  const nodes = await listAll(client, nodeType, undefined);
  const uids = new Map(nodes.map((node) => [node.metadata.name ?? '', node.metadata.uid ?? '']));
  const chosen = chooseNodes(spec.nodes, nodes);
  const first = status.plan === undefined;
  const bestEffort = spec.mode === 'BestEffort';
  if (first && (chosen.names.length === 0 || (chosen.missing.length > 0 && !bestEffort))) {
    const message = chosen.missing.length > 0 ? `no such node: ${chosen.missing.join(', ')}` : 'no node matches';
    return { kind: 'NodesNotFound', message };
  }
  const drain = new Set(first ? chosen.names : nodesToDo(facts));
  const nodesReturn = spec.nodesReturn === true;
  const { asked, pods } = await askCluster(client, nodes, { drain, nodesReturn, now, recoveries });
  const { question, refused } = withoutRefused(asked, pods, { drain, rules: spec.pods ?? {}, now });
  const { kept, plan, question: planned } = planKeepingOne(question);
  const byId = new Map(pods.map((pod) => [idOf(pod), pod]));
  const made = makePlan({
    now,
    spec,
    status,
    nodesTotal: first ? chosen.names.length : (status.nodes?.length ?? 0),
    question: planned,
    plan,
    leftForLast: kept,
    podOf(id) {
      const pod = byId.get(id);
      if (pod === undefined) return undefined;
      const { going: _, ...fact } = factOf(pod);
      return fact;
    },
    refused,
    hashOf: nameHash,
    groupEvictions,
  });
  return {
    kind: 'Made',
    made,
    blockers: await explainBlocks(client, made.plan.blocked ?? [], { now, drain, name: metadata.name ?? '' }),
    nodes: chosen.names.map((name) => ({ name, uid: uids.get(name) ?? '' })),
    missing: first ? chosen.missing : [],
  };
}

function nodesToDo(facts: MaintenanceFacts): string[] {
  const nodes = nextNodeStates(facts);
  const others =
    facts.maintenance.spec?.mode === 'BestEffort' ? claimedByOthers(facts, nodes) : new Map<string, string>();
  return nodes.filter((node) => !isLeft(node) && !others.has(node.name)).map(({ name }) => name);
}

const REFUSED: Readonly<Record<string, string>> = { NoController: 'UnmanagedPods', LocalStorage: 'LocalStorage' };

/** Leaves out groups with a pod that nobody allowed to be taken, and pods that are on their way out already. */
function withoutRefused(
  asked: PlanQuestion,
  pods: readonly Pod[],
  { drain, now, rules }: { drain: ReadonlySet<string>; rules: MaintenancePods; now: number },
): { question: PlanQuestion; refused: PlannedBlock[] } {
  const context = {
    rules: {
      force: rules.force === true,
      deleteEmptyDirData: rules.deleteEmptyDirData === true,
      ignoreDaemonSets: true,
      skipWaitForDeleteTimeoutSeconds: 0,
    },
    daemonSetExists: () => true,
    now,
  };
  const units = new Map(asked.pods.map(({ id, unit }) => [id, unit]));
  const going = new Set<string>();
  const blocks = new Map<string, PlannedBlock>();
  for (const pod of pods) {
    const id = idOf(pod);
    const unit = units.get(id);
    if (unit === undefined || !drain.has(pod.spec?.nodeName ?? '')) continue;
    if (pod.metadata.deletionTimestamp !== undefined) {
      going.add(id);
      continue;
    }
    const { reason, take, text } = filterPod(pod, context);
    if (take !== 'refused') continue;
    const known = blocks.get(unit) ?? { group: unit, reason: REFUSED[reason] ?? reason, text, nodes: [], pods: [] };
    known.pods?.push(id);
    blocks.set(unit, known);
  }
  for (const { id, node, unit } of asked.pods) {
    const block = drain.has(node) ? blocks.get(unit) : undefined;
    if (block === undefined) continue;
    if (!block.nodes?.includes(node)) block.nodes?.push(node);
    if (!block.pods?.includes(id)) block.pods?.push(id);
  }
  const kept = asked.pods.filter(({ id, node, unit }) => !going.has(id) && !(drain.has(node) && blocks.has(unit)));
  return { question: { ...asked, pods: kept }, refused: [...blocks.values()] };
}

/** Says of groups that cannot go what is in the way, with the words and remedies of `quorate why`. */
export async function explainBlocks(
  client: Client,
  blocks: readonly PlannedBlock[],
  { drain, name, now }: { now: number; drain: ReadonlySet<string>; name: string },
): Promise<NewBlocker[]> {
  if (blocks.length === 0) return [];
  const state = await gatherBudgets(client, { now });
  const isCordoned = (node: string): boolean => drain.has(node) || state.isCordoned(node);
  const all = { ...evictionBudgets(state, now), isCordoned, closing: [...drain] };
  const byId = new Map(state.pods.map((pod) => [idOf(pod), pod]));
  return blocks.slice(0, EXPLAINED).map((block) => {
    const ids = block.pods ?? [];
    const isBudget = block.reason.startsWith('Budget') || block.reason === 'OverlappingBudgets';
    const pods = ids.flatMap((id) => byId.get(id) ?? []);
    const refusal = isBudget ? explainTogether(all, block.group, pods).refusals[0] : undefined;
    return refusal === undefined ? plannedBlocker(block, name) : budgetBlocker(block.group, ids, refusal);
  });
}
