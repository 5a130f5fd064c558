import { EVICTED, type GroupEviction, groupEvictionType } from '../../api/quorate/group-eviction.ts';
import { validateNewGroupEviction } from '../../api/quorate/group-eviction-validation.ts';
import { NOTICE_FINALIZER } from '../../api/quorate/notice.ts';
import type { DisruptionIndex } from '../../decisions/disruption/index.ts';
import { MISSING_RIGHT, membersOf } from '../../decisions/group-eviction/index.ts';
import { isRunning, joinedStatus, noticedStatus, noticeOfGroup, noticeWarning } from '../../decisions/notice/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import { type AnswerTeller, tellGroupEviction } from '../eviction/index.ts';
import { forbidden, invalid } from '../exchange/status.ts';
import type { Guarding } from '../unavailability/index.ts';
import { beginNotice, endNotice } from './notice.ts';
import { askBudgets, carryOut, evictedStatus, type GroupAsked, type EvictionParts } from './settle.ts';

/**
 * Carries out a GroupEviction as it is created: the check of every budget, their charges, the departure of all members
 * and the object that says so are one store transaction. A group that is to be told first is only kept room for then; it
 * goes, or stays, in the transaction that writes the end of its notice.
 */
export function groupEvictionPlugin(
  guarding: Guarding,
  index: DisruptionIndex,
  teller?: AnswerTeller,
): AdmissionPlugin {
  const parts = { guarding, index };
  return {
    name: 'GroupEviction',
    handles: ({ operation, resource, subresource }) =>
      resource.group === groupEvictionType.group &&
      resource.plural === groupEvictionType.plural &&
      ((operation === 'CREATE' && subresource === undefined) || (operation === 'UPDATE' && subresource === 'status')),
    validate: (attributes) => (attributes.operation === 'CREATE' ? checkCreate(guarding, attributes) : undefined),
    inTransaction: (attributes, transaction) =>
      attributes.operation === 'CREATE'
        ? tellGroupEviction(teller, attributes, () => evictGroup(parts, attributes, transaction))
        : followNotice(parts, attributes, transaction),
  };
}

/** Whoever may not evict the pods one by one may not evict them together either. */
async function checkCreate(
  { context }: Guarding,
  { name, namespace = '', object, resource, user }: AdmissionAttributes,
): Promise<void> {
  const issues = validateNewGroupEviction(object as GroupEviction);
  if (issues.length > 0) throw invalid(resource, name ?? '', issues);
  const pods = { group: '', version: 'v1', plural: 'pods', subresource: 'eviction', namespace };
  const { allowed } = await context.authorizer.authorize({ user, verb: 'create', resource: pods });
  if (!allowed) throw forbidden(resource, name, `User "${user.username}" ${MISSING_RIGHT} in namespace "${namespace}"`);
}

function askedBy(
  { guarding }: EvictionParts,
  { dryRun, namespace = '', object, user }: AdmissionAttributes,
): GroupAsked {
  const { spec = {} } = object as GroupEviction;
  return { namespace, spec, username: user.username, dryRun, nowMs: guarding.context.clock.now() };
}

function evictGroup(parts: EvictionParts, attributes: AdmissionAttributes, transaction: Transaction): void {
  const eviction = attributes.object as GroupEviction;
  const asked = askedBy(parts, attributes);
  const { dryRun, namespace, nowMs, spec } = asked;
  const known = noticeOfGroup(parts.index, membersOf(parts.index, namespace, spec));
  if (known?.running !== undefined) {
    const { deadline, eviction: first } = known.running;
    eviction.status = joinedStatus(first, { deadline }, nowMs);
    return;
  }
  const { members, verdict } = askBudgets(parts, asked);
  if (known?.policy === undefined) {
    eviction.status = evictedStatus(undefined, members, nowMs);
    if (!dryRun) carryOut(parts, transaction, { ...asked, members, verdict });
    return;
  }
  const { group, policy } = known;
  if (dryRun) {
    attributes.warnings.push(noticeWarning(policy, group));
    return;
  }
  const requester = eviction.metadata.name ?? '';
  const notice = beginNotice(parts, transaction, { ...asked, members, verdict, group, policy, requester });
  eviction.status = noticedStatus(notice, nowMs);
  const { finalizers = [] } = eviction.metadata;
  eviction.metadata = { ...eviction.metadata, finalizers: [...finalizers, NOTICE_FINALIZER] };
}

/** The status says that a notice is over: its group goes now, or what was kept for it is given back. */
function followNotice(parts: EvictionParts, attributes: AdmissionAttributes, transaction: Transaction): void {
  const eviction = attributes.object as GroupEviction;
  const before = (attributes.oldObject as GroupEviction).status;
  const notice = eviction.status?.notice;
  if (notice === undefined || before?.notice === undefined || !isRunning(before.notice)) return;
  if (before.conditions?.some(({ type }) => type === EVICTED) === true) return;
  const asked = askedBy(parts, attributes);
  const { namespace, nowMs } = asked;
  if (notice.state === 'Done' || notice.state === 'TimedOut') {
    const { members, verdict } = askBudgets(parts, asked);
    carryOut(parts, transaction, { ...asked, members, verdict });
    endNotice(parts, transaction, { namespace, notice, begins: true, nowMs });
    eviction.status = evictedStatus(eviction.status, members, nowMs);
  } else if (eviction.status?.conditions?.some(({ type }) => type === EVICTED) === true) {
    endNotice(parts, transaction, { namespace, notice, begins: false, nowMs });
  }
}
