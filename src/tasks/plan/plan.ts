import type { Node } from '../../api/generated/core-v1.ts';
import { nodeType } from '../../api/resource-types.ts';
import {
  countNaiveDisruptions,
  type DrainPlan,
  type NaiveDrain,
  planKeepingOne,
} from '../../decisions/drain-plan/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { formatTime, matches, parseSelector } from '../../machinery/values/index.ts';
import { ClusterReader } from '../../cluster-state/cluster-reader.ts';
import { askCluster } from '../../cluster-state/plan-question.ts';
import { RecoveryReader } from '../../cluster-state/recoveries.ts';
import { idOf, type Statement, statementsOf, type ToldTimes } from '../../decisions/drain-question/index.ts';

export interface PlanRequest {
  readonly nodes: readonly string[];
  readonly selector?: string | undefined;
  readonly all: boolean;
  /** Drained nodes come back, as in an upgrade. */
  readonly nodesReturn: boolean;
  readonly now: number;
  readonly times?: ToldTimes | undefined;
  readonly nodeDowntimeSeconds?: number | undefined;
  /** The plan says which room is to be kept for every unit. */
  readonly reserve?: boolean | undefined;
  /** Groups may go into room that others of the same step leave. */
  readonly allowExchange?: boolean | undefined;
}

export const PLAN_FORMAT = 'quorate-drain-plan';
export const PLAN_VERSION = 2;

/** A plan with what is needed to carry it out later; also what a plan file holds. */
export interface PlannedDrain {
  readonly format: typeof PLAN_FORMAT;
  /** Plans of version 1 do not say where pods go. */
  readonly version: 1 | typeof PLAN_VERSION;
  readonly madeAt: string;
  readonly nodesReturn: boolean;
  /** Steps in which groups go into each other's room were asked for; planned again, they are again. */
  readonly allowExchange?: true | undefined;
  /** UIDs of the pods that go, by `namespace/name`. */
  readonly pods: Readonly<Record<string, string>>;
  readonly nodes: readonly string[];
  /** A node that was asked for but is left for last, so that the others have somewhere to move to. */
  readonly leftForLast?: string | undefined;
  readonly plan: DrainPlan;
  /** What else there is to say, with the flags that a drain will want. Absent in version 1. */
  readonly statements?: readonly Statement[] | undefined;
  /** What draining node after node would cost. */
  readonly naive: NaiveDrain;
}

/** The request names nodes that are not there, or none at all. */
export class PlanRequestError extends Error {
  override name = 'PlanRequestError';
}

/** Plans a drain of many nodes from what a cluster says now; changes nothing. */
export async function planClusterDrain(client: Client, request: PlanRequest): Promise<PlannedDrain> {
  const reader = new ClusterReader(client);
  const nodes = await reader.list([nodeType]);
  reader.assertComplete();
  const chosen = chooseNodes(nodes, request);
  const { asked, pods } = await askCluster(client, nodes, {
    ...request,
    drain: new Set(chosen),
    recoveries: new RecoveryReader(client),
  });
  const { kept, plan, question } = planKeepingOne(asked);
  const going = new Set(plan.steps.flatMap(({ evictions }) => evictions.flatMap(({ pods }) => pods)));
  const uids = pods.map((pod) => [idOf(pod), pod.metadata.uid ?? ''] as const).filter(([id]) => going.has(id));
  return {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    madeAt: formatTime(request.now),
    nodesReturn: request.nodesReturn,
    ...(request.allowExchange === true && { allowExchange: true }),
    nodes: chosen.filter((name) => name !== kept),
    ...(kept !== undefined && { leftForLast: kept }),
    pods: Object.fromEntries(uids),
    plan,
    statements: statementsOf({ pods, drain: new Set(chosen), plan }),
    naive: countNaiveDisruptions(question),
  };
}

function chooseNodes(nodes: readonly Node[], { all, nodes: named, selector }: PlanRequest): string[] {
  const known = new Set(nodes.map(({ metadata }) => metadata.name ?? ''));
  const missing = named.filter((name) => !known.has(name));
  if (missing.length > 0)
    throw new PlanRequestError(`Cannot plan: no such node: ${missing.join(', ')}; kubectl get nodes lists them`);
  if (all && (named.length > 0 || selector !== undefined)) {
    throw new PlanRequestError('Cannot plan: --all is every node; name nodes or give a selector without it');
  }
  if (all) return [...known].sort();
  const chosen = new Set(named);
  if (selector !== undefined) {
    const wanted = parseSelector(selector);
    for (const { metadata } of nodes) if (matches(wanted, metadata.labels)) chosen.add(metadata.name ?? '');
  }
  if (chosen.size === 0)
    throw new PlanRequestError(
      selector === undefined
        ? 'Cannot plan: name nodes, select them with -l, or take every node with --all'
        : `Cannot plan: no node has the labels ${selector}; kubectl get nodes --show-labels shows what they have`,
    );
  return [...chosen].sort();
}
