import { daemonSetType, deploymentType, nodeType, replicaSetType, statefulSetType } from '../../api/resource-types.ts';
import { type LeaderWorkerSet, leaderWorkerSetType } from '../../api/lws/types.ts';
import type { ResourceType } from '../../api/resource.ts';
import { type Client, type Clock, isNotFound, sleep } from '../../machinery/runtime/index.ts';
import { drainNodes } from '../drain/drain.ts';
import { type DrainLook, executePlan, planClusterDrain } from '../plan/index.ts';
import { addTwins, type Ending, fail, finished, loseSpot, type NodeActionOptions } from './node-actions.ts';

/** What happens in a simulation. */
export type Action =
  | { readonly kind: 'drain'; readonly nodes: readonly string[] }
  | { readonly kind: 'upgrade' }
  | { readonly kind: 'scale'; readonly workload: string; readonly replicas: number }
  | { readonly kind: 'rollout'; readonly workload: string }
  | { readonly kind: 'fail'; readonly nodes: readonly string[] }
  /** New nodes of the same kind come first; then the old ones are drained and deleted. */
  | { readonly kind: 'replace'; readonly nodes: readonly string[] }
  /** A node is taken away when its notice is over, whatever runs on it. */
  | { readonly kind: 'spot'; readonly node: string; readonly noticeMs: number }
  /** Time passes. */
  | { readonly kind: 'wait'; readonly ms: number };

export interface ActionOptions extends NodeActionOptions {
  /** `plan`: as planned over all nodes; `node-by-node`: one after the other, as kubectl drain in a loop. */
  readonly order: 'plan' | 'node-by-node';
  /** How long an emptied node is away in an upgrade. */
  readonly nodeDowntimeMs: number;
  readonly look: DrainLook;
}

/** The action names something that is not in the snapshot. */
export class ActionError extends Error {
  override name = 'ActionError';
}

const RULES = { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true, skipWaitForDeleteTimeoutSeconds: 0 };

/** Carries out one action. */
export async function act(
  world: { readonly client: Client; readonly clock: Clock },
  action: Action,
  options: ActionOptions,
): Promise<Ending> {
  switch (action.kind) {
    case 'drain':
      return drain(world, { nodes: action.nodes, returns: false }, options);
    case 'upgrade': {
      const nodes = (await world.client.list(nodeType)).items.map(({ metadata }) => metadata.name ?? '').sort();
      return drain(world, { nodes, returns: true }, options);
    }
    case 'scale':
      return scale(world.client, action);
    case 'rollout':
      return rollOut(world.client, action.workload);
    case 'fail':
      return fail(world, action.nodes, options);
    case 'replace': {
      await addTwins(world, action.nodes, options);
      const ending = await drain(world, { nodes: action.nodes, returns: false }, options);
      if (!ending.finished) return ending;
      for (const name of action.nodes) await world.client.delete(nodeType, { name });
      return finished('Replaced');
    }
    case 'spot':
      return loseSpot(world, action, options);
    case 'wait':
      await sleep(world.clock, action.ms);
      return finished('Waited');
  }
}

interface Draining {
  readonly nodes: readonly string[];
  readonly returns: boolean;
}

async function drain(
  { client, clock }: { client: Client; clock: Clock },
  { nodes, returns }: Draining,
  options: ActionOptions,
): Promise<Ending> {
  let waiting: string | undefined;
  const report = {
    step: options.note,
    progress({ waitingFor }: { waitingFor: string | undefined }): void {
      if (waitingFor !== waiting && waitingFor !== undefined) options.note(`waiting for ${waitingFor}`);
      waiting = waitingFor;
    },
  };
  const bringBack = async (name: string): Promise<void> => {
    await sleep(clock, options.nodeDowntimeMs);
    await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable: null } } });
    options.note(`node ${name} is back`);
  };
  if (options.order === 'node-by-node') {
    let emptied = 0;
    for (const node of nodes) {
      const { outcome } = await drainNodes(
        { client, clock, report },
        { nodes: [node], rules: RULES, allOrNothing: false, dryRun: false, timeoutMs: 0 },
      );
      options.note(`node ${node}: ${outcome}`);
      if (outcome === 'Drained') emptied += 1;
      if (returns) await bringBack(node);
    }
    return emptied === nodes.length
      ? finished('Drained')
      : { outcome: `Drained ${emptied} of ${nodes.length} nodes`, finished: false };
  }
  const request = { nodes, selector: undefined, all: false, nodesReturn: returns, now: clock.now() };
  const planned = await planClusterDrain(client, request);
  const waits = planned.plan.blocked.map(({ reason, text = reason, unit }) => ({ unit, for: text }));
  for (const one of waits) options.note(`${one.unit} cannot go: ${one.for}`);
  const back = new Set<string>();
  const { outcome, problems } = await executePlan({ client, clock, report }, planned, {
    rules: RULES,
    timeoutMs: 0,
    stepsDone: 0,
    save: () => {},
    isPaused: () => false,
    look: options.look,
    bringBack: async (node) => {
      if (back.has(node)) return;
      back.add(node);
      await bringBack(node);
    },
  });
  if (outcome !== 'Done') return { outcome: `${outcome}: ${problems.join('; ')}`, finished: false };
  const blocked = planned.plan.blocked.length;
  if (planned.leftForLast !== undefined && blocked === 0) {
    return drain({ client, clock }, { nodes: [planned.leftForLast], returns }, options);
  }
  return blocked === 0
    ? finished('Drained')
    : { outcome: `Drained but for ${blocked} that cannot go`, finished: false, waits };
}

/** A new template for a workload, as kubectl rollout restart makes one. */
async function rollOut(client: Client, workload: string): Promise<Ending> {
  const { key, type } = parseWorkload(workload);
  const template = { metadata: { annotations: { [ROLLOUT]: 'new' } } };
  const { leaderWorkerTemplate } = (await client.get(type as ResourceType<LeaderWorkerSet>, key)).spec ?? {};
  const body =
    type.kind !== 'LeaderWorkerSet'
      ? { spec: { template } }
      : {
          spec: {
            leaderWorkerTemplate: {
              workerTemplate: template,
              ...(leaderWorkerTemplate?.leaderTemplate && { leaderTemplate: template }),
            },
          },
        };
  await client.patch(type, key, { type: 'merge', body });
  return finished('Has a new template');
}

const ROLLOUT = 'simulate.quorate.dev/rollout';

const SCALED: Readonly<Record<string, ResourceType>> = {
  deployment: deploymentType as ResourceType,
  deploy: deploymentType as ResourceType,
  replicaset: replicaSetType as ResourceType,
  rs: replicaSetType as ResourceType,
  daemonset: daemonSetType as ResourceType,
  ds: daemonSetType as ResourceType,
  statefulset: statefulSetType as ResourceType,
  sts: statefulSetType as ResourceType,
  leaderworkerset: leaderWorkerSetType as ResourceType,
  lws: leaderWorkerSetType as ResourceType,
};

async function scale(client: Client, { replicas, workload }: Extract<Action, { kind: 'scale' }>): Promise<Ending> {
  const { key, type } = parseWorkload(workload);
  if (type.kind === 'DaemonSet')
    throw new ActionError(`cannot scale "${workload}": a DaemonSet has a pod for every node`);
  const patch = { type: 'merge', body: { spec: { replicas } } } as const;
  await client.patch(type, key, patch);
  return finished(`Scaled to ${replicas}`);
}

/** `[NAMESPACE/]KIND/NAME`, the namespace `default` when it is left out. */
export function parseWorkload(text: string): { type: ResourceType; key: { namespace: string; name: string } } {
  const parts = text.split('/');
  const [namespace, kind, name] = parts.length === 3 ? parts : ['default', ...parts];
  const type = SCALED[(kind ?? '').toLowerCase()];
  if (type === undefined || !name) {
    throw new ActionError(
      `no workload can be named "${text}": it must be KIND/NAME or NAMESPACE/KIND/NAME, with deployment, replicaset, statefulset, daemonset or lws`,
    );
  }
  return { type, key: { namespace: namespace ?? 'default', name } };
}

/** The nodes that an action names. */
function nodesOf(action: Action): readonly string[] {
  if (action.kind === 'spot') return [action.node];
  return action.kind === 'drain' || action.kind === 'fail' || action.kind === 'replace' ? action.nodes : [];
}

/** Refuses what names nodes or workloads that are not there. */
export async function checkActions(client: Client, actions: readonly Action[]): Promise<void> {
  const known = new Set((await client.list(nodeType)).items.map(({ metadata }) => metadata.name));
  for (const action of actions) {
    const missing = nodesOf(action).filter((node) => !known.has(node));
    if (missing.length > 0) throw new ActionError(`no such node in the snapshot: ${missing.join(', ')}`);
    if (action.kind !== 'scale' && action.kind !== 'rollout') continue;
    const { key, type } = parseWorkload(action.workload);
    await client.get(type, key).catch((error: unknown) => {
      if (isNotFound(error)) throw new ActionError(`no such workload in the snapshot: ${action.workload}`);
      throw error;
    });
  }
}
