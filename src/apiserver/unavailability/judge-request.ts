import type { PodUnavailableBudgetStatus, ProtectedOperation } from '../../api/kruise/types.ts';
import {
  chargedStatus,
  formatUnavailabilityRefusal,
  type Grant,
  type IndexedBudget,
  judgeUnavailability,
  refusedBudgets,
  type RefusedRequest,
  type UnavailabilityGates,
} from '../../decisions/unavailability/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { ApiObject } from '../object.ts';
import { objectKey } from '../registry/row.ts';
import { type ApiError, failure } from '../status.ts';
import { putObject } from '../stored/encoding.ts';
import { isLeftover } from './leftovers.ts';
import type { PodRequest } from './pod-request.ts';
import type { UnavailabilityView } from './view.ts';

export interface Guarding {
  readonly kernel: Kernel;
  readonly view: UnavailabilityView;
  readonly gates: UnavailabilityGates;
  /** OpenKruise's quirks instead of the safer rules. */
  readonly compat: boolean;
  /** Tells metrics and events of a refusal. */
  readonly refused: (refusal: RefusedRequest) => void;
}

export type Judged =
  | { readonly allowed: true; charge(transaction: Transaction): void }
  | { readonly allowed: false; readonly refusal: ApiError };

/** Asks every budget that covers the pod; writes nothing yet. */
export function judgeRequest(guarding: Guarding, request: PodRequest, transaction: Transaction): Judged {
  const { compat, gates, kernel, view } = guarding;
  const { dryRun, namespace, operation, pod, username } = request;
  const index = view.of(namespace);
  const podName = pod.metadata.name ?? '';
  const nowMs = kernel.clock.now();
  const judgement = judgeUnavailability({
    operation,
    pod,
    covering: index.judging(podName),
    gates,
    scaleOf: (uid) => view.scaleOf(uid),
    nowMs,
    compat,
  });
  if (!judgement.allowed && isLeftover(kernel, transaction, request)) return { allowed: true, charge: () => {} };
  if (!judgement.allowed) {
    const { causes, code, message, reason, retryAfterSeconds } = formatUnavailabilityRefusal(
      operation,
      judgement.refusals,
      { compat },
    );
    // OpenKruise counts what it refuses in dry runs too.
    if (!dryRun || compat) {
      guarding.refused({ pod, operation, username, budgets: refusedBudgets(namespace, judgement.refusals) });
    }
    const details = { causes: [...causes], ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
    return { allowed: false, refusal: failure(code, reason, message, { details }) };
  }
  return {
    allowed: true,
    charge(transaction) {
      for (const { entry, verdict } of judgement.grants) {
        charge(guarding, transaction, { entry, verdict, operation, podName, nowMs });
      }
    },
  };
}

interface ChargeRequest {
  readonly entry: IndexedBudget;
  readonly verdict: Grant;
  readonly operation: ProtectedOperation;
  readonly podName: string;
  readonly nowMs: number;
}

function charge({ compat, kernel }: Guarding, transaction: Transaction, request: ChargeRequest): void {
  const { entry, nowMs, operation, podName, verdict } = request;
  const status = chargedStatus(entry.budget.status, verdict, {
    operation,
    podName,
    nowMs,
    compat,
    pods: entry.tally.pods,
  });
  if (status !== undefined) writeStatus(kernel, transaction, entry, status);
}

export function writeStatus(
  kernel: Kernel,
  transaction: Transaction,
  { budget: { metadata } }: IndexedBudget,
  status: PodUnavailableBudgetStatus,
): void {
  const row = kernel.registry.byPlural('policy.kruise.io', 'podunavailablebudgets');
  if (row === undefined) return;
  const key = objectKey(row, metadata.namespace, metadata.name ?? '');
  const stored = transaction.get(key);
  if (stored === undefined) return;
  const { managedFields, object: budget } = kernel.objects.readParts(stored);
  const object = { ...budget, metadata: { ...budget.metadata }, status } as ApiObject;
  putObject(kernel, transaction, { row, key, object, managedFields });
}
