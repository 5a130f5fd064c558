import { controllerOf } from '../../../api/core/owner.ts';
import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { isFinished, type Maintenance, type PodController } from '../../../api/quorate/maintenance.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import { isBoundToNode } from '../../../decisions/drain-question/index.ts';
import type { MaintenanceFacts, NoticeUnderWay, PodFact } from '../../../decisions/maintenance/index.ts';
import { claimOf, currentStep, isLeft, readClaim } from '../../../decisions/maintenance/index.ts';
import { type Client, isNotFound, listAll } from '../../../machinery/runtime/index.ts';
import { isAsNewAs } from '../../../machinery/values/index.ts';
import { podsOn } from '../../shared/pods-by-node.ts';
import { BY_MAINTENANCE, type MaintenanceDeps, type Memory } from './deps.ts';
import { lookAtGroups } from './groups.ts';
import { noticesToGive } from './notices.ts';

/** How old what is known about groups may be. */
const GROUPS_MS = 900;

/** Everything that decides what a Maintenance does next. */
export async function gatherFacts(
  deps: MaintenanceDeps,
  maintenance: Maintenance,
  memory: Memory,
): Promise<MaintenanceFacts> {
  const now = deps.clock.now();
  const nodes = readNodes(deps, memory);
  return {
    now,
    maintenance,
    nodes,
    pods: await readPods(deps, maintenance, nodes),
    present: await readPresent(deps, maintenance, memory),
    groups: await readGroups(deps, maintenance, memory, now),
    notices: noticesOf(deps, maintenance),
    noticeMs: await noticesToGive(deps, maintenance, memory, now),
    askAgainAt: memory.askAgainAt,
    refusals: memory.refusals,
    isUnfinished: (name) => {
      const other = deps.maintenances.get({ name });
      return other !== undefined && !isFinished(other);
    },
    written: (node, type) => memory.written.get(`${node}/${type}`),
  };
}

function noticesOf({ evictions }: MaintenanceDeps, { metadata }: Maintenance): NoticeUnderWay[] {
  return (evictions?.byIndex(BY_MAINTENANCE, metadata.name ?? '') ?? []).map(
    ({ metadata: { name = '', namespace = '' }, status }) => ({ namespace, name, deadline: status?.notice?.deadline }),
  );
}

function readNodes({ nodes }: MaintenanceDeps, memory: Memory): Map<string, Node> {
  const found = new Map(nodes.list().map((node) => [node.metadata.name ?? '', node]));
  for (const [name, own] of memory.nodes) {
    const cached = found.get(name);
    const { resourceVersion: seen = '0', uid } = cached?.metadata ?? {};
    if (cached !== undefined && uid === own.metadata.uid && !isAsNewAs(seen, own.metadata.resourceVersion ?? '0')) {
      found.set(name, own);
    } else memory.nodes.delete(name);
  }
  return found;
}

const hasToMove = (pod: Pod): boolean => !isPodFinished(pod) && !isBoundToNode(pod);

/** The pods on its nodes. A node that is empty by the cache is looked at itself before it is called drained. */
async function readPods(
  { client, pods }: MaintenanceDeps,
  maintenance: Maintenance,
  nodes: ReadonlyMap<string, Node>,
): Promise<PodFact[]> {
  const facts: PodFact[] = [];
  for (const node of maintenance.status?.nodes ?? []) {
    if (isLeft(node)) continue;
    let found = podsOn(pods, node.name).filter(hasToMove);
    const stands = nodes.get(node.name);
    const isOurs = stands !== undefined && readClaim(stands).holder === claimOf(maintenance);
    if (found.length === 0 && node.state !== 'Drained' && isOurs) {
      found = (await listAll(client, podType, undefined, `spec.nodeName=${node.name}`)).filter(hasToMove);
    }
    facts.push(...found.map(factOf));
  }
  return facts;
}

export function factOf(pod: Pod): PodFact {
  const { deletionTimestamp, name = '', namespace = '', uid = '' } = pod.metadata;
  const controller = controllerFact(pod);
  return {
    namespace,
    name,
    uid,
    node: pod.spec?.nodeName ?? '',
    going: deletionTimestamp !== undefined,
    ...(controller !== undefined && { controller }),
  };
}

function controllerFact(pod: Pod): PodController | undefined {
  const owner = controllerOf(pod);
  return owner && { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid };
}

/**
 * Which pods of the plan are there, from the step under way on. A plan is made of what the server says, which the cache may
 * not have heard of yet: a pod that the cache does not have is asked for before it is called gone.
 */
async function readPresent(
  { client, pods }: MaintenanceDeps,
  { status }: Maintenance,
  { gone }: Memory,
): Promise<Map<string, 'There' | 'Going'>> {
  const present = new Map<string, 'There' | 'Going'>();
  const { plan, step } = status ?? {};
  if (plan === undefined) return present;
  const from = Math.max(0, (step?.number ?? 0) - plan.stepsBefore - 1);
  for (const { evictions } of plan.steps.slice(from)) {
    for (const { name, namespace, uid } of evictions.flatMap((one) => one.pods)) {
      if (gone.has(uid)) continue;
      const cached = pods.get({ namespace, name });
      const pod = cached?.metadata.uid === uid ? cached : await readPod(client, { namespace, name });
      if (pod === undefined || pod.metadata.uid !== uid || isPodFinished(pod)) gone.add(uid);
      else present.set(uid, pod.metadata.deletionTimestamp === undefined ? 'There' : 'Going');
    }
  }
  return present;
}

async function readPod(client: Client, key: ObjectKey): Promise<Pod | undefined> {
  try {
    return await client.get(podType, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function readGroups(
  { client }: MaintenanceDeps,
  maintenance: Maintenance,
  memory: Memory,
  now: number,
): Promise<MaintenanceFacts['groups']> {
  const step = currentStep(maintenance);
  if (step === undefined) return undefined;
  const { plan, step: stands } = maintenance.status ?? {};
  const name = `${plan?.number ?? 0}/${stands?.number ?? 0}`;
  const known = memory.groups;
  if (known !== undefined && known.step === name && now - known.at < GROUPS_MS) return known.states;
  const states = await lookAtGroups(client, step, { begunAt: stands?.begunAt ?? '', now });
  memory.groups = { at: now, step: name, states };
  return states;
}
