/** A group that is told goes when all have acknowledged or its time has passed, not before, and is told once. */
import type { Change, History, StoredObject } from '../history.ts';
import type { Violated } from './oracle.ts';
import { groupOf, isLeaving } from './pods.ts';

interface Notice {
  readonly id: string;
  readonly startedAt: string;
  readonly deadline: string;
  readonly state: string;
}

const RUNNING = ['Running', 'Undelivered', 'Held'];
const ACKNOWLEDGED = 'policy.quorate.dev/notice-acknowledged';

const noticeOf = (eviction: StoredObject | undefined): Notice | undefined =>
  eviction?.status?.notice as Notice | undefined;
const isOf = ({ key }: Change, plural: string): boolean => key.split('/')[3] === plural;

export function watchNotices(history: History, now: () => number, violated: Violated): void {
  const known = new Map<string, Notice>();
  /** The pods that the last state had, which is that before the commit that is looked at. */
  history.onCommit((commit) => {
    const changed = commit.filter((one) => isOf(one, 'groupevictions'));
    for (const { after } of changed) if (after !== undefined) checkSame(after);
    for (const { after, before } of changed) if (after !== undefined) checkEnd(before, after);
    for (const one of commit) if (isOf(one, 'pods')) checkStays(one);
  });

  function checkSame(eviction: StoredObject): void {
    const notice = noticeOf(eviction);
    const { name, uid } = eviction.metadata;
    if (notice === undefined) return;
    const first = known.get(uid);
    known.set(uid, notice);
    if (first === undefined) return;
    for (const field of ['id', 'startedAt', 'deadline'] as const)
      if (first[field] !== notice[field]) violated('notice', `${field} of ${name} became ${notice[field]}`);
    if (!RUNNING.includes(first.state) && first.state !== notice.state)
      violated('notice', `the notice of ${name} was ${first.state} and is ${notice.state}`);
  }

  function checkEnd(before: StoredObject | undefined, after: StoredObject): void {
    const [was, is] = [noticeOf(before)?.state ?? 'Running', noticeOf(after)];
    if (is === undefined || was === is.state) return;
    const { name } = after.metadata;
    const left = Date.parse(is.deadline) - now();
    if (is.state === 'TimedOut' && left > 0) violated('notice', `${name} timed out ${left} ms before its deadline`);
    if (is.state === 'Done') {
      const gone = (after.status?.evictedPodUIDs ?? []) as readonly string[];
      const mute = history
        .select('pods')
        .filter(({ metadata }) => gone.includes(metadata.uid) && metadata.annotations?.[ACKNOWLEDGED] !== is.id);
      if (mute.length > 0) violated('notice', `${name} went before ${mute[0]?.metadata.name} acknowledged`);
    }
    if ((is.state === 'Done' || is.state === 'TimedOut') && after.spec?.intent === 'Withdrawn')
      violated('notice', `${name} went although it was withdrawn`);
  }

  /** No member goes while its group is told: in the story nobody else takes them. */
  function checkStays({ after, before, key }: Change): void {
    if (before === undefined || isLeaving(before) || (after !== undefined && !isLeaving(after))) return;
    const group = groupOf(before);
    for (const eviction of history.select('groupevictions')) {
      const notice = noticeOf(eviction);
      if (eviction.spec?.podGroupName !== group || notice === undefined || !RUNNING.includes(notice.state)) continue;
      violated('notice', `${key} went while its group was told for ${eviction.metadata.name}`);
    }
  }
}
