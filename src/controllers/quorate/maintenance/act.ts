import type { Node } from '../../../api/generated/core-v1.ts';
import { EVICTED, groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import {
  CLAIM_ANNOTATION,
  CORDONED_ANNOTATION,
  type Maintenance,
  MAINTENANCE_FINALIZER,
  maintenanceType,
  type PlannedBlock,
} from '../../../api/quorate/maintenance.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { nodeType } from '../../../api/resource-types.ts';
import {
  type MaintenanceAction,
  claimOf,
  groupOf,
  type NewBlocker,
  readClaim,
} from '../../../decisions/maintenance/index.ts';
import { evictPod } from '../../../machinery/runtime/evict-pod.ts';
import { ApiError, isConflict, isNotFound } from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';
import { type MaintenanceDeps, type Memory, noteWritten } from './deps.ts';
import { wantsNotice } from './notices.ts';
import { explainBlocks } from './plan.ts';

/** What was refused is asked for again after so long, give or take a fifth. */
const ASK_AGAIN_MS = 5000;
const MAX_NAME = 253;

export interface ActContext {
  readonly deps: MaintenanceDeps;
  readonly memory: Memory;
  readonly maintenance: Maintenance;
  readonly nodes: ReadonlyMap<string, Node>;
}

export interface Acted {
  /** A node changed under us: what was decided may not be so any more. */
  readonly conflict: boolean;
  readonly asked: boolean;
}

/** Carries out what was decided, one after the other; each can be repeated without effect. */
export async function act(context: ActContext, actions: readonly MaintenanceAction[]): Promise<Acted> {
  const refused: { group: string; pods: readonly string[]; text: string; access: boolean }[] = [];
  let asked = false;
  for (const action of actions) {
    if (action.kind === 'Evict') {
      asked = true;
      const answer = await evict(context, action);
      const { random, clock } = context.deps;
      context.memory.askAgainAt.set(action.group, clock.now() + ASK_AGAIN_MS * (0.8 + 0.4 * random()));
      if (answer === undefined) context.memory.refusals.set(action.group, []);
      else
        refused.push({
          ...answer,
          group: action.group,
          pods: action.pods.map(({ name, namespace }) => `${namespace}/${name}`),
        });
      continue;
    }
    if (!(await change(context, action))) return { conflict: true, asked };
  }
  if (refused.length > 0) await rememberRefusals(context, refused);
  return { conflict: false, asked };
}

/** False where a node is not what it was when this was decided. */
async function change(context: ActContext, action: Exclude<MaintenanceAction, { kind: 'Evict' }>): Promise<boolean> {
  const { deps, maintenance, memory } = context;
  const { client, clock } = deps;
  const { metadata } = maintenance;
  switch (action.kind) {
    case 'AddFinalizer':
    case 'RemoveFinalizer': {
      const others = (metadata.finalizers ?? []).filter((one) => one !== MAINTENANCE_FINALIZER);
      const finalizers = action.kind === 'AddFinalizer' ? [...others, MAINTENANCE_FINALIZER] : others;
      const body = { metadata: { resourceVersion: metadata.resourceVersion, finalizers } };
      await client.patch(maintenanceType, { name: metadata.name ?? '' }, { type: 'merge', body });
      return true;
    }
    case 'Delete':
      await client.delete(maintenanceType, { name: metadata.name ?? '' }, { preconditions: { uid: metadata.uid } });
      return true;
    case 'SetConditions': {
      const body = { status: { conditions: action.conditions } };
      const written = await orGone(() =>
        client.patch(nodeType, { name: action.node }, { type: 'strategic', body }, { subresource: 'status' }),
      );
      if (written !== undefined) memory.nodes.set(action.node, written);
      noteWritten(memory, action.node, action.conditions, clock.now());
      return true;
    }
    case 'Withdraw': {
      const { name, namespace } = action;
      const body = { spec: { intent: 'Withdrawn' } };
      await orGone(() => client.patch(groupEvictionType, { namespace, name }, { type: 'merge', body }));
      return true;
    }
    case 'Claim':
    case 'LetGo':
      return patchNode(context, action);
  }
}

/** One patch, of the node as it was read: nobody else changes it in between. */
async function patchNode(
  { deps: { client }, maintenance, memory, nodes }: ActContext,
  action: Extract<MaintenanceAction, { kind: 'Claim' | 'LetGo' }>,
): Promise<boolean> {
  const node = memory.nodes.get(action.node) ?? nodes.get(action.node);
  if (node === undefined) return false;
  const { cordoned, cordonedByClaim } = readClaim(node);
  const { resourceVersion } = node.metadata;
  const body =
    action.kind === 'Claim'
      ? {
          metadata: {
            resourceVersion,
            annotations: {
              [CLAIM_ANNOTATION]: claimOf(maintenance),
              ...(!cordoned && { [CORDONED_ANNOTATION]: 'true' }),
            },
          },
          spec: { unschedulable: true },
        }
      : {
          metadata: { resourceVersion, annotations: { [CLAIM_ANNOTATION]: null, [CORDONED_ANNOTATION]: null } },
          ...(action.uncordon && cordonedByClaim && { spec: { unschedulable: null } }),
        };
  try {
    const written = await orGone(() => client.patch(nodeType, { name: action.node }, { type: 'merge', body }));
    if (written !== undefined) memory.nodes.set(action.node, written);
    return written !== undefined;
  } catch (error) {
    if (!isConflict(error)) throw error;
    const now = await orGone(() => client.get(nodeType, { name: action.node }));
    if (now !== undefined) memory.nodes.set(action.node, now);
    return false;
  }
}

/** Undefined where the object is gone. */
async function orGone<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Refused {
  readonly text: string;
  /** It is not for a budget to allow. */
  readonly access: boolean;
}

/** Undefined when the group was told to go, or had been. */
async function evict(
  { deps, maintenance }: ActContext,
  { group, plan, pods, step, whole }: Extract<MaintenanceAction, { kind: 'Evict' }>,
): Promise<Refused | undefined> {
  const { client } = deps;
  const grace = maintenance.spec?.pods?.gracePeriodSeconds;
  const named = whole ? groupOf(group) : undefined;
  if (named !== undefined) return evictWhole(client, maintenance, { ...named, grace, group, plan, step });
  const [first] = pods;
  const { groupEvictions } = deps;
  // Where a policy wants that groups are told, pods on their own are told too.
  const isTold = first !== undefined && groupEvictions && (await wantsNotice(client, first.namespace));
  for (const pod of pods) {
    if (isTold) {
      const { name, namespace } = pod;
      const alone = {
        namespace,
        spec: { podName: name },
        grace,
        group: `${namespace}/Pod/${name}/${pod.uid}`,
        plan,
        step,
      };
      const refused = await evictWhole(client, maintenance, alone);
      if (refused !== undefined) return refused;
      continue;
    }
    const answer = await evictPod(client, pod, grace, { uid: pod.uid });
    if (answer.kind === 'wait') return { text: answer.text, access: false };
    if (answer.kind === 'failed') return { text: answer.text, access: true };
  }
  return undefined;
}

/** One GroupEviction for each group of a step: that it exists already means that the group was asked for. */
export async function evictWhole(
  client: MaintenanceDeps['client'],
  maintenance: Maintenance,
  {
    grace,
    group,
    namespace,
    plan,
    spec,
    step,
  }: NonNullable<ReturnType<typeof groupOf>> & { group: string; plan: number; step: number; grace: number | undefined },
): Promise<Refused | undefined> {
  const { name: owner = '', uid = '' } = maintenance.metadata;
  const tail = `-${plan}-${step}-${nameHash(group)}`;
  const name = `${owner.slice(0, MAX_NAME - tail.length)}${tail}`;
  const reference = { apiVersion: apiVersionOf(maintenanceType), kind: maintenanceType.kind, name: owner, uid };
  try {
    await client.create(groupEvictionType, {
      metadata: { name, namespace, ownerReferences: [reference] },
      spec: {
        ...spec,
        ...(maintenance.spec?.reason && { reason: maintenance.spec.reason }),
        cause: { kind: maintenanceType.kind, name: owner },
        ...(grace !== undefined && { gracePeriodSeconds: grace }),
      },
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    if (code === 429) return { text: message, access: false };
    // None of its pods runs any more.
    if (code === 404) return undefined;
    if (code !== 409) return { text: message, access: true };
  }
  const made = await client.get(groupEvictionType, { namespace, name });
  const told = made.status?.conditions?.find(({ type }) => type === EVICTED);
  if (told?.status !== 'False') return undefined;
  // Budgets had changed their mind before it was carried out: it is asked for anew.
  await client.delete(groupEvictionType, { namespace, name }, { preconditions: { uid: made.metadata.uid } });
  return { text: told.message, access: false };
}

async function rememberRefusals(
  { deps: { client, clock }, maintenance, memory }: ActContext,
  refused: readonly (Refused & { group: string; pods: readonly string[] })[],
): Promise<void> {
  const drain = new Set((maintenance.status?.nodes ?? []).map(({ name }) => name));
  const blocks = refused.map(
    ({ group, pods }): PlannedBlock => ({ group, reason: 'BudgetAllowsNone', pods: [...pods] }),
  );
  const name = maintenance.metadata.name ?? '';
  const explained = await explainBlocks(client, blocks, { now: clock.now(), drain, name });
  for (const [at, { access, group, text }] of refused.entries()) {
    const untold: NewBlocker = {
      kind: access ? 'Access' : 'PodDisruptionBudget',
      group,
      reason: 'CannotTell',
      message: text,
    };
    const found = access ? undefined : explained[at];
    // What the budgets said a moment ago may not be so any more; then the answer itself is all there is.
    memory.refusals.set(group, [found?.name ? found : { ...untold, ...(!access && { reason: 'BudgetAllowsNone' }) }]);
  }
}
