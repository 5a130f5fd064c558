/** What an owner of pods says about the groups that are to be made for it. */
import type { ObjectMetaCore } from '../../api/resource.ts';

/** On a Job, JobSet or LeaderWorkerSet: `true` for groups whose pods come all at once. */
export const CREATE_ANNOTATION = 'groups.quorate.dev/create';
/** The same, or a number for at least that many. Counts before the other. */
export const GANG_ANNOTATION = 'scheduling.quorate.dev/gang';
/** On a JobSet: `jobset` makes one group of all its Jobs. */
export const UNIT_ANNOTATION = 'groups.quorate.dev/unit';
/** Beside either: the scheduler that places the pods. */
export const SCHEDULER_ANNOTATION = 'groups.quorate.dev/scheduler';

type Annotated = Pick<ObjectMetaCore, 'annotations'>;

/** `Declined` is a `false` somebody wrote; an annotation that is not there says nothing. */
export type AskedGang =
  | { readonly reason: 'Unset' | 'Declined' | 'Unreadable' | 'All' }
  | { readonly reason: 'AtLeast'; readonly count: number };

export function readGangAnnotation({ annotations }: Annotated): AskedGang {
  const text = annotations?.[GANG_ANNOTATION] ?? annotations?.[CREATE_ANNOTATION];
  if (text === undefined) return { reason: 'Unset' };
  if (text === 'false') return { reason: 'Declined' };
  if (text === 'true') return { reason: 'All' };
  const isNumber = annotations?.[GANG_ANNOTATION] !== undefined && /^[1-9]\d{0,8}$/.test(text);
  return isNumber ? { reason: 'AtLeast', count: Number(text) } : { reason: 'Unreadable' };
}

export const UNREADABLE_GANG = `Annotation ${GANG_ANNOTATION} is neither "true" nor a positive number, or ${CREATE_ANNOTATION} is not "true": pods are placed one by one`;
