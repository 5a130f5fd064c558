import type { GroupEviction } from '../../api/quorate/group-eviction.ts';
import { groupEvictionType } from '../../api/quorate/group-eviction.ts';
import type { NoticeMember } from '../../api/quorate/notice.ts';
import { ClusterReader } from '../../cluster-state/cluster-reader.ts';
import { type DisruptionIndex, exemptionOf, NOTICE_FEED } from '../../decisions/disruption/index.ts';
import { noticeBefore, noticeWarning } from '../../decisions/notice/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';

/** What stands between a pod and its eviction beside budgets: its group is told, or has to be told first. */
export interface NoticeNow {
  readonly reason: 'NoticeRunning' | 'NoticeUndelivered' | 'NoticeDue';
  readonly group: string;
  readonly policy?: string | undefined;
  /** The GroupEviction that the notice belongs to. */
  readonly eviction?: string | undefined;
  readonly deadline?: string | undefined;
  /** Members that it still waits for. */
  readonly waitsFor?: readonly string[] | undefined;
  readonly message: string;
}

/** Undefined where notice has nothing to say, or GroupEvictions are not served or may not be read. */
export async function noticeOfPod(
  client: Client,
  { index, name, namespace, now }: { index: DisruptionIndex; namespace: string; name: string; now: number },
): Promise<NoticeNow | undefined> {
  const all = await new ClusterReader(client, namespace).list([groupEvictionType]);
  for (const one of all) NOTICE_FEED.set(index, one);
  const question = index.noticeOn(namespace, name);
  const pod = index.pod(namespace, name);
  const isAlone = index.asOne(namespace, name) === undefined;
  if (question === undefined || pod === undefined) return undefined;
  const answer = noticeBefore(question, isAlone && exemptionOf(pod) !== undefined, now);
  const { group } = question;
  switch (answer.kind) {
    case 'None':
      return undefined;
    case 'Due': {
      const { policy } = answer;
      return { reason: 'NoticeDue', group, policy: policy.name, message: noticeWarning(policy, group) };
    }
    case 'Undelivered': {
      const message = `no member of ${group} could be told a moment ago, and its policy does not let it go then`;
      return { reason: 'NoticeUndelivered', group, eviction: answer.notice.eviction, message };
    }
    case 'Running': {
      const { deadline, eviction } = answer.notice;
      return { reason: 'NoticeRunning', eviction, deadline, ...describe(all, eviction, { group, deadline }) };
    }
  }
}

function describe(
  all: readonly GroupEviction[],
  eviction: string,
  { deadline, group }: { group: string; deadline: string },
): Pick<NoticeNow, 'group' | 'message' | 'policy' | 'waitsFor'> {
  const notice = all.find(({ metadata }) => metadata.name === eviction)?.status?.notice;
  const members = notice?.members ?? [];
  const waited = members.filter(isWaitedFor).map(({ name }) => name);
  const done = members.length - waited.length;
  const held = notice?.state === 'Held' ? '; budgets hold it' : '';
  const message = `${group} is told that it has to go: ${done} of ${members.length} members are done, it goes at the latest at ${deadline}${held} (GroupEviction ${eviction})`;
  return { group, policy: notice?.policy, waitsFor: waited, message };
}

const isWaitedFor = ({ state }: NoticeMember): boolean => state === 'Told' || state === 'Untold';

export function formatNotice({ message, waitsFor = [] }: NoticeNow): string[] {
  return [
    `Notice: ${message}.`,
    ...(waitsFor.length === 0
      ? []
      : [`  It waits for ${waitsFor.slice(0, 10).join(', ')}${waitsFor.length > 10 ? ', ...' : ''}.`]),
  ];
}
