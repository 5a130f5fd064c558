import type { Pod } from '../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget, type ProtectedOperation } from '../api/kruise/types.ts';
import {
  type BudgetIndex,
  type BudgetIndexes,
  chargedStatus,
  classifyUpdate,
  formatUnavailabilityRefusal,
  type Grant,
  type IndexedBudget,
  isUnseenByKruise,
  judgeUnavailability,
  refusedBudgets,
  type RefusedRequest,
  type UnavailabilityGates,
} from '../decisions/unavailability/index.ts';
import { type Client, isConflict, isNotFound, sleep } from '../machinery/runtime/index.ts';
import { isLeftover } from './leftovers.ts';
import { hasSeen, type PodsFollower, sees } from './pods-seen.ts';
import { type Proof, provePod } from './proof.ts';
import { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface PodWebhook extends PodsFollower {
  readonly client: Client;
  /** Kept current from the cluster's pods and budgets. */
  readonly indexes: BudgetIndexes;
  readonly gates: UnavailabilityGates;
  readonly scaleOf: (ownerUid: string) => number | undefined;
  /** OpenKruise's quirks instead of the safer rules. */
  readonly compat?: boolean | undefined;
  /** Tells metrics and events of a refusal. */
  readonly refused?: ((refusal: RefusedRequest) => void) | undefined;
}

const ATTEMPTS = 4;
const RETRY_MS = 100;

/**
 * Judges evictions, deletes, updates and resizes of pods by the PodUnavailableBudgets that cover them. Without `charge`
 * it only says what the answer would be.
 */
export async function reviewPod(
  webhook: PodWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
  { charge = true }: { charge?: boolean } = {},
): Promise<ReviewResponse> {
  const namespace = request.namespace ?? '';
  const index = webhook.indexes.of(namespace);
  const old = subjectOf(index, request);
  const name = old?.metadata.name ?? '';
  const operation = old && operationOf(webhook, request, { old, keys: groupKeys(index.judging(name)) });
  if (operation === undefined) return allow;
  // OpenKruise reads the options of a request only, so that `?dryRun=All` on an eviction is charged.
  const dryRun = hasDryRun(request) || (request.dryRun === true && webhook.compat !== true);
  const claimed = request.subResource === 'eviction' || dryRun || !charge ? undefined : old;
  const proof = await proofOf(webhook, claimed, { index, namespace });
  if (proof?.found === 'Gone') return allow;
  if (proof?.found === 'Other') return tryAgain(webhook, operation, `pod ${name} is not the one that was asked about`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    for (let unseen = unseenPods(webhook, index.judging(name)); unseen !== undefined; ) {
      if (!(await hasSeen(webhook, unseen, signal)))
        return tryAgain(webhook, operation, `the budgets of pod ${name} were counted from pods not seen here yet`);
      unseen = unseenPods(webhook, index.judging(name));
    }
    const pod = proof?.pod ?? subjectOf(index, request);
    if (pod === undefined) return allow;
    const judgement = judgeUnavailability({
      operation,
      pod,
      covering: index.judging(name),
      gates: webhook.gates,
      scaleOf: webhook.scaleOf,
      nowMs: webhook.clock.now(),
      compat: webhook.compat,
    });
    const { username = '' } = request.userInfo ?? {};
    if (!judgement.allowed && (await isLeftover(webhook.client, { namespace, operation, username, pod }))) return allow;
    if (!judgement.allowed) {
      if (!dryRun || webhook.compat === true) {
        webhook.refused?.({ pod, operation, username, budgets: refusedBudgets(namespace, judgement.refusals) });
      }
      const { causes, code, message, reason, retryAfterSeconds } = formatUnavailabilityRefusal(
        operation,
        judgement.refusals,
        { compat: webhook.compat ?? false },
      );
      const details = { causes: [...causes], ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
      return refuse({ code, reason, message, details });
    }
    if (dryRun || !charge) return allow;
    try {
      await commit(webhook, judgement.grants, { operation, podName: name, namespace });
      return allow;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Somebody was faster: read what they wrote and judge again.
      await refresh(webhook, namespace, judgement.grants);
      if (attempt < ATTEMPTS - 1) await sleep(webhook.clock, RETRY_MS * (attempt + 1), signal);
      else if (judgement.grants.every(({ verdict }) => !verdict.record || verdict.bestEffort)) return allow;
    }
  }
  return tryAgain(webhook, operation, `the budgets of pod ${name} changed too often`);
}

/** Undefined where there is nothing to prove: no claim, or no budget that could be charged by it. */
async function proofOf(
  { client }: PodWebhook,
  claimed: Pod | undefined,
  { index, namespace }: { index: BudgetIndex; namespace: string },
): Promise<Proof | undefined> {
  const name = claimed?.metadata.name ?? '';
  if (claimed === undefined || index.judging(name).length === 0) return undefined;
  return provePod(client, { ...claimed, metadata: { ...claimed.metadata, namespace } }, index.pod(name));
}

/** The pod as it was before the request. */
function subjectOf(index: BudgetIndex, { name = '', oldObject, subResource }: ReviewRequest): Pod | undefined {
  if (subResource === 'eviction') return name === '' ? undefined : index.pod(name);
  return (oldObject as Pod | null | undefined) ?? undefined;
}

function tryAgain({ compat }: PodWebhook, operation: ProtectedOperation, why: string): ReviewResponse {
  const message = `${why}, try again`;
  // Drains wait only for 429.
  return operation === 'EVICT' && compat !== true
    ? refuse({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds: 1 } })
    : refuse({ code: 409, reason: 'Conflict', message });
}

/**
 * The version of the pods that one of the budgets was counted from, where ours are older. The controller forgets what
 * was granted once it sees it done; by pods that do not show it yet, groups that are down would count as available.
 */
export function unseenPods(webhook: PodsFollower, covering: readonly IndexedBudget[]): string | undefined {
  const wanted = covering.map(({ budget }) => budget.status?.groupStatus?.podsResourceVersion);
  return wanted.find((version) => !sees(webhook, version));
}

function operationOf(
  { compat = false }: PodWebhook,
  request: ReviewRequest,
  { keys, old }: { old: Pod; keys: readonly string[] },
): ProtectedOperation | undefined {
  if (request.subResource === 'eviction') return 'EVICT';
  if (request.operation === 'DELETE') return request.subResource ? undefined : 'DELETE';
  if (request.operation !== 'UPDATE' || (request.subResource !== undefined && request.subResource !== 'resize'))
    return undefined;
  if (compat && isUnseenByKruise(request.object as unknown as Pod, request.subResource)) return undefined;
  return classifyUpdate(request.object as unknown as Pod, old, keys);
}

function groupKeys(covering: readonly IndexedBudget[]): string[] {
  return covering.flatMap(({ budget }) => budget.spec?.podGroupPolicy?.groupLabelKey ?? []);
}

function hasDryRun({ object, options }: ReviewRequest): boolean {
  const asked = [options?.['dryRun'], (object?.['deleteOptions'] as { dryRun?: unknown } | undefined)?.dryRun];
  return asked.some((list) => Array.isArray(list) && list.length > 0);
}

/** Charges one budget after the other, in order of name; what was charged before a failure is taken back. */
async function commit(
  { client, clock, compat, indexes }: PodWebhook,
  grants: readonly { readonly entry: IndexedBudget; readonly verdict: Grant }[],
  { namespace, operation, podName }: { operation: ProtectedOperation; podName: string; namespace: string },
): Promise<void> {
  const done: { before: PodUnavailableBudget; after: PodUnavailableBudget }[] = [];
  for (const { entry, verdict } of grants) {
    const status = chargedStatus(entry.budget.status, verdict, { operation, podName, nowMs: clock.now(), compat });
    if (status === undefined) continue;
    try {
      const after = await client.updateStatus(POD_UNAVAILABLE_BUDGETS, { ...entry.budget, status });
      indexes.of(namespace).setBudget(after);
      done.push({ before: entry.budget, after });
    } catch (error) {
      // A budget that is gone guards nothing.
      if (isNotFound(error)) continue;
      for (const { after, before } of done) {
        await client.updateStatus(POD_UNAVAILABLE_BUDGETS, { ...after, status: before.status }).catch(() => {});
      }
      throw error;
    }
  }
}

export async function refresh(
  { client, indexes }: Pick<PodWebhook, 'client' | 'indexes'>,
  namespace: string,
  grants: readonly { readonly entry: IndexedBudget }[],
): Promise<void> {
  for (const { entry } of grants) {
    const name = entry.budget.metadata.name ?? '';
    try {
      indexes.of(namespace).setBudget(await client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      indexes.of(namespace).deleteBudget(name);
    }
  }
}
