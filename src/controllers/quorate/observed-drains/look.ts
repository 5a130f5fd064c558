import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { isFinished, type Maintenance, maintenanceType } from '../../../api/quorate/maintenance.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { nodeType } from '../../../api/resource-types.ts';
import { isBoundToNode } from '../../../decisions/drain-question/index.ts';
import { sinceBefore } from '../../../decisions/maintenance/index.ts';
import { type DrainMark, isDrainMark, nextObserved, readMark } from '../../../decisions/observed-drains/index.ts';
import { isConflict, isNotFound } from '../../../machinery/runtime/index.ts';
import { parseTime, semanticEqual } from '../../../machinery/values/index.ts';
import { podsOn } from '../../shared/pods-by-node.ts';
import type { ObservedDeps, ObservedMemory } from './deps.ts';
import { lookAtBudgets, moveGroups } from './budgets.ts';

const nameOf = (node: string): string => `observed-${node}`;

/** One look at all nodes: what is marked gets a Maintenance, and what became of those there are is written. */
export async function lookForDrains(deps: ObservedDeps): Promise<void> {
  const nodes = deps.nodes.list();
  const contextOf = await deps.elsewhere.read(nodes);
  const now = deps.clock.now();
  for (const node of nodes) {
    const name = nameOf(node.metadata.name ?? '');
    const known = deps.maintenances.get({ name });
    const seenAt = parseTime(known?.metadata.creationTimestamp) ?? now;
    const mark = readMark(node, { ...contextOf(node), seenAt });
    if (known !== undefined) {
      if (known.spec?.source !== undefined && known.metadata.deletionTimestamp === undefined) {
        await follow(deps, known, node, mark);
      }
    } else if (isDrainMark(mark)) await create(deps, node, mark);
  }
}

async function create({ client }: ObservedDeps, node: Node, { source }: DrainMark): Promise<void> {
  const { name = '', uid = '' } = node.metadata;
  const owner = { apiVersion: apiVersionOf(nodeType), kind: nodeType.kind, name, uid };
  try {
    await client.create(maintenanceType, {
      metadata: { name: nameOf(name), ownerReferences: [owner] },
      spec: { nodes: { names: [name] }, reason: `${source.driver} drains it`, source },
    });
  } catch (error) {
    // The cache has not heard of it yet.
    if (!isConflict(error)) throw error;
  }
}

async function follow(deps: ObservedDeps, known: Maintenance, node: Node, mark: DrainMark | undefined): Promise<void> {
  const name = known.metadata.name ?? '';
  const memory: ObservedMemory = deps.memories.get(name) ?? {
    lookedAt: 0,
    askedAt: 0,
    blockers: [],
    warned: new Set(),
  };
  deps.memories.set(name, memory);
  try {
    const maintenance = isDrainMark(mark) ? await withSource(deps, known, mark) : known;
    const pods = podsOn(deps.pods, node.metadata.name ?? '').filter(hasToMove);
    const running = isDrainMark(mark) && !isFinished(maintenance) && pods.length > 0;
    if (running && mark.means !== 'Planned') {
      await lookAtBudgets(deps, memory, maintenance, pods);
      if (deps.moves) await moveGroups(deps, memory, maintenance, pods);
    }
    const now = deps.clock.now();
    const step = nextObserved({
      maintenance,
      mark,
      nodeUid: node.metadata.uid ?? '',
      left: pods.length,
      blockers: sinceBefore(running ? memory.blockers : [], maintenance.status?.blockers, now),
      now,
    });
    if (step.kind === 'Delete') {
      deps.memories.delete(name);
      await deps.client.delete(maintenanceType, { name }, { preconditions: { uid: maintenance.metadata.uid } });
    } else if (!semanticEqual(maintenance.status ?? {}, step.status)) {
      await deps.client.updateStatus(maintenanceType, { ...maintenance, status: step.status });
    }
  } catch (error) {
    // Somebody else wrote, or it is gone: the next look tells.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

const hasToMove = (pod: Pod): boolean => !isPodFinished(pod) && !isBoundToNode(pod);

/** Deadlines come to be known, and others take over. */
async function withSource({ client }: ObservedDeps, known: Maintenance, { source }: DrainMark): Promise<Maintenance> {
  if (isFinished(known) || semanticEqual(known.spec?.source, source)) return known;
  const body = { metadata: { resourceVersion: known.metadata.resourceVersion }, spec: { source } };
  return client.patch(maintenanceType, { name: known.metadata.name ?? '' }, { type: 'merge', body });
}
