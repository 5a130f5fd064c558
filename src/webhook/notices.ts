/** Notices on a cluster: what plain evictions of members are answered, and what is kept for groups that are told. */
import { type GroupEviction, groupEvictionType } from '../api/quorate/group-eviction.ts';
import { type DisruptionPolicy, disruptionPolicyType } from '../api/quorate/disruption-policy.ts';
import { type Maintenance, maintenanceType } from '../api/quorate/maintenance.ts';
import { type GroupNotice, ORIGIN_LABEL } from '../api/quorate/notice.ts';
import type { DisruptionLedger } from '../api/quorate/types.ts';
import { podType } from '../api/resource-types.ts';
import { type CountedPod, exemptionOf, isUp } from '../decisions/disruption/index.ts';
import { membersOf } from '../decisions/group-eviction/index.ts';
import {
  noticeBefore,
  noticeOfGroup,
  noticeRefusal,
  type NoticeStart,
  noticeWarning,
  startNotice,
} from '../decisions/notice/index.ts';
import { withNoticeEnded } from '../decisions/policies/index.ts';
import { ApiError, existing, isConflict, isNotFound } from '../machinery/runtime/index.ts';
import { formatMicroTime, nameHash, parseTime } from '../machinery/values/index.ts';
import { tell } from './eviction-answers.ts';
import { type GroupWebhook, settleGroup } from './group-eviction.ts';
import { isDryRun } from './pins.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

/** The first of them that began the notice of a group, which our copies may not show yet. */
export type NoticesBegun = Map<string, string>;

export interface NoticeWebhook extends GroupWebhook {
  readonly begun: NoticesBegun;
  readonly ledgersIn: (namespace: string) => readonly DisruptionLedger[];
}

const REFUSAL = 'a budget does not agree';
const DEFAULT_GRACE_SECONDS = 30;

/**
 * The answer to a plain eviction of a member that is under notice, or due one: then a GroupEviction is made for its group,
 * once all budgets of it agree. Undefined where the pod goes like any other; `warning` for a dry run.
 */
export async function reviewNotice(
  webhook: GroupWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<{ readonly response?: ReviewResponse; readonly warning?: string }> {
  const { name = '', namespace = '' } = request;
  const question = webhook.index.noticeOn(namespace, name);
  const pod = webhook.index.pod(namespace, name);
  if (question === undefined || pod === undefined) return {};
  const now = webhook.clock.now();
  const isAlone = webhook.index.asOne(namespace, name) === undefined;
  const answer = noticeBefore(question, isAlone && exemptionOf(pod) !== undefined, now);
  if (answer.kind === 'None') return {};
  if (answer.kind !== 'Due') return { response: tell(noticeRefusal(answer.kind, answer.notice, namespace)) };
  const { group, target: spec } = question;
  if (isDryRun(request)) return { warning: noticeWarning(answer.policy, group) };
  const { username } = request.userInfo ?? {};
  const settlement = await settleGroup(webhook, { namespace, spec, dryRun: true, username }, signal);
  if (!settlement.granted) return { response: settlement.response };
  const eviction = evictionNameFor(group, settlement.members);
  await makeEviction(webhook, {
    metadata: { name: eviction, namespace, labels: { [ORIGIN_LABEL]: 'eviction' } },
    spec: { ...spec, reason: `eviction of pod ${name}` },
  });
  const deadline = formatMicroTime(now + answer.policy.durationMs);
  return { response: tell(noticeRefusal('Running', { deadline, eviction, group }, namespace)) };
}

/** What a GroupEviction is called that is made for a plain eviction: the same for the very same pods. */
export const evictionNameFor = (group: string, members: readonly CountedPod[]): string =>
  `eviction-${nameHash(`${group}/${members.map(({ uid }) => uid).join()}`)}`;

/** One for each group as it is: that it is there already means that the group is told. One that is over is replaced. */
export async function makeEviction({ client }: GroupWebhook, eviction: GroupEviction): Promise<void> {
  const { name = '', namespace } = eviction.metadata;
  try {
    await client.create(groupEvictionType, eviction);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
    const known = await existing(client.get(groupEvictionType, { namespace, name }));
    if (known === undefined || !isOver(known)) return;
    // The next time this pod is asked for it is made anew.
    await client.delete(groupEvictionType, { namespace, name }, { preconditions: { uid: known.metadata.uid } });
  }
}

const isOver = ({ status }: GroupEviction): boolean =>
  status?.conditions?.some(({ status: is, type }) => type === 'Evicted' && is === 'False') === true;

/** What comes of a GroupEviction before its group goes. */
export type BegunNotice =
  | GroupNotice
  | { readonly joined: string; readonly deadline: string }
  | { readonly refused: { readonly reason: 'Refused' | 'NoMembers'; readonly message: string } };

/**
 * Begins the notice that a group is due: what its budgets and limits allow is kept for it first. Its ID is the UID of the
 * GroupEviction, so that whoever takes over in the middle keeps nothing twice.
 */
export async function beginNotice(
  webhook: NoticeWebhook,
  eviction: GroupEviction,
  signal: AbortSignal,
): Promise<BegunNotice | undefined> {
  const { begun, clock, index } = webhook;
  const { metadata, spec = {} } = eviction;
  const { name = '', namespace = '', uid = '' } = metadata;
  const members = membersOf(index, namespace, spec);
  const known = noticeOfGroup(index, members);
  if (known?.running !== undefined && known.running.eviction !== name) {
    return { joined: known.running.eviction, deadline: known.running.deadline };
  }
  if (known?.policy === undefined) return undefined;
  const { group, policy } = known;
  const key = `${namespace}/${group}`;
  const first = begun.get(key);
  // Another one has just begun it, and our copy does not show it: a moment later this one joins it.
  if (first !== undefined && first !== name && (await isThere(webhook, namespace, first))) {
    throw new Error(`Cannot begin the notice of ${key}: ${first} is beginning it`);
  }
  begun.set(key, name);
  const notice = startNotice({
    id: uid,
    group,
    policy: policy.name,
    terms: policy.terms,
    now: clock.now(),
    members: members.map((pod) => ({ name: pod.name, uid: pod.uid, isUp: isUp(pod) })),
    requester: name,
    foreign: await foreignDeadline(webhook, eviction, members),
  });
  const until = parseTime(notice.deadline) ?? clock.now();
  const reserve = { notice: uid, until };
  const settlement = await settleGroup(webhook, { namespace, spec, dryRun: false, reserve }, signal);
  if (settlement.granted) return notice;
  begun.delete(key);
  const { code, message = REFUSAL } = settlement.response.status ?? {};
  return { refused: { reason: code === 404 ? 'NoMembers' : 'Refused', message } };
}

async function isThere({ client }: NoticeWebhook, namespace: string, name: string): Promise<boolean> {
  const other = await existing(client.get(groupEvictionType, { namespace, name }));
  return other !== undefined && other.status?.conditions?.some(({ type }) => type === 'Evicted') !== true;
}

/** When a drain that its cause observes takes the pods without asking. */
async function foreignDeadline(
  { client }: NoticeWebhook,
  { metadata: { namespace }, spec = {} }: GroupEviction,
  members: readonly CountedPod[],
): Promise<NoticeStart['foreign']> {
  if (spec.cause?.kind !== maintenanceType.kind) return undefined;
  const cause: Maintenance | undefined = await existing(client.get(maintenanceType, { name: spec.cause.name }));
  const source = cause?.spec?.source;
  const deadline = source?.ignoresBudgets === true ? parseTime(source.deadline) : undefined;
  if (deadline === undefined) return undefined;
  const graces = await Promise.all(
    members.map(async ({ name }) => {
      if (spec.gracePeriodSeconds !== undefined) return spec.gracePeriodSeconds;
      const pod = await existing(client.get(podType, { namespace, name }));
      return pod?.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    }),
  );
  return { deadline, graceMs: Math.max(0, ...graces) * 1000 };
}

/** What was kept for a group begins to go now, or is given back. */
export async function endNotice(
  webhook: NoticeWebhook,
  { metadata: { namespace = '' } }: GroupEviction,
  { id, group, members = [] }: GroupNotice,
  begins: boolean,
): Promise<void> {
  const { begun, client, clock, ledgers, ledgersIn } = webhook;
  const { items } = await client.list(disruptionPolicyType, { namespace });
  for (const policy of items) await endInPolicy(webhook, policy, { notice: id, begins, now: clock.now() });
  begun.delete(`${namespace}/${group}`);
  if (begins) return;
  const uids = new Set(members.map(({ uid }) => uid));
  for (const { metadata, status } of ledgersIn(namespace)) {
    const ledger = { namespace, name: metadata.name ?? '' };
    for (const grant of status?.grants ?? []) {
      if (grant.until !== undefined && uids.has(grant.uid)) await ledgers.takeBack(ledger, grant, undefined);
    }
  }
}

async function endInPolicy(
  { client }: NoticeWebhook,
  policy: DisruptionPolicy,
  end: Parameters<typeof withNoticeEnded>[1],
): Promise<void> {
  let current: DisruptionPolicy | undefined = policy;
  while (current !== undefined) {
    const status = withNoticeEnded(current.status, end);
    if (status === undefined) return;
    try {
      await client.updateStatus(disruptionPolicyType, { ...current, status });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error)) throw error;
      const { name = '', namespace } = policy.metadata;
      current = await existing(client.get(disruptionPolicyType, { namespace, name }));
    }
  }
}
