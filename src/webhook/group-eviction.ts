import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../api/generated/policy-v1.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../api/kruise/types.ts';
import type { GroupEviction, GroupEvictionSpec } from '../api/quorate/group-eviction.ts';
import type { DisruptionLedger, DisruptionLedgerStatus, LedgerGrant } from '../api/quorate/types.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import { podDisruptionBudgetType } from '../api/resource-types.ts';
import { chargedStatus, type PodFacts, processing, readBudget } from '../decisions/disruption/index.ts';
import {
  decideGroupEviction,
  type DisruptionCharge,
  formatGroup,
  formatGroupRefusal,
  type GroupVerdict,
  membersOf,
  MISSING_RIGHT,
} from '../decisions/group-eviction/index.ts';
import { refusedBudgets } from '../decisions/unavailability/index.ts';
import { type Client, isConflict, isNotFound, sleep } from '../machinery/runtime/index.ts';
import type { EvictionWebhook } from './eviction.ts';
import { readOwn } from './eviction-reads.ts';
import { type PodWebhook, refresh, unseenPods } from './pods.ts';
import { withGrants } from './ledger-grants.ts';
import { hasSeen } from './pods-seen.ts';
import { allow, refuse, type Requester, type ReviewRequest, type ReviewResponse } from './review.ts';

export type GroupWebhook = EvictionWebhook & PodWebhook;

/** All members are recorded with every budget and may go, or the answer to whoever asked. */
export type Settlement =
  | { readonly granted: true; readonly members: readonly PodFacts[] }
  | { readonly granted: false; readonly response: ReviewResponse };

const ATTEMPTS = 20;
const RETRY_MS = 25;

/** Judges a GroupEviction as it is created; the grant is recorded with every budget before it is given. */
export async function reviewGroupEviction(
  webhook: GroupWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const { spec = {} } = request.object as unknown as GroupEviction;
  const dryRun = request.dryRun === true;
  const { userInfo = {}, namespace = '' } = request;
  const { username } = userInfo;
  if (!(await mayEvict(webhook.client, userInfo, namespace))) {
    const message = `User "${username ?? ''}" ${MISSING_RIGHT} in namespace "${namespace}"`;
    return refuse({ code: 403, reason: 'Forbidden', message });
  }
  const settlement = await settleGroup(webhook, { namespace, spec, dryRun, username }, signal);
  return settlement.granted ? allow : settlement.response;
}

/** Whoever may not evict the pods one by one may not evict them together either. */
async function mayEvict(
  client: Client,
  { extra, groups, uid, username }: Requester,
  namespace: string,
): Promise<boolean> {
  const resourceAttributes = { namespace, verb: 'create', group: '', resource: 'pods', subresource: 'eviction' };
  const review = await client.request<{ status?: { allowed?: boolean } }>(
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, uid, groups, extra, resourceAttributes },
    },
  );
  return review.status?.allowed === true;
}

export interface GroupRequest {
  readonly namespace: string;
  readonly spec: GroupEvictionSpec;
  readonly dryRun: boolean;
  readonly username?: string | undefined;
}

/**
 * Asks every budget of every member and charges them all, each by compare-and-swap; what was charged before one of
 * them turned out to have changed is taken back, and all are asked again. Members recorded already cost nothing.
 */
export async function settleGroup(
  webhook: GroupWebhook,
  { dryRun, namespace, spec, username = '' }: GroupRequest,
  signal: AbortSignal,
): Promise<Settlement> {
  const { clock, gates, index, indexes, scaleOf } = webhook;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const members = membersOf(index, namespace, spec);
    if (members.length === 0) return refused(noMembers(namespace, spec));
    const books = await openBooks(webhook, members, signal);
    if (typeof books === 'string') return refused(unprocessed(books));
    const unseen = unseenPods(
      webhook,
      members.flatMap(({ name }) => indexes.of(namespace).judging(name)),
    );
    if (unseen !== undefined) {
      if (!(await hasSeen(webhook, unseen, signal))) return refused(unprocessed('of this group'));
      continue;
    }
    const nowMs = clock.now();
    const verdict = decideGroupEviction({
      members,
      disruption: index,
      unavailability: indexes.of(namespace),
      gates,
      scaleOf,
      nowMs,
      compat: webhook.compat,
    });
    if (!verdict.allowed) {
      if (verdict.reason === 'UnavailableBudget' && !dryRun) {
        const budgets = refusedBudgets(namespace, verdict.refusals);
        webhook.refused?.({ pod: verdict.pod, operation: 'EVICT', username, budgets });
      }
      const context = { spec, members: members.length, index, nowMs, compat: webhook.compat };
      const { causes, retryAfterSeconds, ...answer } = formatGroupRefusal(verdict, context);
      const details = { causes: [...causes], ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
      return refused(refuse({ ...answer, details }));
    }
    if (dryRun) return { granted: true, members };
    try {
      await commit(writesOf(webhook, verdict, { books, namespace, nowMs }));
      return { granted: true, members };
    } catch (error) {
      if (!isConflict(error)) throw error;
      await refresh(webhook, namespace, verdict.unavailability);
      await sleep(clock, RETRY_MS * (1 + attempt), signal);
    }
  }
  return refused(unprocessed('of this group'));
}

const refused = (response: ReviewResponse): Settlement => ({ granted: false, response });

function unprocessed(budget: string): ReviewResponse {
  const { cause = '', code, message, reason, retryAfterSeconds = 0 } = processing(budget);
  const details = { causes: [{ reason: 'DisruptionBudget', message: cause }], retryAfterSeconds };
  return refuse({ code, reason, message, details });
}

function noMembers(namespace: string, spec: GroupEvictionSpec): ReviewResponse {
  const message = `Cannot evict group ${formatGroup(spec)}: no pod of it runs in namespace ${namespace}`;
  return refuse({ code: 404, reason: 'NotFound', message });
}

/** Where the approvals of each PodDisruptionBudget are kept: its ledger where groups count, else its own status. */
type Books = ReadonlyMap<string, { readonly budget: PodDisruptionBudget; readonly ledger?: DisruptionLedger }>;

/** Reads the books of every budget that selects a member, and tells the index; the name of a budget that has none. */
async function openBooks(
  webhook: GroupWebhook,
  members: readonly PodFacts[],
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
        index.setBudget(readBudget(budget));
        continue;
      }
      const ledger = await openLedger(webhook, namespace, name, signal);
      if (ledger === undefined || !(await hasSeen(webhook, ledger.status?.podsResourceVersion, signal))) return name;
      books.set(name, { budget, ledger });
      const status: DisruptionLedgerStatus = { ...ledger.status, grants: ledger.status?.grants ?? [] };
      index.setBudget(readBudget({ ...budget, status }));
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

type Written = KubeObject & { status?: object | undefined };

interface Write {
  readonly before: Written;
  readonly status: object;
  readonly put: (before: Written, status: object) => Promise<Written>;
  /** Tells the index what was written. */
  readonly written: (after: KubeObject) => void;
}

function writesOf(
  webhook: GroupWebhook,
  verdict: Extract<GroupVerdict, { allowed: true }>,
  { books, namespace, nowMs }: { books: Books; namespace: string; nowMs: number },
): Write[] {
  const { client, index, indexes, ledgers } = webhook;
  const putBy =
    (type: ResourceType<Written>): Write['put'] =>
    (before, status) =>
      client.updateStatus(type, { ...before, status });
  const charged = (status: PodDisruptionBudgetStatus, { pods }: DisruptionCharge): PodDisruptionBudgetStatus =>
    pods.reduce((to, { cost, name: pod }) => chargedStatus(to, { namespace, pod, cost, now: nowMs }, index), status);
  // Their deletion is pinned: nobody but the controller carries it out.
  const granted = ({ pods }: DisruptionCharge): LedgerGrant[] =>
    pods.map(({ cost, name }) => ({
      name,
      uid: index.pod(namespace, name)?.uid ?? '',
      at: new Date(nowMs).toISOString(),
      cost,
      kind: 'Group',
      pinned: 'uid',
      by: webhook.identity,
    }));
  const disruption = verdict.disruption.map((charge): Write => {
    const book = books.get(charge.budget);
    if (book === undefined) throw new Error(`Cannot charge budget ${charge.budget}: its books were not opened`);
    const { budget, ledger } = book;
    const before = ledger ?? budget;
    return {
      before,
      put:
        ledger === undefined
          ? putBy(podDisruptionBudgetType as ResourceType<Written>)
          : (from, status) => ledgers.write(from as DisruptionLedger, status, { grants: true }),
      status:
        ledger === undefined
          ? { ...before.status, ...charged(before.status ?? {}, charge) }
          : withGrants(ledger.status ?? {}, granted(charge)),
      written: (after) => index.setBudget(readBudget({ ...budget, status: (after as DisruptionLedger).status ?? {} })),
    };
  });
  const unavailability = verdict.unavailability.map(
    ({ entry, status }): Write => ({
      before: entry.budget,
      status,
      put: putBy(POD_UNAVAILABLE_BUDGETS as ResourceType<Written>),
      written: (after) => indexes.of(namespace).setBudget(after as PodUnavailableBudget),
    }),
  );
  return [...disruption, ...unavailability];
}

/** All or none: what was written before a failure is taken back. */
async function commit(writes: readonly Write[]): Promise<void> {
  const done: { write: Write; after: Written }[] = [];
  for (const write of writes) {
    try {
      const after = await write.put(write.before, write.status);
      done.push({ write, after });
      write.written(after);
    } catch (error) {
      // A budget that is gone guards nothing.
      if (isNotFound(error)) continue;
      for (const { after, write: one } of done) {
        await one.put(after, one.before.status ?? {}).then(one.written, () => {});
      }
      throw error;
    }
  }
}
