import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { podDisruptionBudgetType, podType } from '../api/resource-types.ts';
import {
  type DisruptionIndex,
  explainEviction,
  explanationCauses,
  formatRefusal,
  judgeEviction,
  processing,
  readBudget,
  type Refusal,
  type RefusalAnswer,
} from '../decisions/disruption/index.ts';
import { type Client, isConflict, isNotFound, sleep } from '../machinery/runtime/index.ts';
import { ABANDONED_MS } from './ledger-hold.ts';
import type { LedgerDesk } from './ledger-desk.ts';
import { hasSeen, type NamespaceFollower, sawPodsOfNow, sees } from './pods-seen.ts';
import { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface EvictionWebhook extends NamespaceFollower {
  /** Kept current from the cluster's pods, budgets, ledgers and groups. */
  readonly index: DisruptionIndex;
  readonly budget: (namespace: string, name: string) => PodDisruptionBudget | undefined;
  readonly isCordoned: (node: string) => boolean;
  readonly ledgers: LedgerDesk;
}

/** As often as the API server itself tries before it gives up. */
const ATTEMPTS = 20;
const RETRY_MS = 25;

/**
 * Judges an eviction by the groups its budget counts. Nothing is said about pods whose budget counts pods: Kubernetes
 * does that itself. A grant is written to the ledger by compare-and-swap before it is given, or given by the one replica
 * that holds the ledger, so that of any number of replicas only one can give the last.
 */
export async function reviewEviction(
  webhook: EvictionWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const pod = { namespace: request.namespace ?? '', name: request.name ?? '' };
  const dryRun = request.dryRun === true || hasDryRun(request.object);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const question = webhook.index.ask(pod.namespace, pod.name, webhook.clock.now());
    if (question === undefined) {
      const unseen = await lookForPod(webhook, pod, signal);
      if (unseen === 'Absent') return allow;
      if (unseen === 'Behind') return answer(processing('of this pod'));
      continue;
    }
    const view = question.views[0];
    if (view === undefined || question.views.length > 1) return allow;
    if (view.mode.unit === 'Pod' && view.budget.status.podGroupBudget?.status !== 'True') return allow;
    const { name: budgetName } = view.budget;
    const budget = webhook.budget(pod.namespace, budgetName);
    // Only a grant that is charged is proven by its charge; every other answer wants the ledger as it is now.
    const cached = attempt === 0 && !dryRun ? webhook.ledgers.get(pod.namespace, budgetName) : undefined;
    const ledger = cached ?? (await webhook.ledgers.read(pod.namespace, budgetName));
    if (budget === undefined || ledger === undefined) return answer(processing(budgetName));
    const { podsResourceVersion } = ledger.status ?? {};
    if (!sees(webhook, podsResourceVersion) && !(await hasSeen(webhook, podsResourceVersion, signal)))
      return answer(processing(budgetName));

    webhook.index.setBudget(readBudget({ ...budget, status: ledger.status ?? {} }, view.budget));
    const now = webhook.clock.now();
    const judgement = { isCordoned: webhook.isCordoned };
    const verdict = judgeEviction(webhook.index, pod, now, judgement);
    if (cached !== undefined && (!verdict?.allowed || verdict.charge === undefined)) continue;
    if (verdict === undefined) return allow;
    if (!verdict.allowed) return refusal(webhook, verdict, { pod, now, judgement });
    if (verdict.charge === undefined || dryRun) return allow;
    if (webhook.ledgers.isHeldElsewhere(ledger)) {
      const sawPods = (): Promise<boolean> => sawPodsOfNow(webhook, pod.namespace, signal);
      if (!(await webhook.ledgers.claim(ledger, sawPods, signal))) return answer(held(budgetName));
      continue;
    }
    const { cost } = verdict.charge;
    try {
      const charge = { namespace: pod.namespace, pod: pod.name, cost, now };
      const { status = {} } = await webhook.ledgers.charge(ledger, charge);
      webhook.index.setBudget(readBudget({ ...budget, status }, view.budget));
      return allow;
    } catch (error) {
      // Another replica or the controller was faster; judge again on what they wrote.
      if (!isConflict(error) && !(isNotFound(error) && cached !== undefined)) throw error;
      if (cached === undefined) await sleep(webhook.clock, RETRY_MS * (1 + attempt), signal);
    }
  }
  return answer({
    ...processing('of this pod'),
    message: 'Cannot evict pod: its disruption ledger changed too often, try again.',
  });
}

/** The replica that holds the ledger does not let go. */
function held(budgetName: string): RefusalAnswer {
  const message = `Cannot evict pod: the replica of Quorate that decides for budget ${budgetName} does not answer. If it is gone, the others decide after ${ABANDONED_MS / 1000} seconds; try again.`;
  return { ...processing(budgetName), message };
}

/**
 * Finds out about a pod the index does not know: it may be gone, which the API server will say itself, or so new that
 * our copy is behind.
 */
async function lookForPod(
  webhook: EvictionWebhook,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<'Absent' | 'Behind' | 'Seen'> {
  try {
    const { metadata } = await webhook.client.get(podType, key);
    const seen = await hasSeen(webhook, metadata.resourceVersion, signal);
    return seen && webhook.index.pod(key.namespace, key.name) !== undefined ? 'Seen' : 'Behind';
  } catch (error) {
    if (isNotFound(error)) return 'Absent';
    throw error;
  }
}

function hasDryRun(eviction: ReviewRequest['object']): boolean {
  const options = eviction?.['deleteOptions'] as { dryRun?: string[] } | undefined;
  return (options?.dryRun?.length ?? 0) > 0;
}

export async function readOwn(
  client: Client,
  namespace: string,
  name: string,
): Promise<PodDisruptionBudget | undefined> {
  try {
    return await client.get(podDisruptionBudgetType, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * What Kubernetes itself is about to refuse, where the pod's budget counts pods. Asked before another budget is charged
 * for an eviction that then would not happen. The budget is read anew before anything is refused here.
 */
export async function foreseeRefusal(
  webhook: EvictionWebhook,
  { name = '', namespace = '' }: ReviewRequest,
): Promise<ReviewResponse | undefined> {
  const { client, clock, index } = webhook;
  const pod = { namespace, name };
  const views = index.ask(namespace, name, clock.now())?.views ?? [];
  const [view] = views;
  if (view === undefined || views.length > 1 || view.mode.unit !== 'Pod') return undefined;
  const judgement = { isCordoned: webhook.isCordoned };
  const cached = webhook.budget(namespace, view.budget.name);
  const judge = (budget: PodDisruptionBudget): Refusal | undefined => {
    index.setBudget(readBudget(budget));
    const verdict = judgeEviction(index, pod, clock.now(), judgement);
    return verdict === undefined || verdict.allowed || !isKubernetesOwn(verdict) ? undefined : verdict;
  };
  if (cached === undefined || judge(cached) === undefined) return undefined;
  const current = await readOwn(client, namespace, view.budget.name);
  const verdict = current && judge(current);
  return verdict && refusal(webhook, verdict, { pod, now: clock.now(), judgement });
}

/** Kubernetes goes by the published numbers alone; where pods seen now make us stricter, it is not. */
function isKubernetesOwn({ reason, views }: Refusal): boolean {
  if (reason === 'BudgetExhausted') return views[0]?.allowed === 0;
  return reason === 'BudgetNotObserved' || reason === 'NegativeAllowance' || reason === 'TooManyDisruptedPods';
}

function refusal(
  { index }: EvictionWebhook,
  verdict: Refusal,
  {
    judgement,
    now,
    pod,
  }: { pod: { namespace: string; name: string }; now: number; judgement: { isCordoned: (node: string) => boolean } },
): ReviewResponse {
  const explanation = explainEviction(index, pod, now, judgement);
  return answer(formatRefusal(verdict), explanation === undefined ? [] : explanationCauses(explanation, now));
}

function answer(
  { cause, code, message, reason, retryAfterSeconds }: RefusalAnswer,
  more: readonly { reason: string; message: string }[] = [],
): ReviewResponse {
  const causes = [...(cause === undefined ? [] : [{ reason: 'DisruptionBudget', message: cause }]), ...more];
  return refuse({
    code,
    reason,
    message,
    details: { causes, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
  });
}
