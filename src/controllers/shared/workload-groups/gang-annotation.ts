/** On a Job or LeaderWorkerSet: `true` for all pods of a group at once, a number for at least that many. */
export const GANG_ANNOTATION = 'scheduling.quorate.dev/gang';

/** `Declined` is a `false` somebody wrote; an annotation that is not there says nothing. */
export type AskedGang =
  | { readonly reason: 'Unset' | 'Declined' | 'Unreadable' | 'All' }
  | { readonly reason: 'AtLeast'; readonly count: number };

export function readGangAnnotation({
  annotations,
}: {
  readonly annotations?: Record<string, string> | undefined;
}): AskedGang {
  const text = annotations?.[GANG_ANNOTATION];
  if (text === undefined) return { reason: 'Unset' };
  if (text === 'false') return { reason: 'Declined' };
  if (text === 'true') return { reason: 'All' };
  return /^[1-9]\d{0,8}$/.test(text) ? { reason: 'AtLeast', count: Number(text) } : { reason: 'Unreadable' };
}

export const UNREADABLE_GANG = `Annotation ${GANG_ANNOTATION} is neither "true" nor a positive number: pods are placed one by one`;
