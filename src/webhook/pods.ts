import type { Pod } from '../api/generated/core-v1.ts';
import type { ProtectedOperation } from '../api/kruise/types.ts';
import type { FoundRoom, RoomJudge } from '../decisions/disruption/index.ts';
import {
  asksForRoom,
  type BudgetIndex,
  type BudgetIndexes,
  chargedUnavailability,
  classifyUpdate,
  formatUnavailabilityRefusal,
  foundRooms,
  type UnavailabilityGrant,
  type IndexedBudget,
  isUnseenByKruise,
  judgeUnavailability,
  keepFoundRoom,
  keepRecordedRoom,
  refusedBudgets,
  type RefusedRequest,
  type UnavailabilityGates,
} from '../decisions/unavailability/index.ts';
import { type Client, isConflict, sleep } from '../machinery/runtime/index.ts';
import { writeAllOrNone } from './all-or-none.ts';
import type { BudgetCopies } from './budget-copies.ts';
import { answer, tell } from './eviction-answers.ts';
import { isLeftover } from './leftovers.ts';
import { hasSeen, type PodsFollower, sees } from './pods-seen.ts';
import { type Proof, provePod } from './proof.ts';
import { reserveRooms, type RoomHolder } from './reserve.ts';
import type { RoomFollower } from './room.ts';
import { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface PodWebhook extends PodsFollower {
  readonly client: Client;
  /** Kept current from the cluster's pods and budgets; reviews only ask it, through `budgets`. */
  readonly indexes: BudgetIndexes;
  readonly budgets: BudgetCopies;
  readonly gates: UnavailabilityGates;
  readonly scaleOf: (ownerUid: string) => number | undefined;
  /** OpenKruise's quirks instead of the safer rules. */
  readonly compat?: boolean | undefined;
  /** Tells metrics and events of a refusal. */
  readonly refused?: ((refusal: RefusedRequest) => void) | undefined;
  /** Who follows the nodes for budgets that ask for room, and who knows them. */
  readonly room?: RoomFollower | undefined;
  readonly roomJudge?: (() => RoomJudge | undefined) | undefined;
  /** Told of room that a budget wants held and that was granted without. */
  readonly notHeld?: RoomHolder['notHeld'];
}

/** Every budget agrees, and `charge` says so to those that keep count; or the answer is known already. */
export type Opinion =
  | { readonly settled: true; readonly response: ReviewResponse }
  | { readonly settled: false; readonly charge: () => Promise<ReviewResponse> };

const ATTEMPTS = 4;
const RETRY_MS = 100;

/** Judges evictions, deletes, updates and resizes of pods by the PodUnavailableBudgets that cover them. */
export async function reviewPod(
  webhook: PodWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const opinion = await askBudgets(webhook, request, signal);
  return opinion.settled ? opinion.response : opinion.charge();
}

/** Asks every budget of the pod once; nobody is charged before `charge` is called. */
export async function askBudgets(webhook: PodWebhook, request: ReviewRequest, signal: AbortSignal): Promise<Opinion> {
  const asked = await subjectOf(webhook, request);
  if ('allowed' in asked) return settled(asked);
  const judged = await judge(webhook, asked, signal);
  if (!('grants' in judged)) return settled(judged);
  if (asked.dryRun) {
    const { refused } = await reserveRooms(holderOf(webhook), { rooms: foundRooms(judged.grants), dryRun: true });
    return settled(refused === undefined ? allow : answer(refused));
  }
  if (judged.grants.every(({ verdict }) => !verdict.record)) return settled(allow);
  return { settled: false, charge: () => charge(webhook, asked, { judged, signal }) };
}

const settled = (response: ReviewResponse): Opinion => ({ settled: true, response });

/** What a request would do to which pod. */
interface Asked {
  readonly namespace: string;
  readonly name: string;
  readonly operation: ProtectedOperation;
  readonly username: string;
  readonly dryRun: boolean;
  /** The pod before the request; undefined where it is no longer known. */
  readonly pod: () => Pod | undefined;
}

async function subjectOf(webhook: PodWebhook, request: ReviewRequest): Promise<Asked | ReviewResponse> {
  const { name: podName = '', namespace = '', oldObject, subResource, userInfo } = request;
  const index = webhook.indexes.of(namespace);
  const known = (): Pod | undefined => (podName === '' ? undefined : index.pod(podName));
  const old = subResource === 'eviction' ? known() : ((oldObject as Pod | null | undefined) ?? undefined);
  const name = old?.metadata.name ?? '';
  const covering = webhook.budgets.ask(namespace, (one) => one.judging(name));
  const operation = old && operationOf(webhook, request, { old, keys: groupKeys(covering) });
  if (old === undefined || operation === undefined) return allow;
  // OpenKruise reads the options of a request only, so that `?dryRun=All` on an eviction is charged.
  const dryRun = hasDryRun(request) || (request.dryRun === true && webhook.compat !== true);
  const asked = { namespace, name, operation, username: userInfo?.username ?? '', dryRun };
  if (subResource === 'eviction') return { ...asked, pod: known };
  const proof = dryRun || covering.length === 0 ? undefined : await proofOf(webhook, old, { index, namespace });
  if (proof?.found === 'Gone') return allow;
  if (proof?.found === 'Other') return tryAgain(webhook, operation, `pod ${name} is not the one that was asked about`);
  return { ...asked, pod: () => proof?.pod ?? old };
}

interface Granted {
  readonly grants: readonly { readonly entry: IndexedBudget; readonly verdict: UnavailabilityGrant }[];
}

async function judge(webhook: PodWebhook, asked: Asked, signal: AbortSignal): Promise<Granted | ReviewResponse> {
  const { name, namespace, operation, username } = asked;
  const { budgets, client, clock, compat = false, gates, scaleOf } = webhook;
  const unseen = (): string | undefined => budgets.ask(namespace, (index) => unseenPods(webhook, index.judging(name)));
  for (let version = unseen(); version !== undefined; version = unseen()) {
    if (!(await hasSeen(webhook, version, signal)))
      return tryAgain(webhook, operation, `the budgets of pod ${name} were counted from pods not seen here yet`);
  }
  if (operation === 'EVICT' && asksAnyForRoom(webhook, namespace, name)) await webhook.room?.freshen(signal);
  const pod = asked.pod();
  if (pod === undefined) return allow;
  const nowMs = clock.now();
  const judge = webhook.roomJudge?.();
  const answered = budgets.ask(namespace, (index) => {
    const covering = index.judging(name);
    if (judge !== undefined && operation === 'EVICT') {
      for (const entry of index.budgets()) keepRecordedRoom(entry, judge, nowMs);
    }
    const judgement = judgeUnavailability({
      operation,
      pod,
      covering,
      gates,
      scaleOf,
      nowMs,
      compat,
      room: { judge },
    });
    if (judgement.allowed) return judgement;
    const { refusals } = judgement;
    return { refusals, response: tell(formatUnavailabilityRefusal(operation, refusals, { compat })) };
  });
  if ('grants' in answered) return answered;
  if (await isLeftover(client, { namespace, operation, username, pod })) return allow;
  if (!asked.dryRun || compat) {
    webhook.refused?.({ pod, operation, username, budgets: refusedBudgets(namespace, answered.refusals) });
  }
  return answered.response;
}

/** Charges every budget, or none; where somebody was faster, what they wrote is read and all are asked again. */
async function charge(
  webhook: PodWebhook,
  asked: Asked,
  { judged, signal }: { judged: Granted; signal: AbortSignal },
): Promise<ReviewResponse> {
  const { budgets, clock } = webhook;
  const { name, namespace, operation } = asked;
  let { grants } = judged;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const kept = keepAll(webhook, foundRooms(grants));
    if ('lost' in kept) return tryAgain(webhook, operation, kept.lost);
    const { rooms } = kept;
    const withdraw = (): void => {
      for (const { ask } of rooms) webhook.roomJudge?.()?.withdraw(ask.unit);
    };
    const { held, refused } = await reserveRooms(holderOf(webhook), { rooms, dryRun: false });
    if (refused !== undefined) {
      withdraw();
      return answer(refused);
    }
    keepFoundRoom(webhook.roomJudge?.(), rooms, clock.now(), held);
    try {
      await writeAllOrNone(
        grants.flatMap(({ entry: { budget }, verdict }) => {
          const told = { operation, podName: name, nowMs: clock.now(), compat: webhook.compat };
          const status = chargedUnavailability(budget.status, verdict, told);
          return status === undefined ? [] : [budgets.write(budget, status)];
        }),
      );
      return allow;
    } catch (error) {
      withdraw();
      if (!isConflict(error)) throw error;
    }
    for (const { entry } of grants) await budgets.refresh(namespace, entry.budget.metadata.name ?? '');
    if (attempt === ATTEMPTS - 1) break;
    await sleep(clock, RETRY_MS * (attempt + 1), signal);
    const again = await judge(webhook, asked, signal);
    if (!('grants' in again)) return again;
    ({ grants } = again);
  }
  if (grants.every(({ verdict }) => !verdict.record || verdict.bestEffort)) return allow;
  return tryAgain(webhook, operation, `the budgets of pod ${name} changed too often`);
}

/** Whether a budget of the pod asks for room. */
export function asksAnyForRoom({ budgets }: Pick<PodWebhook, 'budgets'>, namespace: string, name: string): boolean {
  return budgets.ask(namespace, (index) => index.judging(name).some(({ budget }) => asksForRoom(budget)));
}

/** Keeps room that was found a moment ago, if it is still there; otherwise says so, and nothing is kept. */
function keepAll(
  { clock, roomJudge }: PodWebhook,
  rooms: readonly FoundRoom[],
): { readonly rooms: readonly FoundRoom[] } | { readonly lost: string } {
  const judge = roomJudge?.();
  if (judge === undefined) return { rooms };
  const kept: FoundRoom[] = [];
  for (const room of rooms) {
    const found = judge.ask(room.ask);
    if (!found.found) {
      for (const one of kept) judge.withdraw(one.ask.unit);
      return { lost: found.text };
    }
    const again = { ...room, where: found.where };
    keepFoundRoom(judge, [again], clock.now());
    kept.push(again);
  }
  return { rooms: kept };
}

const holderOf = ({ client, clock, notHeld, roomJudge }: PodWebhook): RoomHolder => ({
  client,
  clock,
  index: { room: roomJudge?.() },
  notHeld,
});

/** Proves that the pod of a review exists, before a budget is charged by it. */
function proofOf(
  { client }: PodWebhook,
  claimed: Pod,
  { index, namespace }: { index: BudgetIndex; namespace: string },
): Promise<Proof> {
  const { metadata } = claimed;
  return provePod(client, { ...claimed, metadata: { ...metadata, namespace } }, index.pod(metadata.name ?? ''));
}

function tryAgain({ compat }: PodWebhook, operation: ProtectedOperation, why: string): ReviewResponse {
  const message = `${why}, try again`;
  // Drains wait only for 429.
  return operation === 'EVICT' && compat !== true
    ? tell({ code: 429, reason: 'TooManyRequests', message, causes: [], retryAfterSeconds: 1 })
    : refuse({ code: 409, reason: 'Conflict', message });
}

/**
 * The version of the pods that one of the budgets was counted from, where ours are older. The controller forgets what
 * was granted once it sees it done; by pods that do not show it yet, groups that are down would count as available.
 */
export function unseenPods(webhook: PodsFollower, covering: readonly IndexedBudget[]): string | undefined {
  const wanted = covering.map(({ budget }) => budget.status?.groupStatus?.podsResourceVersion);
  return wanted.find((version) => !sees(webhook, version));
}

function operationOf(
  { compat = false }: PodWebhook,
  request: ReviewRequest,
  { keys, old }: { old: Pod; keys: readonly string[] },
): ProtectedOperation | undefined {
  if (request.subResource === 'eviction') return 'EVICT';
  if (request.operation === 'DELETE') return request.subResource ? undefined : 'DELETE';
  if (request.operation !== 'UPDATE' || (request.subResource !== undefined && request.subResource !== 'resize'))
    return undefined;
  if (compat && isUnseenByKruise(request.object as Pod, request.subResource)) return undefined;
  return classifyUpdate(request.object as Pod, old, keys);
}

function groupKeys(covering: readonly IndexedBudget[]): string[] {
  return covering.flatMap(({ budget }) => budget.spec?.podGroupPolicy?.groupLabelKey ?? []);
}

function hasDryRun({ object, options }: ReviewRequest): boolean {
  const asked = [options?.['dryRun'], (object?.['deleteOptions'] as { dryRun?: unknown } | undefined)?.dryRun];
  return asked.some((list) => Array.isArray(list) && list.length > 0);
}
