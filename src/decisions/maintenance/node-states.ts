import type {
  Maintenance,
  MaintenanceNodeState,
  MaintenanceNodeStatus,
  PlannedStep,
} from '../../api/quorate/maintenance.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { claimOf, type MaintenanceFacts, readClaim } from './facts.ts';

/** Nodes in these states take no more part. */
const LEFT: ReadonlySet<MaintenanceNodeState> = new Set(['Returned', 'Released', 'Gone']);

export const isLeft = ({ state }: Pick<MaintenanceNodeStatus, 'state'>): boolean => LEFT.has(state);
/** There is nothing to do on it any more, as was asked for. */
export const isEmptied = ({ state }: Pick<MaintenanceNodeStatus, 'state'>): boolean =>
  state === 'Drained' || state === 'Returned' || state === 'Gone';

/** Whether a step has ever begun: what was claimed before is nobody's work yet. */
export const hasBegun = ({ status }: Maintenance): boolean => status?.step?.begunAt !== undefined;

/** The step under way: begun and not done. */
export function currentStep({ status }: Maintenance): PlannedStep | undefined {
  const { plan, step } = status ?? {};
  if (plan === undefined || step?.begunAt === undefined || step.doneAt !== undefined) return undefined;
  return plan.steps[step.number - 1 - plan.stepsBefore];
}

/** The states of all nodes, as the nodes themselves and the pods on them say. Rules, first match wins:
 *  1. Gone, Released and Returned stay
 *  2. the Node of this uid is not there: Gone
 *  3. let go of for another drain: Waiting
 *  4. uncordoned: after it was Drained that is Returned, while claimed it is a veto; a claim given back before anything
 *     began leaves it Waiting
 *  5. not claimed: Waiting
 *  6. nothing left that has to move: Drained
 *  7. the step under way has pods on it, or it was begun with before: Draining; else Claimed
 */
export function nextNodeStates(facts: MaintenanceFacts): MaintenanceNodeStatus[] {
  const { maintenance, now } = facts;
  const occupied = new Set(facts.pods.map(({ node }) => node));
  const inStep = new Set(currentStep(maintenance)?.evictions.flatMap(({ pods }) => pods.map(({ node }) => node)) ?? []);
  return (maintenance.status?.nodes ?? []).map((known) => {
    const state = nextState(facts, known, { occupied: occupied.has(known.name), inStep: inStep.has(known.name) });
    return state === known.state ? known : { ...known, state, since: formatTime(now) };
  });
}

function nextState(
  { maintenance, nodes }: MaintenanceFacts,
  known: MaintenanceNodeStatus,
  { inStep, occupied }: { occupied: boolean; inStep: boolean },
): MaintenanceNodeState {
  if (isLeft(known)) return known.state;
  const node = nodes.get(known.name);
  if (node === undefined || node.metadata.uid !== known.uid) return 'Gone';
  const { cordoned, holder } = readClaim(node);
  const isOurs = holder === claimOf(maintenance);
  // It let go of the node itself, for others.
  if (!isOurs && known.state !== 'Drained' && maintenance.status?.yielded !== undefined) return 'Waiting';
  if (!cordoned) {
    if (known.state === 'Drained') return 'Returned';
    if (isOurs) return 'Released';
    return known.state === 'Waiting' || !hasBegun(maintenance) ? 'Waiting' : 'Released';
  }
  if (known.state === 'Waiting' && !isOurs) return 'Waiting';
  if (!occupied) return 'Drained';
  return inStep || known.state === 'Draining' || known.state === 'Drained' ? 'Draining' : 'Claimed';
}

/** Nodes of ours whose claim is held by another Maintenance, with its name. */
export function claimedByOthers(facts: MaintenanceFacts, nodes: readonly MaintenanceNodeStatus[]): Map<string, string> {
  const mine = claimOf(facts.maintenance);
  const found = new Map<string, string>();
  for (const known of nodes) {
    if (isLeft(known)) continue;
    const node = facts.nodes.get(known.name);
    const holder = node && readClaim(node).holder;
    if (holder !== undefined && holder !== mine) found.set(known.name, holder.split('/')[0] ?? holder);
  }
  return found;
}
