import { explainEverything, explainTarget, type OverviewAnswer, type WhyAnswer } from '../../tasks/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { failWith } from '../shared/fail.ts';
import { openCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';

export interface WhyFlags extends ClusterFlags {
  readonly output: OutputFormat;
  readonly allNamespaces?: boolean;
}

const REFUSED = 3;

export async function runWhy(target: string | undefined, flags: WhyFlags): Promise<number> {
  try {
    const cluster = openCluster(flags);
    try {
      const answer = await explain(cluster.client, cluster.namespace, target, flags);
      process.stdout.write(formatOutput(answer.value, answer.lines, flags.output));
      return answer.granted ? 0 : REFUSED;
    } finally {
      cluster.close();
    }
  } catch (error) {
    return failWith('why', error);
  }
}

function explain(
  client: Client,
  namespace: string,
  target: string | undefined,
  flags: WhyFlags,
): Promise<WhyAnswer | OverviewAnswer> {
  const now = Date.now();
  if (target !== undefined && flags.allNamespaces === true) {
    throw new Error('name an object, or take all budgets with -A, and not both');
  }
  if (target !== undefined) return explainTarget(client, { target, namespace, now });
  return explainEverything(client, { namespace: flags.allNamespaces === true ? undefined : namespace, now });
}
