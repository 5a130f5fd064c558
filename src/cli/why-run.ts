import { gatherBudgets } from '../app/index.ts';
import {
  type BudgetExplanation,
  type Explanation,
  explainBudget,
  explainEviction,
  formatBudgetExplanation,
  formatExplanation,
} from '../decisions/disruption/index.ts';
import {
  explainUnavailability,
  explainUnavailableBudget,
  formatOpinions,
  formatUnavailableBudget,
  type UnavailabilityOpinion,
  type UnavailableBudgetExplanation,
} from '../decisions/unavailability/index.ts';
import type { Client } from '../machinery/runtime/index.ts';
import { type ClusterFlags, openCluster } from './cluster.ts';
import { formatOutput, type OutputFormat } from './output.ts';

export interface WhyFlags extends ClusterFlags {
  readonly output: OutputFormat;
}

const REFUSED = 3;

export async function runWhy(target: string, flags: WhyFlags): Promise<number> {
  try {
    const cluster = openCluster(flags);
    try {
      const answer = await explainTarget(cluster.client, { target, namespace: cluster.namespace, now: Date.now() });
      process.stdout.write(formatOutput(answer.value, answer.lines, flags.output));
      return answer.granted ? 0 : REFUSED;
    } finally {
      cluster.close();
    }
  } catch (error) {
    process.stderr.write(`quorate why: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

export interface WhyAnswer {
  readonly value:
    | (Explanation & { readonly unavailability?: readonly UnavailabilityOpinion[] })
    | BudgetExplanation
    | UnavailableBudgetExplanation;
  readonly lines: readonly string[];
  readonly granted: boolean;
}

/** Finds the pod or budget and explains it with the same function that answers evictions. */
export async function explainTarget(
  client: Client,
  { namespace, now, target }: { target: string; namespace: string; now: number },
): Promise<WhyAnswer> {
  const { kind, name } = parseTarget(target);
  const { index, isCordoned, unavailability } = await gatherBudgets(client, { namespace, now });
  const guards = unavailability.indexes.of(namespace);
  const gates = { deletes: true, updates: true, verticalScaling: false };
  const question = { gates, scaleOf: unavailability.scaleOf, nowMs: now };
  if (kind === 'pod' || kind === 'any') {
    const value = explainEviction(index, { namespace, name }, now, { isCordoned });
    if (value !== undefined) return withOpinions(value, explainUnavailability(guards, name, question), now);
  }
  if (kind === 'budget' || kind === 'any') {
    const value = explainBudget(index, { namespace, name }, now);
    if (value !== undefined) {
      return { value, lines: formatBudgetExplanation(value, now), granted: value.budget.allowed > 0 };
    }
  }
  if (kind === 'unavailable-budget' || kind === 'any') {
    const entry = guards.budget(name);
    if (entry !== undefined) {
      const value = explainUnavailableBudget(entry);
      return { value, lines: formatUnavailableBudget(value), granted: value.allowed > 0 };
    }
  }
  throw new Error(`no ${NAMES[kind]} "${name}" in namespace "${namespace}"`);
}

/** A pod goes when every budget of both kinds agrees. */
function withOpinions(alone: Explanation, unavailability: readonly UnavailabilityOpinion[], now: number): WhyAnswer {
  const lines = formatExplanation(alone, now);
  if (unavailability.length === 0) return { value: alone, lines, granted: alone.allowed };
  const granted = alone.allowed && unavailability.every(({ allowed }) => allowed);
  const first = alone.allowed && !granted ? [`Pod ${alone.pod} may not be evicted now.`] : [];
  const own = alone.reason === 'NoBudget' ? [`No PodDisruptionBudget selects pod ${alone.pod}.`] : lines;
  return {
    value: { ...alone, allowed: granted, unavailability },
    lines: [...first, ...own, ...formatOpinions(unavailability)],
    granted,
  };
}

type Kind = 'pod' | 'budget' | 'unavailable-budget' | 'any';

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...['pod', 'pods', 'po'].map((word) => [word, 'pod'] as const),
  ...['pdb', 'pdbs', 'poddisruptionbudget', 'poddisruptionbudgets'].map((word) => [word, 'budget'] as const),
  ...['pub', 'pubs', 'podunavailablebudget', 'podunavailablebudgets'].map(
    (word) => [word, 'unavailable-budget'] as const,
  ),
]);

const NAMES: Readonly<Record<Kind, string>> = {
  pod: 'pod',
  budget: 'PodDisruptionBudget',
  'unavailable-budget': 'PodUnavailableBudget',
  any: 'pod, PodDisruptionBudget or PodUnavailableBudget',
};

function parseTarget(target: string): { kind: Kind; name: string } {
  const slash = target.indexOf('/');
  if (slash < 0) return { kind: 'any', name: target };
  const kind = KINDS.get(target.slice(0, slash).toLowerCase());
  if (kind === undefined)
    throw new Error(`cannot explain "${target}": it must be pod/NAME, pdb/NAME, pub/NAME or a name`);
  return { kind, name: target.slice(slash + 1) };
}
