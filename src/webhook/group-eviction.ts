import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { validateNewGroupEviction } from '../api/quorate/group-eviction-validation.ts';
import type { GroupEviction, GroupEvictionSpec } from '../api/quorate/group-eviction.ts';
import type { DisruptionLedger, DisruptionLedgerStatus, LedgerGrant } from '../api/quorate/types.ts';
import { podDisruptionBudgetType } from '../api/resource-types.ts';
import {
  chargedStatus,
  type CountedPod,
  type Grant,
  keepRoom,
  needsRoom,
  processing,
  readBudget,
  roomToHold,
} from '../decisions/disruption/index.ts';
import {
  decideGroupEviction,
  formatGroup,
  formatGroupRefusal,
  type GroupVerdict,
  membersOf,
  MISSING_RIGHT,
} from '../decisions/group-eviction/index.ts';
import { noticeOfGroup, noticeWarning } from '../decisions/notice/index.ts';
import { keepFoundRoom, refusedBudgets } from '../decisions/unavailability/index.ts';
import { isConflict, sleep } from '../machinery/runtime/index.ts';
import { type Write, writeAllOrNone } from './all-or-none.ts';
import type { EvictionWebhook } from './eviction.ts';
import { answer, tell } from './eviction-answers.ts';
import { readOwn } from './eviction-reads.ts';
import { withGrants } from './ledger-grants.ts';
import { openPolicies, policyWrites } from './policy-desk.ts';
import { asksAnyForRoom, type PodWebhook, unseenPods } from './pods.ts';
import { hasSeen } from './pods-seen.ts';
import { mayDo } from './requester-rights.ts';
import { reserveRoom, reserveRooms } from './reserve.ts';
import { roomOf } from './room.ts';
import { allow, refuse, refuseInvalid, type ReviewRequest, type ReviewResponse } from './review.ts';

export type GroupWebhook = EvictionWebhook & PodWebhook;

/** All members are recorded with every budget and may go, or the answer to whoever asked. */
export type Settlement =
  | { readonly granted: true; readonly members: readonly CountedPod[] }
  | { readonly granted: false; readonly response: ReviewResponse };

const EVICTION = { verb: 'create', group: '', resource: 'pods', subresource: 'eviction' };
const ATTEMPTS = 20;
const RETRY_MS = 25;

/** Judges a GroupEviction as it is created; the grant is recorded with every budget before it is given. */
export async function reviewGroupEviction(
  webhook: GroupWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const { spec = {} } = request.object as GroupEviction;
  const dryRun = request.dryRun === true;
  const { userInfo = {}, namespace = '' } = request;
  const { username } = userInfo;
  // Whoever may not evict the pods one by one may not evict them together either.
  if (!(await mayDo(webhook.client, userInfo, { ...EVICTION, namespace }))) {
    const message = `User "${username ?? ''}" ${MISSING_RIGHT} in namespace "${namespace}"`;
    return refuse({ code: 403, reason: 'Forbidden', message });
  }
  const issues = validateNewGroupEviction(request.object as GroupEviction);
  if (issues.length > 0) return refuseInvalid(issues);
  const known = noticeOfGroup(webhook.index, membersOf(webhook.index, namespace, spec));
  // It joins whoever asked before: that one's budgets have agreed.
  if (known?.running !== undefined) return allow;
  // A group that is told first is asked about now; the controller keeps what it is granted, and only then begins.
  const asks = dryRun || known?.policy !== undefined;
  const settlement = await settleGroup(webhook, { namespace, spec, dryRun: asks, username }, signal);
  if (!settlement.granted) return settlement.response;
  return dryRun && known?.policy !== undefined
    ? { ...allow, warnings: [noticeWarning(known.policy, known.group)] }
    : allow;
}

export interface GroupEvictionCharge {
  readonly namespace: string;
  readonly spec: GroupEvictionSpec;
  readonly dryRun: boolean;
  readonly username?: string | undefined;
  /** The group is told first: what counts groups keeps it until two minutes after this; nothing goes yet. */
  readonly reserve?: { readonly notice: string; readonly until: number } | undefined;
  /** The one pod that was asked for, where its group goes as one. */
  readonly evicted?: string | undefined;
}

/**
 * Asks every budget of every member and charges them all, each by compare-and-swap; what was charged before one of
 * them turned out to have changed is taken back, and all are asked again. Members recorded already cost nothing.
 */
export async function settleGroup(
  webhook: GroupWebhook,
  { dryRun, evicted, namespace, reserve, spec, username = '' }: GroupEvictionCharge,
  signal: AbortSignal,
): Promise<Settlement> {
  const { budgets, clock } = webhook;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const members = membersOf(webhook.index, namespace, spec);
    if (members.length === 0) return refused(noMembers(namespace, spec));
    const books = await openBooks(webhook, members, signal);
    if (typeof books === 'string') return refused(unprocessed(books));
    const unseen = budgets.ask(namespace, (index) =>
      unseenPods(
        webhook,
        members.flatMap(({ name }) => index.judging(name)),
      ),
    );
    if (unseen !== undefined) {
      if (!(await hasSeen(webhook, unseen, signal))) return refused(unprocessed('of this group'));
      continue;
    }
    const policies = await openPolicies(webhook, members, signal);
    if ('response' in policies) return refused(policies.response);
    if (
      [...books.values()].some(({ budget }) => needsRoom(budget.metadata.annotations)) ||
      members.some(({ name }) => asksAnyForRoom(webhook, namespace, name))
    )
      await webhook.room?.freshen(signal);
    const nowMs = clock.now();
    const answered = askAll(webhook, { members, namespace, spec, books, nowMs, evicted });
    if ('response' in answered) {
      const { verdict } = answered;
      if (verdict.reason === 'UnavailableBudget' && !dryRun) {
        const refusing = refusedBudgets(namespace, verdict.refusals);
        webhook.refused?.({ pod: verdict.pod, operation: 'EVICT', username, budgets: refusing });
      }
      return refused(answered.response);
    }
    const isHeld = new Map<Grant, boolean>();
    for (const { grant, pod } of answered.placed) {
      const reserved = await reserveRoom(webhook, { room: roomToHold(grant), uid: pod.uid, dryRun });
      if (reserved.refused !== undefined) return refused(answer(reserved.refused.answer));
      isHeld.set(grant, reserved.isHeld);
    }
    const rooms = await reserveRooms(webhook, { rooms: answered.rooms, dryRun });
    if (rooms.refused !== undefined) return refused(answer(rooms.refused));
    if (dryRun) return { granted: true, members };
    for (const { grant } of answered.placed) keepRoom(webhook.index, grant, nowMs, isHeld.get(grant));
    keepFoundRoom(webhook.index.room, answered.rooms, nowMs, rooms.held);
    try {
      const entered = answered.limits.map(
        (one) => ({ ...one, by: username, way: 'GroupEviction', now: nowMs, reserve }) as const,
      );
      await writeAllOrNone([
        ...writesOf(webhook, answered, { books, namespace, nowMs, reserve }),
        ...(entered.length === 0 ? [] : policyWrites(webhook.client, policies, entered)),
      ]);
      return { granted: true, members };
    } catch (error) {
      for (const { grant } of answered.placed) webhook.index.room?.withdraw(grant.room?.ask.unit ?? '');
      for (const { ask } of answered.rooms) webhook.index.room?.withdraw(ask.unit);
      if (!isConflict(error)) throw error;
      for (const { entry } of answered.unavailability)
        await budgets.refresh(namespace, entry.budget.metadata.name ?? '');
      await sleep(clock, RETRY_MS * (1 + attempt), signal);
    }
  }
  return refused(unprocessed('of this group'));
}

type Granted = Extract<GroupVerdict, { allowed: true }>;
type Refusal = Extract<GroupVerdict, { allowed: false }>;

interface GroupAsked {
  readonly members: readonly CountedPod[];
  readonly namespace: string;
  readonly spec: GroupEvictionSpec;
  readonly books: Books;
  readonly nowMs: number;
  readonly evicted: string | undefined;
}

/** The decision, with every budget as its books have it. */
function askAll(
  { budgets, compat, gates, index, scaleOf }: GroupWebhook,
  { books, evicted, members, namespace, nowMs, spec }: GroupAsked,
): Granted | { readonly verdict: Refusal; readonly response: ReviewResponse } {
  const facts = [...books.values()].map(({ budget, ledger }) => {
    if (ledger === undefined) return readBudget(budget);
    const status: DisruptionLedgerStatus = { ...ledger.status, grants: ledger.status?.grants ?? [] };
    return readBudget({ ...budget, status });
  });
  return budgets.ask(namespace, (unavailability) =>
    index.suppose(facts, () => {
      const question = { members, disruption: index, unavailability, gates, scaleOf, nowMs, compat };
      const verdict = decideGroupEviction(question);
      if (verdict.allowed) return verdict;
      const context = { spec, members: members.length, index, nowMs, compat, evicted };
      return { verdict, response: tell(formatGroupRefusal(verdict, context)) };
    }),
  );
}

const refused = (response: ReviewResponse): Settlement => ({ granted: false, response });

const unprocessed = (budget: string): ReviewResponse => answer(processing(budget));

function noMembers(namespace: string, spec: GroupEvictionSpec): ReviewResponse {
  const message = `Cannot evict group ${formatGroup(spec)}: no pod of it runs in namespace ${namespace}`;
  return refuse({ code: 404, reason: 'NotFound', message });
}

/** Where the approvals of each PodDisruptionBudget are kept: its ledger where groups count, else its own status. */
type Books = ReadonlyMap<string, { readonly budget: PodDisruptionBudget; readonly ledger?: DisruptionLedger }>;

/** Reads the books of every budget that selects a member; the name of a budget that has none. */
async function openBooks(
  webhook: GroupWebhook,
  members: readonly CountedPod[],
  signal: AbortSignal,
): Promise<Books | string> {
  const { clock, client, index } = webhook;
  const books = new Map<string, { budget: PodDisruptionBudget; ledger?: DisruptionLedger }>();
  for (const { name: pod, namespace } of members) {
    for (const view of index.ask(namespace, pod, clock.now())?.views ?? []) {
      const { name } = view.budget;
      if (books.has(name)) continue;
      const inGroups = view.mode.unit === 'PodGroup' || view.budget.status.podGroupBudget?.status === 'True';
      const budget = inGroups ? webhook.budget(namespace, name) : await readOwn(client, namespace, name);
      if (budget === undefined) return name;
      if (!inGroups) {
        books.set(name, { budget });
        continue;
      }
      const ledger = await openLedger(webhook, namespace, name, signal);
      if (ledger === undefined || !(await hasSeen(webhook, ledger.status?.podsResourceVersion, signal))) return name;
      books.set(name, { budget, ledger });
    }
  }
  return books;
}

/** The ledger as it is now, and held by no other replica; undefined where there is none to be had. */
async function openLedger(
  webhook: GroupWebhook,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<DisruptionLedger | undefined> {
  const ledger = await webhook.ledgers.read(namespace, name);
  if (ledger === undefined || !webhook.ledgers.isHeldElsewhere(ledger)) return ledger;
  const isOurs = await webhook.ledgers.claim(ledger, signal);
  return isOurs ? webhook.ledgers.read(namespace, name) : undefined;
}

function writesOf(
  webhook: GroupWebhook,
  verdict: Granted,
  {
    books,
    namespace,
    nowMs,
    reserve,
  }: Pick<GroupAsked, 'books' | 'namespace' | 'nowMs'> & Pick<GroupEvictionCharge, 'reserve'>,
): Write[] {
  const { budgets, client, identity, index, ledgers } = webhook;
  // Budgets that count pods have no place to keep it: they are asked again when the group goes.
  const charged = verdict.disruption.filter(
    ({ budget }) => reserve === undefined || books.get(budget)?.ledger !== undefined,
  );
  const until = reserve && new Date(reserve.until).toISOString();
  const disruption = charged.map(({ budget: name, pods }): Write => {
    const book = books.get(name);
    if (book === undefined) throw new Error(`Cannot charge budget ${name}: its books were not opened`);
    const { budget, ledger } = book;
    if (ledger !== undefined) {
      // Their deletion is pinned: nobody but the controller carries it out.
      const grants = pods.map(({ cost, name: pod }): LedgerGrant => {
        const uid = index.pod(namespace, pod)?.uid ?? '';
        const at = new Date(nowMs).toISOString();
        const found = verdict.placed.find((one) => one.pod.name === pod);
        const room = found && roomOf(found.grant);
        const grant: LedgerGrant = {
          name: pod,
          uid,
          at,
          ...(until !== undefined && { until }),
          cost,
          kind: 'Group',
          pinned: 'uid',
          by: identity,
        };
        return room === undefined ? grant : { ...grant, room };
      });
      return {
        put: async () => {
          const after = await ledgers.write(ledger, withGrants(ledger.status ?? {}, grants), { grants: true });
          return () => ledgers.write(after, ledger.status ?? {}, { grants: true });
        },
      };
    }
    const status = pods.reduce(
      (to, { cost, name: pod }) => chargedStatus(to, { namespace, pod, cost, now: nowMs }, index),
      budget.status ?? {},
    );
    return {
      put: async () => {
        const after = await client.updateStatus(podDisruptionBudgetType, { ...budget, status });
        return () => client.updateStatus(podDisruptionBudgetType, { ...after, status: budget.status });
      },
    };
  });
  if (reserve !== undefined) return disruption;
  const unavailability = verdict.unavailability.map(({ entry, status }) => budgets.write(entry.budget, status));
  return [...disruption, ...unavailability];
}
