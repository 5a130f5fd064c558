import type { Condition } from '../../../api/generated/meta-v1.ts';
import { EVICTED, type GroupEviction, groupEvictionType, WITHDRAWN } from '../../../api/quorate/group-eviction.ts';
import { NOTICE_FINALIZER } from '../../../api/quorate/notice.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { setCondition } from '../../../decisions/disruption/conditions.ts';
import { joinedStatus, noticedStatus } from '../../../decisions/notice/index.ts';
import { existing, isNotFound, type ReconcileResult, settled } from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';
import type { GroupEvictionDeps, SettleGroup } from './deps.ts';
import { evictMembers, withEvicted } from './evict.ts';
import { runNotice } from './notice.ts';

const DEFAULT_TTL_SECONDS = 3600;

/**
 * Rules, first match wins:
 *  1. it is over: what it holds is let go, and it is kept for a while
 *  2. it shares the notice of another: it ends as that one does
 *  3. its group is told: it is followed to its end, also while it is being deleted
 *  4. it is being deleted: it is let go
 *  5. it was taken back before anything was done: its group stays
 *  6. nobody has carried it out: its group is told first where a policy wants that, and goes otherwise
 */
export async function reconcileGroupEviction(deps: GroupEvictionDeps, key: ObjectKey): Promise<ReconcileResult> {
  const eviction = deps.evictions.get(key);
  if (eviction === undefined) return settled;
  const { metadata, status } = eviction;
  const finished = status?.conditions?.find(({ type }) => type === EVICTED);
  if (finished !== undefined) return afterEnd(deps, eviction, finished);
  if (status?.joined !== undefined) return followFirst(deps, eviction, status.joined);
  if (status?.notice !== undefined) return runNotice(deps, eviction, status.notice);
  if (metadata.deletionTimestamp) {
    await letGo(deps, eviction);
    return settled;
  }
  if (deps.settle === undefined) return settled;
  return begin(deps, deps.settle, eviction);
}

async function begin(deps: GroupEvictionDeps, settle: SettleGroup, eviction: GroupEviction): Promise<ReconcileResult> {
  const { client, clock, events, notices } = deps;
  const begun = (eviction.status?.evictedPods ?? []).length > 0;
  const refuse = async (reason: string, message: string): Promise<ReconcileResult> => {
    events.record(eviction, 'Warning', reason, message);
    await client.updateStatus(groupEvictionType, {
      ...eviction,
      status: withEvicted(eviction.status ?? {}, clock.now(), { status: 'False', reason, message }),
    });
    return settled;
  };
  if (!begun && eviction.spec?.intent === 'Withdrawn') {
    return refuse('Withdrawn', 'nobody wants the group gone any more: it stays');
  }
  const notice = begun ? undefined : await notices?.begin(eviction);
  if (notice !== undefined && 'refused' in notice) return refuse(notice.refused.reason, notice.refused.message);
  if (notice !== undefined && 'joined' in notice) {
    const status = { ...eviction.status, ...joinedStatus(notice.joined, notice, clock.now()) };
    await client.updateStatus(groupEvictionType, { ...eviction, status });
    return settled;
  }
  if (notice !== undefined) {
    // It is there before anybody is told: a deletion waits until they are told that they stay.
    const held = await hold(deps, eviction);
    await client.updateStatus(groupEvictionType, { ...held, status: noticedStatus(notice, clock.now()) });
    return settled;
  }
  const outcome = await evictMembers(deps, settle, eviction);
  return outcome.evicted ? settled : refuse(outcome.reason, outcome.message);
}

/** It ends as the one does whose notice it shares, whatever it says itself by then. */
async function followFirst(
  { client, clock, evictions }: GroupEvictionDeps,
  eviction: GroupEviction,
  name: string,
): Promise<ReconcileResult> {
  const { namespace } = eviction.metadata;
  const key = { namespace, name };
  const first = evictions.get(key) ?? (await existing(client.get(groupEvictionType, key)));
  const ended = first?.status?.conditions?.find(({ type }) => type === EVICTED);
  if (first !== undefined && ended === undefined) return settled;
  const message = `GroupEviction ${name}, whose notice it shared, is gone`;
  const { evictedPods } = first?.status ?? {};
  const status = {
    ...eviction.status,
    ...(evictedPods !== undefined && { evictedPods }),
    conditions: setCondition(
      eviction.status?.conditions ?? [],
      ended ?? { type: EVICTED, status: 'False', reason: 'Superseded', message },
      clock.now(),
    ),
  };
  await client.updateStatus(groupEvictionType, { ...eviction, status });
  return settled;
}

async function afterEnd(
  deps: GroupEvictionDeps,
  eviction: GroupEviction,
  finished: Condition,
): Promise<ReconcileResult> {
  const { client, clock } = deps;
  const { metadata, spec, status } = eviction;
  if (metadata.finalizers?.includes(NOTICE_FINALIZER) === true) await letGo(deps, eviction);
  if (metadata.deletionTimestamp) return settled;
  const isLate = spec?.intent === 'Withdrawn' && finished.status === 'True';
  if (isLate && status?.conditions?.some(({ type }) => type === WITHDRAWN) !== true) {
    const message = 'the first pod had gone: the others follow';
    const late = { type: WITHDRAWN, status: 'False', reason: 'TooLate', message };
    const conditions = setCondition(status?.conditions ?? [], late, clock.now());
    await client.updateStatus(groupEvictionType, { ...eviction, status: { ...status, conditions } });
    return settled;
  }
  return expire(deps, eviction, parseTime(finished.lastTransitionTime));
}

/** With the finalizer a GroupEviction that is deleted stays until its notice is over. */
function hold({ client }: GroupEvictionDeps, { metadata }: GroupEviction): Promise<GroupEviction> {
  const { finalizers = [], name = '', namespace, resourceVersion } = metadata;
  const others = finalizers.filter((one) => one !== NOTICE_FINALIZER);
  const body = { metadata: { resourceVersion, finalizers: [...others, NOTICE_FINALIZER] } };
  return client.patch(groupEvictionType, { namespace, name }, { type: 'merge', body });
}

async function letGo({ client }: GroupEvictionDeps, { metadata }: GroupEviction): Promise<void> {
  const { finalizers = [], name = '', namespace, resourceVersion } = metadata;
  const others = finalizers.filter((one) => one !== NOTICE_FINALIZER);
  if (others.length === finalizers.length) return;
  try {
    const body = { metadata: { resourceVersion, finalizers: others } };
    await client.patch(groupEvictionType, { namespace, name }, { type: 'merge', body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function expire(
  { client, clock }: GroupEvictionDeps,
  { metadata, spec }: GroupEviction,
  finishedAt: number | undefined,
): Promise<ReconcileResult> {
  const due = (finishedAt ?? clock.now()) + (spec?.ttlSecondsAfterFinished ?? DEFAULT_TTL_SECONDS) * 1000;
  if (due > clock.now()) return { requeueAfterMs: due - clock.now() };
  try {
    const { name = '', namespace, uid } = metadata;
    await client.delete(groupEvictionType, { namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return settled;
}
