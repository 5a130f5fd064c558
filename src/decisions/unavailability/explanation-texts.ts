import type { UnavailabilityOpinion, UnavailableBudgetExplanation } from './explanation.ts';

const REASONS: Readonly<Record<UnavailabilityOpinion['reason'], string>> = {
  Unprotected: 'the pod asks to be left out',
  NotServing: 'the pod serves nothing now',
  Ignored: 'it ignores the pod',
  NothingDesired: 'it asks for nothing',
  OperationNotProtected: 'it does not guard evictions',
  AlreadyRecorded: 'it has let the pod go already',
  WithinBudget: 'it has room',
  GroupAlreadyUnavailable: 'the group of the pod is short already',
  GroupHasSurplus: 'the group of the pod keeps what it needs',
  NamespaceGoing: 'its namespace is being deleted',
  OwnerGone: 'the controller of the pod is gone',
  OwnerGoing: 'the controller of the pod is being deleted',
  StatusStale: 'its numbers are older than its spec',
  BudgetExhausted: 'it has no room',
  LedgerFull: 'too many of its grants are unconfirmed',
  NoRoom: 'not all of what goes down finds a place',
  CannotTell: 'nobody can tell whether all of what goes down finds a place',
};

/** One sentence per line, for people. */
export function formatOpinions(opinions: readonly UnavailabilityOpinion[]): string[] {
  return opinions.flatMap(({ allowed, budget, causes, message, reason }) => [
    `PodUnavailableBudget ${budget} ${allowed ? 'lets it go' : 'does not let it go'}: ${REASONS[reason]} (${reason}).`,
    ...(message === undefined ? [] : [`  ${message}`]),
    ...formatCauses(causes),
  ]);
}

export function formatUnavailableBudget(explanation: UnavailableBudgetExplanation): string[] {
  const { allowed, causes, conditions, counts, observed, pods } = explanation;
  const units = counts === 'PodGroup' ? 'groups' : 'pods';
  return [
    ...formatCauses(causes.filter(({ reason }) => reason === 'QuorateBudget')).map((line) => line.trim()),
    `It covers ${pods} pods; ${allowed} more of its ${units} may become unavailable now.`,
    ...(observed ? [] : ['The controller has not seen the latest spec yet.']),
    ...conditions.map(({ message, reason, type }) => `${type} (${reason}): ${message}`),
    ...formatCauses(causes.filter(({ reason }) => reason !== 'QuorateBudget')),
  ];
}

function formatCauses(causes: readonly { readonly reason: string; readonly message: string }[]): string[] {
  return causes.map(({ message, reason }) =>
    reason === 'QuorateUnblock' ? `To unblock: ${message}.` : `  ${message}`,
  );
}
