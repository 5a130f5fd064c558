import { gatherDisruption } from '../app/index.ts';
import {
  type BudgetExplanation,
  type Explanation,
  explainBudget,
  explainEviction,
  formatBudgetExplanation,
  formatExplanation,
} from '../decisions/disruption/index.ts';
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
  readonly value: Explanation | BudgetExplanation;
  readonly lines: readonly string[];
  readonly granted: boolean;
}

/** Finds the pod or budget and explains it with the same function that answers evictions. */
export async function explainTarget(
  client: Client,
  { namespace, now, target }: { target: string; namespace: string; now: number },
): Promise<WhyAnswer> {
  const { kind, name } = parseTarget(target);
  const { index, isCordoned } = await gatherDisruption(client, { namespace, now });
  if (kind !== 'budget') {
    const value = explainEviction(index, { namespace, name }, now, { isCordoned });
    if (value !== undefined) return { value, lines: formatExplanation(value, now), granted: value.allowed };
  }
  if (kind !== 'pod') {
    const value = explainBudget(index, { namespace, name }, now);
    if (value !== undefined) {
      return { value, lines: formatBudgetExplanation(value, now), granted: value.budget.allowed > 0 };
    }
  }
  const what = kind === 'pod' ? 'pod' : kind === 'budget' ? 'PodDisruptionBudget' : 'pod or PodDisruptionBudget';
  throw new Error(`no ${what} "${name}" in namespace "${namespace}"`);
}

const PODS = new Set(['pod', 'pods', 'po']);
const BUDGETS = new Set(['pdb', 'pdbs', 'poddisruptionbudget', 'poddisruptionbudgets']);

function parseTarget(target: string): { kind: 'pod' | 'budget' | 'either'; name: string } {
  const slash = target.indexOf('/');
  if (slash < 0) return { kind: 'either', name: target };
  const kind = target.slice(0, slash).toLowerCase();
  const name = target.slice(slash + 1);
  if (PODS.has(kind)) return { kind: 'pod', name };
  if (BUDGETS.has(kind)) return { kind: 'budget', name };
  throw new Error(`cannot explain "${target}": it must be pod/NAME, pdb/NAME or a name`);
}
