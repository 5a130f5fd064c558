import { EVICTED, type GroupEviction, type GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { LWS } from '../../api/lws/types.ts';
import { parseTime } from '../../machinery/values/index.ts';
import type { NoticeFactsOfPolicy } from '../policies/index.ts';
import { setGroupOf } from './group-markers.ts';
import type { CountedPod } from './pod-facts.ts';
import type { GroupBy } from './group-by.ts';

/** A notice under way, or one that nobody could be told of a moment ago. */
export interface KnownNotice {
  /** The GroupEviction that it belongs to. */
  readonly eviction: string;
  readonly id: string;
  readonly group: string;
  readonly deadline: string;
  readonly members: ReadonlySet<string>;
  /** When it ended because nobody could be told; absent while it runs. */
  readonly undeliveredAt?: number | undefined;
}

/** What decisions about pods need to know of a GroupEviction; undefined where it gives no notice. */
export function readKnownNotice({ metadata, status }: GroupEviction): KnownNotice | undefined {
  const notice = status?.notice;
  if (notice === undefined) return undefined;
  const { deadline, group, id, members = [] } = notice;
  const known = {
    eviction: metadata.name ?? '',
    id,
    group,
    deadline,
    members: new Set(members.map(({ uid }) => uid)),
  };
  const ended = status?.conditions?.find(({ type }) => type === EVICTED);
  if (ended === undefined) return known;
  if (ended.reason !== 'NoticeUndelivered') return undefined;
  return { ...known, undeliveredAt: parseTime(ended.lastTransitionTime) ?? 0 };
}

/** The group of a pod, as notices see it. */
export interface NoticeQuestion {
  readonly group: string;
  /** How a GroupEviction names it. */
  readonly target: GroupEvictionSpec;
  /** Its going takes a whole group down. */
  readonly disrupts: boolean;
  /** The notice that the group is given now. */
  readonly running: KnownNotice | undefined;
  /** The one that ended because nobody could be told, when. */
  readonly undelivered: KnownNotice | undefined;
  /** The policy that wants notice: the one with the longest time, then the first by name. */
  readonly policy: (NoticeFactsOfPolicy & { readonly name: string }) | undefined;
}

/** How a GroupEviction names the group of a pod; what it has no name for goes pod by pod. */
export function targetOf(pod: CountedPod, groupBy: GroupBy | undefined, inGroup: boolean): GroupEvictionSpec {
  const { labels, link, name } = pod;
  if (!inGroup) return { podName: name };
  if (groupBy === undefined || groupBy.kind === 'podGroup') {
    const namesObject = link?.source === 'SchedulingGroup' || link?.source === 'WorkloadRefPodGroup';
    if (link !== undefined && namesObject) return { podGroupName: link.podGroup };
  }
  const set = labels[LWS.name];
  if (set !== undefined && setGroupOf(labels) !== undefined) {
    return { leaderWorkerSet: { name: set, groupIndex: Number(labels[LWS.groupIndex]) } };
  }
  if (groupBy?.kind === 'label' && labels[groupBy.key]) {
    return { groupLabel: { key: groupBy.key, value: labels[groupBy.key] ?? '' } };
  }
  return { podName: name };
}
