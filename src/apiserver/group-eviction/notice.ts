import type { Pod } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { type DisruptionPolicy, disruptionPolicyType } from '../../api/quorate/disruption-policy.ts';
import { type GroupEviction, groupEvictionType } from '../../api/quorate/group-eviction.ts';
import { type Maintenance, maintenanceType } from '../../api/quorate/maintenance.ts';
import { type GroupNotice, NOTICE_FINALIZER, ORIGIN_LABEL } from '../../api/quorate/notice.ts';
import { apiVersionOf, type ResourceType } from '../../api/resource.ts';
import { podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { type CountedPod, exemptionOf, isUp } from '../../decisions/disruption/index.ts';
import {
  type NoticeOfGroup,
  noticeBefore,
  noticedStatus,
  noticeRefusal,
  type NoticeStart,
  noticeWarning,
  startNotice,
} from '../../decisions/notice/index.ts';
import { withNoticeEnded } from '../../decisions/policies/index.ts';
import { formatTime, parseTime } from '../../machinery/values/index.ts';
import type { Transaction } from '../../storage/index.ts';
import { type AskNotice, chargeBudget, chargePolicies, holdRoom, holdRooms, refusalError } from '../eviction/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey, type Resource } from '../registry/resource.ts';
import { putObject } from '../stored/encoding.ts';
import { initMetadata } from '../stored/metadata.ts';
import { askBudgets, type GrantedGroup, type GroupAsked, type EvictionParts } from './settle.ts';

type Told = GroupAsked & {
  readonly members: readonly CountedPod[];
  readonly verdict: GrantedGroup;
  readonly group: string;
  readonly policy: NonNullable<NoticeOfGroup['policy']>;
  readonly requester: string;
};

/** Begins the notice of a group that everybody agreed to: budgets over groups and limits are kept for it. */
export function beginNotice(parts: EvictionParts, transaction: Transaction, told: Told): GroupNotice {
  const { context } = parts.guarding;
  const { group, members, nowMs, policy, requester } = told;
  const notice = startNotice({
    id: context.newUid(),
    group,
    policy: policy.name,
    terms: policy.terms,
    now: nowMs,
    members: members.map((pod) => ({ name: pod.name, uid: pod.uid, isUp: isUp(pod) })),
    requester,
    foreign: foreignDeadline(context, transaction, told),
  });
  reserve(parts, transaction, told, notice);
  return notice;
}

/** When a drain that its cause observes takes the pods without asking. */
function foreignDeadline(
  context: ServerContext,
  transaction: Transaction,
  { members, namespace, spec }: Told,
): NoticeStart['foreign'] {
  if (spec.cause?.kind !== maintenanceType.kind) return undefined;
  const key = objectKey(resourceOf(context, maintenanceType as ResourceType), undefined, spec.cause.name);
  const entry = transaction.get(key);
  const source = entry && (context.objects.readOften(entry) as Maintenance).spec?.source;
  const deadline = source?.ignoresBudgets === true ? parseTime(source.deadline) : undefined;
  if (deadline === undefined) return undefined;
  const pods = resourceOf(context, podType as ResourceType);
  const graces = members.map(({ name }) => {
    const pod = transaction.get(objectKey(pods, namespace, name));
    const own = pod && (context.objects.readOften(pod) as Pod).spec?.terminationGracePeriodSeconds;
    return spec.gracePeriodSeconds ?? own ?? 30;
  });
  return { deadline, graceMs: Math.max(0, ...graces) * 1000 };
}

/** Budgets that count pods have no place to keep it: they are asked again at the end. */
function reserve({ guarding, index }: EvictionParts, transaction: Transaction, told: Told, notice: GroupNotice): void {
  const { context } = guarding;
  const { namespace, nowMs: now, username: by, verdict } = told;
  const until = parseTime(notice.deadline) ?? now;
  for (const { grant, pod } of verdict.placed) holdRoom({ context, index }, transaction, { grant, uid: pod.uid, now });
  holdRooms({ context, judge: index.room }, transaction, verdict.rooms, now);
  for (const { budget, pods, unit } of verdict.disruption) {
    if (unit === 'PodGroup') chargeBudget({ context, index }, transaction, { namespace, budget, pods, now, until });
  }
  const kept = { notice: notice.id, until };
  for (const { charge, pod } of verdict.limits) {
    chargePolicies(context, transaction, charge, { namespace, pod, by, way: 'GroupEviction', now, reserve: kept });
  }
}

export interface NoticeEnd {
  readonly namespace: string;
  readonly notice: GroupNotice;
  /** Its group goes; otherwise what was kept is given back. */
  readonly begins: boolean;
  readonly nowMs: number;
}

/** Turns what was kept for a notice into a disruption that begins now, or gives it back. */
export function endNotice({ guarding }: EvictionParts, transaction: Transaction, end: NoticeEnd): void {
  const { context } = guarding;
  const { begins, namespace, notice, nowMs: now } = end;
  change<DisruptionPolicy>(context, transaction, { type: disruptionPolicyType, namespace }, (policy) => {
    const status = withNoticeEnded(policy.status, { notice: notice.id, begins, now });
    return status && { ...policy, status };
  });
  if (begins) return;
  const at = formatTime(parseTime(notice.deadline) ?? 0);
  const names = new Set((notice.members ?? []).map(({ name }) => name));
  change<PodDisruptionBudget>(context, transaction, { type: podDisruptionBudgetType, namespace }, (budget) => {
    const listed = Object.entries(budget.status?.disruptedPods ?? {});
    const left = listed.filter(([name, time]) => !names.has(name) || time !== at);
    if (left.length === listed.length) return undefined;
    return { ...budget, status: { ...budget.status, disruptedPods: Object.fromEntries(left) } };
  });
}

/** Writes the objects of a namespace that something changes. */
function change<T>(
  context: ServerContext,
  transaction: Transaction,
  { namespace, type }: { type: { group: string; plural: string }; namespace: string },
  next: (object: T) => T | undefined,
): void {
  const resource = resourceOf(context, type);
  // All of them first: what is written is in the range.
  const stored = [...transaction.range(`${resource.prefix}${namespace}/`)];
  for (const entry of stored) {
    const { managedFields, object } = context.objects.readParts(entry);
    const changed = next(object as T) as ApiObject | undefined;
    if (changed === undefined) continue;
    const written = { ...changed, metadata: { ...changed.metadata } };
    putObject(context, transaction, { resource, key: entry.key, object: written, managedFields });
  }
}

function resourceOf(context: ServerContext, { group, plural }: { group: string; plural: string }): Resource {
  const resource = context.registry.byPlural(group, plural);
  if (resource === undefined) throw new Error(`Cannot give notice: ${plural} are not served`);
  return resource;
}

/** Answers plain evictions of members: a group that has to be told goes as one, by a GroupEviction made for it. */
export function noticeAsker(parts: EvictionParts): AskNotice {
  return (eviction, transaction) => {
    const { dryRun, name, namespace, now, warnings } = eviction;
    const question = parts.index.noticeOn(namespace, name);
    const pod = parts.index.pod(namespace, name);
    const isAlone = parts.index.asOne(namespace, name) === undefined;
    const answer = noticeBefore(question, pod === undefined || (isAlone && exemptionOf(pod) !== undefined), now);
    if (question === undefined || answer.kind === 'None') return undefined;
    if (answer.kind !== 'Due') return refusalError(noticeRefusal(answer.kind, answer.notice, namespace));
    if (dryRun) {
      warnings.push(noticeWarning(answer.policy, question.group));
      return undefined;
    }
    const { gracePeriodSeconds } = eviction;
    const spec = {
      ...question.target,
      reason: `eviction of pod ${name}`,
      ttlSecondsAfterFinished: 3600,
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    };
    const { username } = eviction.user;
    const asked: GroupAsked = { namespace, spec, username, dryRun, nowMs: now };
    const { group } = question;
    const { policy } = answer;
    const made = parts.guarding.context.newUid();
    const requester = `eviction-${made.slice(0, 13)}`;
    const granted = askBudgets(parts, asked);
    const notice = beginNotice(parts, transaction, { ...asked, ...granted, group, policy, requester });
    create(parts.guarding.context, transaction, {
      eviction: {
        metadata: {
          name: requester,
          namespace,
          labels: { [ORIGIN_LABEL]: 'eviction' },
          finalizers: [NOTICE_FINALIZER],
        },
        spec,
        status: noticedStatus(notice, now),
      },
      uid: made,
      now,
    });
    const { deadline } = notice;
    return refusalError(noticeRefusal('Running', { deadline, eviction: requester, group }, namespace));
  };
}

function create(
  context: ServerContext,
  transaction: Transaction,
  { eviction, now, uid }: { eviction: GroupEviction; now: number; uid: string },
): void {
  const resource = resourceOf(context, groupEvictionType);
  const { kind } = groupEvictionType;
  const object = { apiVersion: apiVersionOf(groupEvictionType), kind, ...eviction } as unknown as ApiObject;
  const { metadata } = object;
  initMetadata(resource, metadata, { now, uid });
  const key = objectKey(resource, metadata.namespace, metadata.name ?? '');
  putObject(context, transaction, { resource, key, object, managedFields: undefined });
}
