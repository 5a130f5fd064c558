/** Asks every door about the same pods, and tells where they disagree. */
import { nodeType, podType } from '../../src/api/resource-types.ts';
import {
  type BudgetState,
  drainNodes,
  evictionBudgets,
  explainTarget,
  gatherBudgets,
  planClusterDrain,
  simulate,
  takeSnapshot,
} from '../../src/tasks/index.ts';
import { decideAllTogether, explainPod, type PodExplanation } from '../../src/decisions/all-budgets/index.ts';
import { explanationCauses, isRefusalReason } from '../../src/decisions/disruption/index.ts';
import { ApiError, type Client, type Clock } from '../../src/machinery/runtime/index.ts';
import { parseSelector } from '../../src/machinery/values/index.ts';
import type { ReviewResponse } from '../../src/webhook/index.ts';
import type { DrawnState } from './state.ts';

export interface Asked {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly nodes: readonly string[];
  readonly state: DrawnState;
  /** Whether preemption would break a budget by taking a pod. */
  readonly preempts: (pod: string) => boolean;
  /** What the webhook itself says, where there is one. */
  readonly webhook?: ((pod: string) => Promise<ReviewResponse>) | undefined;
}

interface Answer {
  readonly allowed: boolean;
  readonly code: number;
  readonly causes: readonly { readonly reason?: string; readonly message?: string }[];
  readonly message: string;
}

const RULES = { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true, skipWaitForDeleteTimeoutSeconds: 0 };

/** One line for each disagreement; none when all doors agree. */
export async function findDisagreements(asked: Asked): Promise<string[]> {
  const { client, clock, namespace, state } = asked;
  const now = clock.now();
  const gathered = await gatherBudgets(client, { namespace, now });
  const all = evictionBudgets(gathered, now);
  const problems: string[] = [];
  const names = state.pods.map(({ name }) => name).filter((name) => gathered.index.pod(namespace, name) !== undefined);
  for (const [at, name] of names.entries()) {
    const said = await tryEviction(client, { namespace, name });
    const why = explainPod(all, { namespace, name });
    if (why === undefined) problems.push(`${name}: why does not know it`);
    else problems.push(...compare(asked, said, why).map((text) => `${name}: ${text}`));
    if (why !== undefined && !EVICTIONS_ONLY.has(why.reason) && asked.preempts(name) === why.allowed) {
      problems.push(
        `${name}: preemption says ${String(!why.allowed)}, why says ${String(why.allowed)} (${why.reason})`,
      );
    }
    problems.push(...(await askWebhook(asked, name, said)).map((text) => `${name}: ${text}`));
    // The commands themselves read a cluster anew each time; one pod of a state is enough for them.
    if (at === state.seed % names.length) problems.push(...(await askCommands(asked, gathered, name, said)));
  }
  return [...problems, ...(await askPlan(asked, gathered)), ...(await askSimulation(asked, gathered))];
}

/** What concerns evictions alone, and no delete. */
const EVICTIONS_ONLY: ReadonlySet<string> = new Set(['NodeNotDrainable', 'BuiltInCountTighter', 'BudgetNotObserved']);

/** What the webhook refuses, the API server refuses in its words; what else it refuses, it does so by itself. */
async function askWebhook({ webhook }: Asked, name: string, said: Answer): Promise<string[]> {
  if (webhook === undefined) return [];
  const { allowed, status } = await webhook(name);
  if (allowed) {
    const ours = said.causes.find(({ reason }) => reason?.startsWith('Quorate'));
    return ours === undefined ? [] : [`the webhook allows it, the eviction says ${said.code} ${ours.message}`];
  }
  if (said.allowed) return [`the webhook says ${status?.code} ${status?.message}, the eviction is granted`];
  const isSame = said.code === status?.code && said.message.endsWith(status?.message ?? '');
  return isSame
    ? []
    : [`the webhook says ${status?.code} ${status?.message}, the eviction ${said.code} ${said.message}`];
}

/**
 * The first step of a simulated drain: what goes before anything has come back could go now, and where all pods of the
 * node could go together, all of them go. Only of states that a simulation begins with as they are.
 */
async function askSimulation(asked: Asked, gathered: BudgetState): Promise<string[]> {
  const { client, clock, namespace, nodes, state } = asked;
  const isCalm = state.evicted.length + state.removed.length === 0 && state.pods.every((pod) => pod.state === 'Ready');
  const looksAhead = Array.from(gathered.index.budgets()).some(({ lookahead }) => lookahead);
  const [node = ''] = nodes;
  const onNode = gathered.pods.filter(({ spec }) => spec?.nodeName === node).map(({ metadata }) => metadata.name ?? '');
  if (!isCalm || looksAhead || onNode.length === 0) return [];
  const { objects, ...rest } = await takeSnapshot(client, { now: clock.now() });
  const own = objects.filter(({ metadata }) => metadata.namespace === undefined || metadata.namespace === namespace);
  const { events } = await simulate(
    { ...rest, objects: own },
    {
      actions: [{ kind: 'drain', nodes: [node] }],
      order: 'node-by-node',
      nodeDowntimeMs: 0,
      reload: { defaultMs: 60_000, byWorkload: new Map() },
      limitMs: 1000,
      stepMs: 500,
      seed: state.seed,
    },
  );
  const prefix = `pod ${namespace}/`;
  const first = events.flatMap(({ text }) =>
    text.startsWith(prefix) && text.endsWith(' evicted') ? [text.slice(prefix.length, -' evicted'.length)] : [],
  );
  const problems: string[] = [];
  const budgets = evictionBudgets(gathered, clock.now());
  for (const name of first) {
    const said = await tryEviction(client, { namespace, name });
    if (!said.allowed) problems.push(`${name}: a simulation evicts it first, eviction ${said.code} ${said.message}`);
  }
  const all = decideAllTogether(
    budgets,
    onNode.map((name) => ({ namespace, name })),
  );
  const left = all.steps.filter(({ allowed, pod }) => allowed && !first.includes(pod.name));
  for (const { pod } of left) problems.push(`${pod.name}: may go now, a simulation does not take it first`);
  return problems;
}

function compare({ clock }: Asked, said: Answer, why: PodExplanation): string[] {
  const told = `eviction ${said.code} ${said.message}; why ${why.allowed} ${why.reason}`;
  if (said.allowed !== why.allowed) return [told];
  if (said.allowed) return [];
  const own = isRefusalReason(why.reason) ? explanationCauses(why, clock.now()) : [];
  const guards = (why.unavailability ?? []).filter(({ allowed }) => !allowed).flatMap(({ causes }) => causes);
  const expected = new Set([...own, ...guards].map(({ message }) => message));
  const unknown = said.causes.filter(
    ({ message, reason }) => reason?.startsWith('Quorate') && !expected.has(message ?? ''),
  );
  return unknown.length === 0
    ? []
    : [`${told}; only the eviction says: ${unknown.map(({ message }) => message).join(' | ')}`];
}

async function askCommands(asked: Asked, gathered: BudgetState, name: string, said: Answer): Promise<string[]> {
  const { client, clock, namespace } = asked;
  const problems: string[] = [];
  const why = await explainTarget(client, { target: `pod/${name}`, namespace, now: clock.now() });
  if (why.granted !== said.allowed)
    problems.push(`${name}: the command why says ${String(why.granted)}, eviction ${said.code}`);
  const node = gathered.pods.find(({ metadata }) => metadata.name === name)?.spec?.nodeName ?? '';
  const looksAhead = Array.from(gathered.index.budgets()).some(({ lookahead }) => lookahead);
  // A drain cordons its node first, which such budgets go by.
  if (looksAhead && !gathered.isCordoned(node)) return problems;
  const report = { step: () => {}, progress: () => {} };
  const { outcome } = await drainNodes(
    { client, clock, report },
    {
      nodes: [node],
      rules: RULES,
      allOrNothing: true,
      dryRun: true,
      timeoutMs: 0,
      podSelector: parseSelector(`pod=${name}`),
    },
  );
  if ((outcome === 'WouldDrain') !== said.allowed)
    problems.push(`${name}: drain says ${outcome}, eviction ${said.code} ${said.message}`);
  return problems;
}

/** The first step of a plan is one that can be begun now: each of its pods may go, and all of them together. */
async function askPlan({ client, clock, namespace, nodes }: Asked, gathered: BudgetState): Promise<string[]> {
  const request = { nodes, all: false, nodesReturn: false, now: clock.now() };
  const { plan } = await planClusterDrain(client, { ...request, nodes: nodes.slice(0, 1) });
  const first = plan.steps[0]?.evictions.flatMap(({ pods }) => pods) ?? [];
  const problems: string[] = [];
  for (const id of first) {
    const name = id.slice(namespace.length + 1);
    const said = await tryEviction(client, { namespace, name });
    if (!said.allowed) problems.push(`${name}: the plan takes it first, eviction ${said.code} ${said.message}`);
  }
  const names = first.map((id) => ({ namespace, name: id.slice(namespace.length + 1) }));
  const { steps } = decideAllTogether(evictionBudgets(gathered, clock.now()), names);
  for (const { allowed, pod, verdict } of steps)
    if (!allowed) problems.push(`${pod.name}: the plan takes it in its first step, after the others ${verdict.reason}`);
  return problems;
}

/** Asks the eviction API, which changes nothing in a dry run. */
export async function tryEviction(
  client: Client,
  key: { namespace: string; name: string },
  dryRun = true,
): Promise<Answer> {
  try {
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: key,
      ...(dryRun && { deleteOptions: { dryRun: ['All'] } }),
    };
    await client.createSubresource(podType, key, 'eviction', body);
    return { allowed: true, code: 201, causes: [], message: '' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { allowed: false, code: error.code, causes: error.causes, message: error.message };
  }
}

export async function cordon(client: Client, node: string, unschedulable: boolean): Promise<void> {
  await client.patch(
    nodeType,
    { name: node },
    { type: 'merge', body: { spec: { unschedulable: unschedulable || null } } },
  );
}
