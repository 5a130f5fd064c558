import type { NodeCondition } from '../../api/generated/core-v1.ts';
import type { MaintenanceNodeStatus } from '../../api/quorate/maintenance.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { type MaintenanceAction, claimOf, type MaintenanceEvent, type MaintenanceFacts, readClaim } from './facts.ts';

/** How long another writer's word about a condition of ours stands before it is set again. */
const CONTESTED_MS = 60_000;

interface Wanted {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
}

const on = (type: string, reason: string): Wanted => ({ type, status: 'True', reason });
const off = (type: string, reason: string): Wanted => ({ type, status: 'False', reason });

export interface ConditionContext {
  /** It waits for a window, or for its time. */
  readonly waits: boolean;
  /** It lets go of its nodes. */
  readonly ending: boolean;
}

/** The conditions of KEP-5683 that a node should have. What should be False is only written where it is not. */
function wantedConditions(
  { state }: MaintenanceNodeStatus,
  { ending, waits }: ConditionContext,
  cordoned: boolean,
): Wanted[] {
  const ended = (drained: boolean): Wanted[] => [
    off('MaintenancePlanned', 'MaintenanceEnded'),
    off('DrainInProgress', drained ? 'DrainCompleted' : 'DrainStopped'),
    ...(drained && cordoned ? [] : [off('Drained', 'NodeReturned')]),
    off('MaintenanceInProgress', 'MaintenanceEnded'),
  ];
  const planned = on('MaintenancePlanned', waits ? 'MaintenanceWindow' : 'AdminRequested');
  switch (state) {
    case 'Gone':
      return [];
    case 'Released':
      return ended(false);
    case 'Returned':
      return [
        off('MaintenancePlanned', 'MaintenanceEnded'),
        off('DrainInProgress', 'DrainCompleted'),
        off('Drained', 'NodeReturned'),
        off('MaintenanceInProgress', 'NodeReturned'),
      ];
    case 'Drained':
      if (ending) return ended(true);
      return [
        off('MaintenancePlanned', 'MaintenanceStarted'),
        off('DrainInProgress', 'DrainCompleted'),
        on('Drained', 'DrainCompleted'),
        on('MaintenanceInProgress', 'AdminRequested'),
      ];
    case 'Waiting':
      return ending ? ended(false) : [planned];
    default:
      return ending ? ended(false) : [planned, on('DrainInProgress', 'AdminRequested'), off('Drained', 'PodsPresent')];
  }
}

/** What has to be written, and which conditions others keep changing. */
export function conditionActions(
  facts: MaintenanceFacts,
  states: readonly MaintenanceNodeStatus[],
  context: ConditionContext,
): { actions: MaintenanceAction[]; events: MaintenanceEvent[]; lookAgainAt: number | undefined } {
  const { maintenance, now } = facts;
  const name = maintenance.metadata.name ?? '';
  const actions: MaintenanceAction[] = [];
  const events: MaintenanceEvent[] = [];
  let lookAgainAt: number | undefined;
  for (const known of states) {
    const node = facts.nodes.get(known.name);
    if (node === undefined || node.metadata.uid !== known.uid) continue;
    const { cordoned, holder } = readClaim(node);
    // What another Maintenance has claimed is told of by that one.
    if (holder !== undefined && holder !== claimOf(maintenance)) continue;
    const found = new Map((node.status?.conditions ?? []).map((one) => [one.type, one]));
    const conditions: NodeCondition[] = [];
    for (const { reason, status, type } of wantedConditions(known, context, cordoned)) {
      const current = found.get(type);
      if (current?.status === status || (status === 'False' && current === undefined)) continue;
      const last = facts.written(known.name, type);
      if (last?.status === status) {
        if (now - last.at < CONTESTED_MS) {
          lookAgainAt = Math.min(lookAgainAt ?? Number.POSITIVE_INFINITY, last.at + CONTESTED_MS);
          continue;
        }
        const message = `condition ${type} was changed by another writer; it is ${status} again, for maintenance ${name}`;
        events.push({ type: 'Warning', reason: 'ConditionContested', message, node: known.name });
      }
      const at = formatTime(now);
      const message = `Maintenance ${name}`;
      conditions.push({ type, status, reason, message, lastTransitionTime: at, lastHeartbeatTime: at });
    }
    if (conditions.length > 0) actions.push({ kind: 'SetConditions', node: known.name, conditions });
  }
  return { actions, events, lookAgainAt };
}
