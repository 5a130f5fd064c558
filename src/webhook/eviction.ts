import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import {
  type DisruptionLedger,
  type DisruptionLedgerStatus,
  isLedgerOf,
  type LedgerGrant,
} from '../api/quorate/types.ts';
import {
  type BudgetFacts,
  type BudgetView,
  type DisruptionIndex,
  type EvictionQuestion,
  type Grant,
  exemptionOf,
  followers,
  judgeEviction,
  keepRoom,
  type CountedPod,
  processing,
  readBudget,
  readBudgetStatus,
  type RefusalAnswer,
  roomToHold,
} from '../decisions/disruption/index.ts';
import { isConflict, isNotFound, sleep } from '../machinery/runtime/index.ts';
import { answer, changedTooOften, held, noLedger, notFound, refusal } from './eviction-answers.ts';
import { isAsRead, lookForPod, readOwn, readPodNow } from './eviction-reads.ts';
import { hasRoom, kindOf, needsVersion, termsOf } from './grant-terms.ts';
import { type Judged, passed, refusedFor, type TellJudged, type WhyRefused } from './judged.ts';
import type { LedgerDesk } from './ledger-desk.ts';
import { grantOf, MAX_GRANTS } from './ledger-grants.ts';
import { isDryRun, pinPatch, type Preconditions, preconditionsOf } from './pins.ts';
import { type BudgetName, isHeldBack, type Publisher } from './publisher.ts';
import { hasSeen, type NamespaceFollower, sees } from './pods-seen.ts';
import { reserveRoom, type RoomHolder } from './reserve.ts';
import { keepListedRooms, type RoomFollower, roomOf } from './room.ts';
import { allow, allowWith, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface EvictionWebhook extends NamespaceFollower {
  /** Kept current from the cluster's pods, budgets, ledgers and groups. */
  readonly index: DisruptionIndex;
  readonly budget: (namespace: string, name: string) => PodDisruptionBudget | undefined;
  readonly isCordoned: (node: string) => boolean;
  readonly ledgers: LedgerDesk;
  /** Names this replica in what it grants. */
  readonly identity: string;
  /**
   * `read`: budgets are read with every eviction, as nobody of us holds evictions back while one has changed. `barrier`:
   * the API server does, until our controller says that all replicas go by the change.
   */
  readonly changes: 'read' | 'barrier';
  /** Sees to it that the API server's own check lets a granted pod pass; absent where its numbers are not ours. */
  readonly publisher?: Pick<Publisher, 'makeRoom'> | undefined;
  /** Follows where pods could go; absent where that is switched off. */
  readonly room?: RoomFollower | undefined;
  /** Told of room that a budget wants held and that was granted without. */
  readonly notHeld?: RoomHolder['notHeld'];
  /** Told what became of every eviction. */
  readonly judged?: TellJudged | undefined;
}

/** The answer, and what was written down for it. */
export interface Outcome {
  readonly response: ReviewResponse;
  readonly judged: Judged;
  readonly recorded?: Recorded | undefined;
}

export interface Recorded {
  readonly ledger: { readonly namespace: string; readonly name: string };
  readonly grant: LedgerGrant;
  /** What was there for the same pod before. */
  readonly before: LedgerGrant | undefined;
  /** The unit that room was kept for with it. */
  readonly unit?: string | undefined;
}

/** As often as the API server itself tries before it gives up. */
const ATTEMPTS = 20;
const RETRY_MS = 25;

/** Something was read or changed meanwhile: judge again. */
const AGAIN = 'again';

const said = (reason: WhyRefused, refused: RefusalAnswer, budget?: string): Outcome => ({
  response: answer(refused),
  judged: refusedFor(reason, budget),
});

/** Kubernetes decides by itself. */
const leave: Outcome = { response: allow, judged: passed('NoGroupBudget') };

/**
 * Judges an eviction by the groups its budget counts. Nothing is said about pods whose budget counts pods: Kubernetes
 * does that itself. Whatever passes, also what costs nothing, is written to the ledger by compare-and-swap before it is
 * given, or given by the one replica that holds the ledger, so that of any number of replicas only one can give the
 * last; and it is pinned to the pod that was judged where another could be hit in its place.
 */
export async function recordEviction(
  webhook: EvictionWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<Outcome> {
  const asked: Asked = {
    request,
    pod: { namespace: request.namespace ?? '', name: request.name ?? '' },
    dryRun: isDryRun(request),
    given: preconditionsOf(request),
    fresh: undefined,
    signal,
  };
  const told = (outcome: Outcome): Outcome => {
    const { judged } = outcome;
    webhook.judged?.(asked.pod, asked.dryRun ? { ...judged, result: 'dry_run' } : judged);
    return outcome;
  };
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const outcome = await tryOnce(webhook, asked, attempt);
      if (outcome !== AGAIN) return told(outcome);
    }
  } catch (error) {
    webhook.judged?.(asked.pod, refusedFor('Unavailable'));
    throw error;
  }
  return told(said('Unavailable', changedTooOften));
}

/** Gone, or another pod than the client means: the API server says so itself. Or so new that our copy is behind. */
function judgedUnknown({ allowed, status }: ReviewResponse): Judged {
  if (allowed) return passed('OtherPod');
  return status?.code === 404 ? passed('NotFound') : refusedFor('PodsNotSeen');
}

interface Asked {
  readonly request: ReviewRequest;
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly dryRun: boolean;
  /** What the client wants the pod to be. */
  readonly given: Preconditions;
  readonly signal: AbortSignal;
  /** The pod as it was read for an eviction that has to be pinned to its version. */
  fresh: Pod | undefined;
}

async function tryOnce(webhook: EvictionWebhook, asked: Asked, attempt: number): Promise<Outcome | typeof AGAIN> {
  const { clock, index, ledgers } = webhook;
  const { pod, signal } = asked;
  const unknown = await answerUnknown(webhook, asked.request, signal);
  if (unknown !== undefined) return { response: unknown, judged: judgedUnknown(unknown) };
  const question = index.ask(pod.namespace, pod.name, clock.now());
  if (question === undefined) return AGAIN;
  const view = question.views[0];
  if (view === undefined || question.views.length > 1) return leave;
  const { name, needsRoom } = view.budget;
  if (needsRoom) await webhook.room?.freshen(signal);
  if (!countsGroups(view)) return needsRoom ? await lookForRoom(webhook, asked, question.pod.uid) : leave;
  const reads = webhook.changes === 'read';
  const copy = reads ? await readOwn(webhook.client, pod.namespace, name) : webhook.budget(pod.namespace, name);
  // Deleted: it protects nothing. Where it is not read, the watch has still to show it.
  if (copy === undefined) return reads ? leave : said('BudgetNotObserved', processing(name), name);
  // A grant is proven by being listed; every other answer wants the ledger as it is now.
  const cached = attempt === 0 && !asked.dryRun ? ledgers.get(pod.namespace, name) : undefined;
  const ledger = cached ?? (await ledgers.read(pod.namespace, name));
  if (ledger?.status === undefined || !isLedgerOf(ledger, copy))
    return cached ? AGAIN : said('LedgerMissing', noLedger(name), name);
  const { observedGeneration = 0, podsResourceVersion } = ledger.status;
  const isBehind = observedGeneration > (copy.metadata.generation ?? 0);
  const budget = isBehind ? await readOwn(webhook.client, pod.namespace, name) : copy;
  if (budget === undefined) return AGAIN;
  if (!sees(webhook, podsResourceVersion) && !(await hasSeen(webhook, podsResourceVersion, signal)))
    return said('PodsNotSeen', processing(name), name);
  const outcome = await judge(webhook, asked, { budget, ledger, known: view.budget, isCached: cached !== undefined });
  if (outcome !== LOST) return outcome;
  if (cached === undefined) await sleep(clock, RETRY_MS * (1 + attempt), signal);
  return AGAIN;
}

/**
 * What is said of a pod that our copies do not know, or not as the client means it; undefined once it can be judged. No
 * budget of either kind can say anything about it before that.
 */
export async function answerUnknown(
  webhook: EvictionWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse | undefined> {
  const { name = '', namespace = '' } = request;
  const { uid } = preconditionsOf(request);
  const known = webhook.index.pod(namespace, name);
  if (known !== undefined && (!uid || uid === known.uid)) return undefined;
  const found = await lookForPod(webhook, { namespace, name }, signal);
  if (found === 'Behind') return answer(processing('of this pod'));
  // Let pass, the eviction could hit a pod of this name that comes before the API server looks, and nobody has judged.
  if (found === 'Absent') return notFound(name);
  // Another pod than the client means: the API server says so itself.
  return uid && uid !== found.uid ? allow : undefined;
}

/** A budget that counts pods is Kubernetes' own affair, but for the room that it asks for. */
async function lookForRoom(webhook: EvictionWebhook, { dryRun, pod }: Asked, uid: string): Promise<Outcome> {
  const { index, isCordoned } = webhook;
  const now = webhook.clock.now();
  const judgement = { isCordoned };
  const verdict = judgeEviction(index, pod, now, judgement);
  if (verdict === undefined) return leave;
  if (verdict.allowed) {
    const { isHeld, refused } = await reserveRoom(webhook, { room: roomToHold(verdict), uid, dryRun });
    if (refused !== undefined) return said(refused.reason, refused.answer, verdict.charge?.view.budget.name);
    if (!dryRun) keepRoom(index, verdict, now, isHeld);
    return leave;
  }
  if (verdict.reason !== 'NoRoom' && verdict.reason !== 'CannotTell') return leave;
  const response = refusal(index, verdict, { pod, now, judgement });
  return { response, judged: refusedFor(verdict.reason, verdict.views[0]?.budget.name) };
}

/** Another replica or the controller was faster: judge again on what they wrote, a little later. */
const LOST = 'lost';

interface Books {
  readonly budget: PodDisruptionBudget;
  readonly ledger: DisruptionLedger;
  readonly known: BudgetView['budget'];
  readonly isCached: boolean;
}

async function judge(
  webhook: EvictionWebhook,
  asked: Asked,
  { budget, isCached, known, ledger }: Books,
): Promise<Outcome | typeof AGAIN | typeof LOST> {
  const { clock, ledgers } = webhook;
  const { given, pod, request, signal } = asked;
  const { name } = known;
  const { grants = [] } = ledger.status ?? {};
  const status: DisruptionLedgerStatus = { ...ledger.status, grants };
  const now = clock.now();
  // Where nobody of us writes what the API server goes by, it may refuse what groups allow: nothing is recorded for that.
  const published = webhook.changes === 'read' ? readBudgetStatus(budget.status) : undefined;
  const facts = { ...readBudget({ ...budget, status }, known), published };
  // The watch may not have shown them yet.
  if (facts.needsRoom) keepListedRooms(webhook, { namespace: pod.namespace, name }, grants, now);
  const answered = askWith(webhook, { budget: facts, pod, now });
  if (answered === undefined) return AGAIN;
  if ('response' in answered) return isCached ? AGAIN : answered;

  const { question, verdict, view } = answered;
  const kind = kindOf(question.pod, verdict);
  const others = grants.filter(({ uid }) => uid !== question.pod.uid).length;
  const isFull = others >= MAX_GRANTS || (webhook.changes === 'barrier' && !hasRoom(budget, kind, others));
  if (isFull) return said(isHeldBack(budget) ? 'BudgetNotObserved' : 'MapFull', processing(name), name);
  const byVersion = needsVersion(kind, view);
  if (byVersion && !isAsRead(asked.fresh, question.pod)) {
    asked.fresh = await readPodNow(webhook, pod, signal);
    return asked.fresh === undefined ? said('PodsNotSeen', processing('of this pod'), name) : AGAIN;
  }
  const isHeld = ledgers.isHeldElsewhere(ledger);
  let isReserved = false;
  const { reason } = verdict;
  if (asked.dryRun || !isHeld) {
    const reserved = await reserveRoom(webhook, {
      room: roomToHold(verdict),
      uid: question.pod.uid,
      dryRun: asked.dryRun,
    });
    if (reserved.refused !== undefined) return said(reserved.refused.reason, reserved.refused.answer, name);
    isReserved = reserved.isHeld;
  }
  if (asked.dryRun) {
    const response = isHeld ? { ...allow, warnings: [LISTED_ONLY] } : allow;
    return { response, judged: { result: 'granted', reason, budget: name } };
  }
  if (isHeld) return (await ledgers.claim(ledger, signal)) ? AGAIN : said('HeldElsewhere', held(name), name);

  const cost = verdict.charge?.cost ?? 0;
  const fresh = byVersion ? asked.fresh : undefined;
  const terms = termsOf({ pod: question.pod, kind, cost, now, by: webhook.identity, fresh, given });
  const { pin } = terms;
  const room = roomOf(verdict);
  const grant: LedgerGrant = room === undefined ? terms.grant : { ...terms.grant, room };
  // Before the ledger is written: another eviction may be judged meanwhile.
  keepRoom(webhook.index, verdict, now, isReserved);
  const withdraw = (): void => webhook.index.room?.withdraw(verdict.room?.ask.unit ?? '');
  try {
    const before = grantOf(status, grant);
    const following = (verdict.charge === undefined ? [] : followers(verdict.charge)).map(
      ({ name, uid }): LedgerGrant => ({ name, uid, at: grant.at, cost: 0, kind: 'Group', by: webhook.identity }),
    );
    await ledgers.grant(ledger, grant, following);
    const recorded = { ledger: { namespace: pod.namespace, name }, grant, before, unit: verdict.room?.ask.unit };
    if (!(await hasPassage(webhook, recorded.ledger, question.pod, signal))) {
      withdraw();
      await ledgers.takeBack(recorded.ledger, grant, before);
      for (const one of following) await ledgers.takeBack(recorded.ledger, one, grantOf(status, one));
      return said('Unavailable', { ...processing(name), retryAfterSeconds: 1 }, name);
    }
    const result = before === undefined ? 'granted' : 'again';
    const judged: Judged = { result, reason, budget: name, pin: grant.pinned };
    return { response: allowWith(pinPatch(request, pin)), judged, recorded };
  } catch (error) {
    withdraw();
    if (isNotFound(error)) return said('LedgerMissing', noLedger(name), name);
    if (!isConflict(error)) throw error;
    return LOST;
  }
}

interface Granted {
  readonly question: EvictionQuestion;
  readonly view: BudgetView;
  readonly verdict: Grant;
}

/** The decision, with the budget as its ledger has it. Undefined where the pod or its budget is another by now. */
function askWith(
  { index, isCordoned }: EvictionWebhook,
  { budget, now, pod }: { budget: BudgetFacts; pod: Asked['pod']; now: number },
): Granted | Outcome | undefined {
  const judgement = { isCordoned, again: true };
  return index.suppose([budget], () => {
    const question = index.ask(pod.namespace, pod.name, now, judgement);
    const view = question?.views.find((one) => one.budget.name === budget.name);
    const verdict = judgeEviction(index, pod, now, judgement);
    if (question === undefined || view === undefined || verdict === undefined) return undefined;
    return verdict.allowed
      ? { question, view, verdict }
      : {
          response: refusal(index, verdict, { pod, now, judgement }),
          judged: refusedFor(verdict.reason, budget.name, view.unit?.key),
        };
  });
}

/** Pods that no budget protects pass the API server's check without a look at any number. */
async function hasPassage(
  { publisher }: EvictionWebhook,
  budget: BudgetName,
  pod: CountedPod,
  signal: AbortSignal,
): Promise<boolean> {
  if (publisher === undefined || exemptionOf(pod) !== undefined) return true;
  return publisher.makeRoom(budget, pod, signal);
}

const LISTED_ONLY =
  'another replica of Quorate decides for this budget: what it granted within the last moments is not in this answer';

const countsGroups = ({ budget, mode }: BudgetView): boolean =>
  mode.unit === 'PodGroup' || budget.status.podGroupBudget?.status === 'True';
