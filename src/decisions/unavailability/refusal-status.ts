import type { ProtectedOperation } from '../../api/kruise/types.ts';
import type { IndexedBudget } from './budget-index.ts';
import type { Refused } from '../refusal-status.ts';
import type { UnavailabilityRefusal } from './judge.ts';

const STALE_RETRY_SECONDS = 10;

/**
 * The answer to a refused request. Evictions get 429, which makes drains wait and try again; anything else, and
 * everything in compatibility mode, 403. The causes say which budget, what is short, and what would help.
 */
export function formatUnavailabilityRefusal(
  operation: ProtectedOperation,
  refusals: readonly { readonly entry: IndexedBudget; readonly verdict: UnavailabilityRefusal }[],
  { compat = false }: { compat?: boolean } = {},
): Refused {
  const message = refusals.map(({ verdict }) => verdict.message).join('; ');
  const causes = refusals.flatMap(({ entry, verdict }) => [
    { reason: 'DisruptionBudget', message: verdict.message },
    ...explainRefusal(entry, verdict),
  ]);
  if (operation !== 'EVICT' || compat) return { code: 403, reason: 'Forbidden', message, causes };
  const stale = refusals.every(({ verdict }) => verdict.reason === 'StatusStale');
  return {
    code: 429,
    reason: 'TooManyRequests',
    message,
    causes,
    ...(stale ? { retryAfterSeconds: STALE_RETRY_SECONDS } : {}),
  };
}

/** What stands behind a refusal: the budget's numbers, what is short, and the smallest change that would help. */
export function explainRefusal(
  { budget, tally }: IndexedBudget,
  { reason }: Pick<UnavailabilityRefusal, 'reason'>,
): { reason: string; message: string }[] {
  const { desiredAvailable = 0, totalReplicas = 0 } = budget.status ?? {};
  const { maxUnavailable, minAvailable, podGroupPolicy } = budget.spec ?? {};
  const unit = podGroupPolicy === undefined ? 'pods' : 'groups';
  const available = podGroupPolicy === undefined ? tally.availablePods : tally.availableGroups;
  const asks = [
    ...(maxUnavailable === undefined ? [] : [`maxUnavailable ${maxUnavailable}`]),
    ...(minAvailable === undefined ? [] : [`minAvailable ${minAvailable}`]),
  ].join(', ');
  const causes = [
    {
      reason: 'QuorateBudget',
      message: `PodUnavailableBudget ${budget.metadata.name} (${asks}) counts ${unit}: ${available} of ${totalReplicas} expected available, ${desiredAvailable} needed.`,
    },
  ];
  if (reason === 'StatusStale') return causes;
  const short =
    podGroupPolicy === undefined
      ? [...tally.pods.values()]
          .filter((pod) => pod.active && !tally.isAvailable(pod))
          .map(({ name }) => `pod ${name}`)
          .sort()
      : tally.unavailableGroupNames(5).map((name) => `group ${name}`);
  for (const what of short.slice(0, 5)) causes.push({ reason: 'QuorateShort', message: `${what} is not available` });
  const help =
    short.length > 0
      ? `wait until ${short[0]} is available again`
      : minAvailable === undefined
        ? `raise maxUnavailable of ${budget.metadata.name} by 1`
        : `lower minAvailable of ${budget.metadata.name} by 1, or add one more of the ${unit}`;
  causes.push({ reason: 'QuorateUnblock', message: help });
  return causes;
}
