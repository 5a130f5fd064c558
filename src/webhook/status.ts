import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../api/generated/policy-v1.ts';
import { type DisruptionLedger, isLedgerOf } from '../api/quorate/types.ts';
import {
  adoptStatus,
  type Adoption,
  changesRecordsOnly,
  type DisruptionIndex,
  isMarked,
  keptStatus,
  type ProposedStatus,
  PUBLICATION,
  readBudget,
} from '../decisions/disruption/index.ts';
import { hasSeen, type PodsFollower, sees } from './pods-seen.ts';
import { allow, allowWith, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface StatusWebhook extends PodsFollower {
  readonly index: DisruptionIndex;
  /** The newest version known here, with what was granted here since. */
  readonly ledger: (namespace: string, name: string) => DisruptionLedger | undefined;
  /** Whether numbers of a namespace may be ours for the first time: evictions there are judged. */
  readonly mayPublish: (namespace: string) => boolean;
  readonly answered?: ((result: Adoption) => void) | undefined;
  /** By which formula numbers are computed here. Default: this version's. */
  readonly formula?: number | undefined;
}

/** The API server waits two seconds, and whoever writes waits with it. */
const PODS_LIMIT_MS = 500;

/**
 * Puts our pod numbers into a status that somebody else writes, usually the built-in disruption controller, where the
 * budget counts groups. It never refuses and writes nothing itself; see ADR 0018.
 */
export async function reviewStatus(
  webhook: StatusWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const asked = proposedIn(request);
  const { clock, index } = webhook;
  const { generation = 0, name = '', namespace = '' } = asked.proposed.metadata;
  const known = index.budget(namespace, name);
  // What is proposed is older than what is known here: it will not be written.
  if (known !== undefined && known.generation > generation) return keepStatus(request);
  const found = webhook.ledger(namespace, name);
  const isJudged = isMarked(asked.old) || webhook.mayPublish(namespace);
  const ledger = isJudged && found !== undefined && isLedgerOf(found, asked.proposed) ? found : undefined;
  const isFresh = await isFreshEnough(webhook, ledger, signal);
  const status = ledger?.status === undefined ? {} : { ...ledger.status, grants: ledger.status.grants ?? [] };
  const facts = readBudget({ ...asked.proposed, status }, known);
  const now = clock.now();
  const { disruptedPods } = asked.proposed.status ?? {};
  const { mode, publication } = index.suppose([facts], () => ({
    mode: index.count(namespace, name, now)?.mode ?? IN_PODS,
    publication: isFresh ? index.publication(namespace, name, now, disruptedPods) : undefined,
  }));
  const { observedGeneration } = ledger?.status ?? {};
  const adopted = adoptStatus(asked, { mode, publication, observedGeneration }, now);
  webhook.answered?.(adopted.result);
  return answer(asked, adopted.status);
}

const IN_PODS = { unit: 'Pod', reason: 'NoGroupedPods' } as const;

/** Where nothing can be decided: numbers that are ours stay, others are nobody's business. */
export function keepStatus(request: ReviewRequest): ReviewResponse {
  const asked = proposedIn(request);
  return isMarked(asked.old) ? answer(asked, keptStatus(asked)) : allow;
}

function proposedIn({ object, oldObject }: ReviewRequest): ProposedStatus {
  return { old: (oldObject ?? {}) as PodDisruptionBudget, proposed: (object ?? {}) as never };
}

function answer(asked: ProposedStatus, status: PodDisruptionBudgetStatus): ReviewResponse {
  const { old, proposed } = asked;
  if (status === proposed.status) return allow;
  const rewrite = { op: proposed.status === undefined ? 'add' : 'replace', path: '/status', value: status } as const;
  if (!changesRecordsOnly(asked, status)) return allowWith([rewrite]);
  return allowWith([rewrite, { op: 'replace', path: '/metadata/managedFields', value: old.metadata.managedFields }]);
}

/** Only who knows the ledger, pods as new as those it was counted from, and the formula in force may say numbers. */
async function isFreshEnough(
  webhook: StatusWebhook,
  ledger: DisruptionLedger | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { formula = PUBLICATION } = webhook;
  if (ledger?.status === undefined || ledger.status.publication !== formula) return false;
  const { podsResourceVersion } = ledger.status;
  return sees(webhook, podsResourceVersion) || hasSeen(webhook, podsResourceVersion, signal, PODS_LIMIT_MS);
}
