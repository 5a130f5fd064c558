import type { Node, Pod } from '../api/generated/core-v1.ts';
import type { PlanQuestion } from '../decisions/drain-plan/index.ts';
import { buildQuestion, type QuestionInput } from '../decisions/drain-question/index.ts';
import type { Client } from '../machinery/runtime/index.ts';
import { gatherBudgets } from './gather.ts';
import { gatherPlacement } from './gather-placement.ts';
import type { RecoveryReader } from './recoveries.ts';
import { gatherWholesaleSets } from './wholesale-sets.ts';

export interface ClusterQuestion
  extends Pick<
    QuestionInput,
    'drain' | 'now' | 'nodesReturn' | 'times' | 'nodeDowntimeSeconds' | 'reserve' | 'allowExchange'
  > {
  /** Absent where it does not matter how long things take. */
  readonly recoveries?: RecoveryReader | undefined;
}

/** Reads all that a plan is decided on, as a cluster says it now. */
export async function askCluster(
  client: Client,
  nodes: readonly Node[],
  request: ClusterQuestion,
): Promise<{ asked: PlanQuestion; pods: readonly Pod[] }> {
  const state = await gatherBudgets(client, { now: request.now });
  const wholesaleSets = await gatherWholesaleSets(client);
  const placement = await gatherPlacement(client, nodes);
  const recoveryOf = await request.recoveries?.read(namespacesOn(request.drain, state.pods), request.now);
  const asked = buildQuestion({
    ...placement,
    ...request,
    recoveryOf,
    pods: state.pods,
    groups: { ...state, everyGroup: state.everyGroup(), wholesaleSets },
  });
  return { asked, pods: state.pods };
}

const namespacesOn = (nodes: ReadonlySet<string>, pods: readonly Pod[]): Set<string> =>
  new Set(pods.filter(({ spec }) => nodes.has(spec?.nodeName ?? '')).map(({ metadata }) => metadata.namespace ?? ''));
