import type { ProtectedOperation } from '../../api/kruise/types.ts';
import type { IndexedBudget } from './budget-index.ts';
import type { Refused, RefusalCause } from '../refusal-status.ts';
import type { UnavailabilityRefusal } from './judge.ts';

const STALE_RETRY_SECONDS = 10;
const ROOM_RETRY_SECONDS = 10;

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
  const waits = refusals.map(({ verdict }) => retryAfter(verdict)).filter((seconds) => seconds !== undefined);
  return {
    code: 429,
    reason: 'TooManyRequests',
    message,
    causes,
    ...(waits.length === refusals.length ? { retryAfterSeconds: Math.max(...waits) } : {}),
  };
}

/** When it is worth another try, where that is known. */
function retryAfter({ reason, retryAfterSeconds, room }: UnavailabilityRefusal): number | undefined {
  if (room !== undefined) return retryAfterSeconds ?? ROOM_RETRY_SECONDS;
  return reason === 'StatusStale' ? STALE_RETRY_SECONDS : undefined;
}

/** What stands behind a refusal: the budget's numbers, what is short, and the smallest change that would help. */
export function explainRefusal(
  { budget, tally }: IndexedBudget,
  { reason, room }: Pick<UnavailabilityRefusal, 'reason' | 'room'>,
): RefusalCause[] {
  const { desiredAvailable = 0, totalReplicas = 0 } = budget.status ?? {};
  const { maxUnavailable, minAvailable, podGroupPolicy } = budget.spec ?? {};
  const unit = podGroupPolicy === undefined ? 'pods' : 'groups';
  const available = podGroupPolicy === undefined ? tally.availablePods : tally.availableGroups;
  const asks = [
    ...(maxUnavailable === undefined ? [] : [`maxUnavailable ${maxUnavailable}`]),
    ...(minAvailable === undefined ? [] : [`minAvailable ${minAvailable}`]),
  ].join(', ');
  const causes: RefusalCause[] = [
    ...(room === undefined ? [] : [{ reason, message: room, field: 'spec' }]),
    {
      reason: 'QuorateBudget',
      message: `PodUnavailableBudget ${budget.metadata.name} (${asks}) counts ${unit}: ${available} of ${totalReplicas} expected available, ${desiredAvailable} needed.`,
    },
  ];
  if (reason === 'StatusStale') return causes;
  if (room !== undefined) {
    const help = `make room for all of it, or wait until there is; ${budget.metadata.name} asks for it (spec.capacityPolicy)`;
    return [...causes, { reason: 'QuorateUnblock', message: help }];
  }
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
