import { explainEverything, explainTarget } from '../../tasks/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { withCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatOutput, type Listing, type OutputFormat } from '../shared/output.ts';
import { printAnswer, type WatchFlag } from '../shared/watch.ts';
import { listBudgets } from './list.ts';

export interface WhyFlags extends ClusterFlags, WatchFlag {
  readonly output: OutputFormat;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
}

const REFUSED = 3;

export async function runWhy(target: string | undefined, flags: WhyFlags): Promise<number> {
  return withCluster('why', flags, (cluster) =>
    printAnswer(async () => {
      const { granted, shown, value } = await explain(cluster.client, cluster.namespace, target, flags);
      return { text: formatOutput(value, shown, flags.output), code: granted ? 0 : REFUSED };
    }, flags),
  );
}

interface Explained {
  readonly value: unknown;
  readonly shown: readonly string[] | Listing;
  readonly granted: boolean;
}

async function explain(
  client: Client,
  namespace: string,
  target: string | undefined,
  flags: WhyFlags,
): Promise<Explained> {
  const now = Date.now();
  if (target !== undefined && flags.allNamespaces === true) {
    throw new Error('name an object, or take all budgets with -A, and not both');
  }
  if (target !== undefined && flags.selector !== undefined) {
    throw new Error(`-l lists budgets with labels: leave out ${target}, or the labels`);
  }
  if (target !== undefined) {
    if (flags.output === 'wide' || flags.output === 'name')
      throw new Error(`-o ${flags.output} lists budgets: leave out ${target}`);
    const { granted, lines, value } = await explainTarget(client, { target, namespace, now });
    return { granted, value, shown: lines };
  }
  const asked = { namespace: flags.allNamespaces === true ? undefined : namespace, now, selector: flags.selector };
  const { granted, lines, value } = await explainEverything(client, asked);
  return { granted, value, shown: { text: lines, ...listBudgets(value) } };
}
