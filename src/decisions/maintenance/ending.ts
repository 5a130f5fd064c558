import { DEFAULT_MAINTENANCE_TTL_SECONDS, MAINTENANCE_FINALIZER } from '../../api/quorate/maintenance.ts';
import type { MaintenanceNodeStatus, MaintenanceStatus } from '../../api/quorate/maintenance.ts';
import { parseTime } from '../../machinery/values/index.ts';
import type { Decision, MaintenanceEnding } from './decision.ts';
import { type MaintenanceAction, claimOf, type MaintenanceFacts, readClaim, withdrawals } from './facts.ts';
import { conditionActions } from './node-conditions.ts';
import { currentStep, isEmptied, isLeft } from './node-states.ts';
import { findStaleness } from './stale.ts';
import { stepsToCome } from './progress.ts';
import { finishStatus } from './status.ts';

/**
 * Whether a Maintenance ends now. Rules, first match wins: it was cancelled or deleted; its deadline has passed; every
 * step is done and no node is left to drain.
 */
export function findEnding(
  facts: MaintenanceFacts,
  nodes: readonly MaintenanceNodeStatus[],
): MaintenanceEnding | undefined {
  const { maintenance, now } = facts;
  const { metadata, spec, status } = maintenance;
  if (metadata.deletionTimestamp !== undefined || spec?.cancelled === true) {
    const message = spec?.cancelled === true ? 'it was cancelled' : 'it was deleted';
    return { phase: 'Cancelled', reason: 'Cancelled', message };
  }
  const deadline = parseTime(spec?.deadline);
  if (deadline !== undefined && deadline <= now) {
    const message = `its deadline ${spec?.deadline ?? ''} has passed; no budget was overridden`;
    return { phase: 'Failed', reason: 'DeadlineExceeded', message };
  }
  if (status?.plan === undefined || currentStep(maintenance) !== undefined || spec?.paused === true) return undefined;
  if (stepsToCome(status).steps.length > 0 || !nodes.every((node) => isEmptied(node) || isLeft(node))) return undefined;
  if (findStaleness(facts, nodes).stale) return undefined;
  const released = nodes.filter(({ state }) => state === 'Released').map(({ name }) => name);
  if (released.length > 0) {
    const message = `${released.join(', ')}: uncordoned by somebody else before it was drained`;
    if (spec?.mode === 'BestEffort') return { phase: 'Done', reason: 'Incomplete', message };
    return { phase: 'Failed', reason: 'NodesReleased', message };
  }
  const unknown = status.blockers?.filter(({ reason }) => reason === 'NodesNotFound') ?? [];
  if (unknown.length > 0) {
    const message = `no such node: ${unknown.map(({ name }) => name ?? '').join(', ')}`;
    return { phase: 'Done', reason: 'Incomplete', message };
  }
  return { phase: 'Done', reason: 'Drained', message: `${nodes.length} nodes are drained` };
}

/** Lets go of every node first; the final phase is the last write. */
export function endWith(
  facts: MaintenanceFacts,
  nodes: readonly MaintenanceNodeStatus[],
  ending: MaintenanceEnding,
): Decision {
  const { maintenance } = facts;
  const uncordon = maintenance.spec?.uncordon === 'WhenFinished';
  const actions: MaintenanceAction[] = withdrawals(facts);
  for (const { name, uid } of nodes) {
    const node = facts.nodes.get(name);
    if (node === undefined || node.metadata.uid !== uid) continue;
    if (readClaim(node).holder === claimOf(maintenance)) actions.push({ kind: 'LetGo', node: name, uncordon });
  }
  const told = conditionActions(facts, nodes, { ending: true, waits: false });
  actions.push(...told.actions);
  if (actions.length > 0) {
    const status: MaintenanceStatus = { ...maintenance.status, nodes: [...nodes] };
    return { actions, status, events: told.events, again: true };
  }
  const type = ending.phase === 'Done' ? 'Normal' : 'Warning';
  return {
    actions: [],
    status: finishStatus(facts, nodes, ending),
    events: [{ type, reason: ending.phase, message: ending.message }],
    again: true,
  };
}

/** What is left to do with one that has ended: nothing, until its time is over or somebody deletes it. */
export function afterEnd({ maintenance, now }: MaintenanceFacts): Decision {
  const { metadata, spec, status = {} } = maintenance;
  const quiet = { status, events: [] };
  if (metadata.finalizers?.includes(MAINTENANCE_FINALIZER) === true) {
    return { ...quiet, actions: [{ kind: 'RemoveFinalizer' }] };
  }
  if (metadata.deletionTimestamp !== undefined) return { ...quiet, actions: [] };
  const ttl = spec?.ttlSecondsAfterFinished ?? DEFAULT_MAINTENANCE_TTL_SECONDS;
  const due = (parseTime(status.finishedAt) ?? now) + ttl * 1000;
  if (due <= now) return { ...quiet, actions: [{ kind: 'Delete' }] };
  return { ...quiet, actions: [], lookAgainAt: due };
}

/** The status of one whose nodes are not there: it ends before it has touched anything. */
export function endedUnfound(facts: MaintenanceFacts, message: string): MaintenanceStatus {
  return finishStatus(facts, [], { phase: 'Failed', reason: 'NodesNotFound', message });
}
