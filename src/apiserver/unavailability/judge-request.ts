import type { PodUnavailableBudgetStatus, ProtectedOperation } from '../../api/kruise/types.ts';
import {
  chargedUnavailability,
  formatUnavailabilityRefusal,
  foundRooms,
  type UnavailabilityGrant,
  type IndexedBudget,
  judgeUnavailability,
  keepFoundRoom,
  refusedBudgets,
  type RefusedRequest,
  type UnavailabilityGates,
} from '../../decisions/unavailability/index.ts';
import type { RoomJudge } from '../../decisions/disruption/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import { holdRooms, refusalError } from '../eviction/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey } from '../registry/resource.ts';
import type { ApiError } from '../exchange/status.ts';
import { putObject } from '../stored/encoding.ts';
import { leftoverOf } from './leftovers.ts';
import type { PodRequest } from './pod-request.ts';
import type { UnavailabilityView } from './view.ts';

export interface Guarding {
  readonly context: ServerContext;
  readonly view: UnavailabilityView;
  readonly gates: UnavailabilityGates;
  /** OpenKruise's quirks instead of the safer rules. */
  readonly compat: boolean;
  /** Tells metrics and events of a refusal. */
  readonly refused: (refusal: RefusedRequest) => void;
  /** Who knows the nodes, for budgets that ask for room. */
  readonly room: () => RoomJudge | undefined;
}

export type JudgedRequest =
  | { readonly allowed: true; charge(transaction: Transaction): void }
  | { readonly allowed: false; readonly refusal: ApiError };

/** Asks every budget that covers the pod; writes nothing yet. */
export function judgeRequest(guarding: Guarding, request: PodRequest, transaction: Transaction): JudgedRequest {
  const { compat, gates, context, view } = guarding;
  const { dryRun, namespace, operation, pod, username } = request;
  const index = view.of(namespace);
  const podName = pod.metadata.name ?? '';
  const nowMs = context.clock.now();
  const judgement = judgeUnavailability({
    operation,
    pod,
    covering: index.judging(podName),
    gates,
    scaleOf: (uid) => view.scaleOf(uid),
    nowMs,
    compat,
    leftover: () => leftoverOf(context, transaction, request),
    room: { judge: guarding.room() },
  });
  if (!judgement.allowed) {
    // OpenKruise counts what it refuses in dry runs too.
    if (!dryRun || compat) {
      guarding.refused({ pod, operation, username, budgets: refusedBudgets(namespace, judgement.refusals) });
    }
    const answer = formatUnavailabilityRefusal(operation, judgement.refusals, { compat });
    return { allowed: false, refusal: refusalError(answer) };
  }
  return {
    allowed: true,
    charge(transaction) {
      const rooms = foundRooms(judgement.grants);
      keepFoundRoom(guarding.room(), rooms, nowMs);
      holdRooms({ context, judge: guarding.room() }, transaction, rooms, nowMs);
      for (const { entry, verdict } of judgement.grants) {
        charge(guarding, transaction, { entry, verdict, operation, podName, nowMs });
      }
    },
  };
}

interface ChargeRequest {
  readonly entry: IndexedBudget;
  readonly verdict: UnavailabilityGrant;
  readonly operation: ProtectedOperation;
  readonly podName: string;
  readonly nowMs: number;
}

function charge({ compat, context }: Guarding, transaction: Transaction, request: ChargeRequest): void {
  const { entry, nowMs, operation, podName, verdict } = request;
  const status = chargedUnavailability(entry.budget.status, verdict, {
    operation,
    podName,
    nowMs,
    compat,
    pods: entry.tally.pods,
  });
  if (status !== undefined) writeStatus(context, transaction, entry, status);
}

export function writeStatus(
  context: ServerContext,
  transaction: Transaction,
  { budget: { metadata } }: IndexedBudget,
  status: PodUnavailableBudgetStatus,
): void {
  const resource = context.registry.byPlural('policy.kruise.io', 'podunavailablebudgets');
  if (resource === undefined) return;
  const key = objectKey(resource, metadata.namespace, metadata.name ?? '');
  const stored = transaction.get(key);
  if (stored === undefined) return;
  const { managedFields, object: budget } = context.objects.readParts(stored);
  const object = { ...budget, metadata: { ...budget.metadata }, status } as ApiObject;
  putObject(context, transaction, { resource, key, object, managedFields });
}
