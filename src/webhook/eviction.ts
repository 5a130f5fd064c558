import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { type GrantKind, isLedgerOf, type LedgerGrant } from '../api/quorate/types.ts';
import { podDisruptionBudgetType, podType } from '../api/resource-types.ts';
import {
  type BudgetView,
  type DisruptionIndex,
  type EvictionVerdict,
  exemptionOf,
  explainEviction,
  explanationCauses,
  formatRefusal,
  type Judgement,
  judgeEviction,
  type PodFacts,
  processing,
  refusalMessage,
  readBudget,
  readPod,
  type Refusal,
  type RefusalAnswer,
} from '../decisions/disruption/index.ts';
import { type Client, isConflict, isNotFound, sleep } from '../machinery/runtime/index.ts';
import { grantOf, MAX_GRANTS } from './ledger-grants.ts';
import { ABANDONED_MS } from './ledger-hold.ts';
import type { LedgerDesk } from './ledger-desk.ts';
import { canNameReturn, isDryRun, pinPatch, preconditionsOf } from './pins.ts';
import { hasSeen, type NamespaceFollower, sees } from './pods-seen.ts';
import { allow, allowWith, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';

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
}

/** The answer, and what was written down for it. */
export interface Outcome {
  readonly response: ReviewResponse;
  readonly recorded?: Recorded | undefined;
}

export interface Recorded {
  readonly ledger: { readonly namespace: string; readonly name: string };
  readonly grant: LedgerGrant;
  /** What was there for the same pod before. */
  readonly before: LedgerGrant | undefined;
}

/** As often as the API server itself tries before it gives up. */
const ATTEMPTS = 20;
const RETRY_MS = 25;

/** Judges an eviction by the groups its budget counts; see `recordEviction`. */
export async function reviewEviction(
  webhook: EvictionWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  return (await recordEviction(webhook, request, signal)).response;
}

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
  const { clock, index, ledgers } = webhook;
  const pod = { namespace: request.namespace ?? '', name: request.name ?? '' };
  const dryRun = isDryRun(request);
  const given = preconditionsOf(request);
  const judgement = { isCordoned: webhook.isCordoned, again: true };
  /** The pod as it was read for an eviction that has to be pinned to its version. */
  let fresh: Pod | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const question = index.ask(pod.namespace, pod.name, clock.now());
    if (question === undefined || (given.uid && given.uid !== question.pod.uid)) {
      const unseen = await lookForPod(webhook, pod, signal);
      if (unseen === 'Behind') return said(processing('of this pod'));
      // Gone, or another pod than the client means: the API server says so itself.
      if (unseen === 'Absent' || (question !== undefined && unseen === question.pod.uid)) return { response: allow };
      continue;
    }
    const seen = question.views[0];
    if (seen === undefined || question.views.length > 1 || !countsGroups(seen)) return { response: allow };
    const { name: budgetName } = seen.budget;
    const reads = webhook.changes === 'read';
    let budget = reads
      ? await readOwn(webhook.client, pod.namespace, budgetName)
      : webhook.budget(pod.namespace, budgetName);
    // Deleted: it protects nothing. Where it is not read, the watch has still to show it.
    if (budget === undefined) return reads ? { response: allow } : said(processing(budgetName));
    // A grant is proven by being listed; every other answer wants the ledger as it is now.
    const cached = attempt === 0 && !dryRun ? ledgers.get(pod.namespace, budgetName) : undefined;
    const ledger = cached ?? (await ledgers.read(pod.namespace, budgetName));
    if (ledger?.status === undefined || !isLedgerOf(ledger, budget)) {
      if (cached !== undefined) continue;
      return said(noLedger(budgetName));
    }
    const { observedGeneration = 0, podsResourceVersion } = ledger.status;
    // The ledger answers a spec that our copy of the budget does not have yet.
    if (observedGeneration > (budget.metadata.generation ?? 0))
      budget = await readOwn(webhook.client, pod.namespace, budgetName);
    if (budget === undefined) continue;
    if (!sees(webhook, podsResourceVersion) && !(await hasSeen(webhook, podsResourceVersion, signal)))
      return said(processing(budgetName));

    const status = { ...ledger.status, grants: ledger.status.grants ?? [] };
    index.setBudget(readBudget({ ...budget, status }, seen.budget));
    const now = clock.now();
    const again = index.ask(pod.namespace, pod.name, now, { again: true });
    const view = again?.views.find((one) => one.budget.name === budgetName);
    const verdict = judgeEviction(index, pod, now, judgement);
    // It changed while something was read.
    if (again === undefined || view === undefined || verdict === undefined) continue;
    if (!verdict.allowed) {
      if (cached !== undefined) continue;
      return { response: refusal(webhook, verdict, { pod, now, judgement }) };
    }
    const others = status.grants.filter(({ uid }) => uid !== again.pod.uid).length;
    const kind = kindOf(again.pod, verdict);
    const isCounted = kind !== 'Pending' && kind !== 'Ended';
    if (others >= MAX_GRANTS || (isCounted && !hasRoom(webhook, budget, others))) return said(processing(budgetName));
    const byVersion = needsVersion(kind, view);
    if (byVersion && !isAsRead(fresh, again.pod)) {
      fresh = await readPodNow(webhook, pod, signal);
      if (fresh === undefined) return said(processing('of this pod'));
      continue;
    }
    if (dryRun) {
      const warnings = ledgers.isHeldElsewhere(ledger) ? [LISTED_ONLY] : undefined;
      return { response: warnings === undefined ? allow : { ...allow, warnings } };
    }
    if (ledgers.isHeldElsewhere(ledger)) {
      if (!(await ledgers.claim(ledger, signal))) return said(held(budgetName));
      continue;
    }
    const pin = {
      uid: canNameReturn(again.pod.owner) ? again.pod.uid : undefined,
      resourceVersion: byVersion ? fresh?.metadata.resourceVersion : undefined,
    };
    const version = given.resourceVersion ?? pin.resourceVersion;
    const grant: LedgerGrant = {
      name: pod.name,
      uid: again.pod.uid,
      at: new Date(now).toISOString(),
      cost: verdict.charge?.cost ?? 0,
      kind,
      ...(version ? { pinned: 'version', resourceVersion: version } : (given.uid ?? pin.uid) && { pinned: 'uid' }),
      by: webhook.identity,
    };
    try {
      const before = grantOf(status, grant);
      const { status: written = {} } = await ledgers.grant(ledger, grant);
      index.setBudget(readBudget({ ...budget, status: written }, view.budget));
      const recorded = { ledger: { namespace: pod.namespace, name: budgetName }, grant, before };
      return { response: allowWith(pinPatch(request, pin)), recorded };
    } catch (error) {
      if (isNotFound(error)) return said(noLedger(budgetName));
      // Another replica or the controller was faster; judge again on what they wrote.
      if (!isConflict(error)) throw error;
      if (cached === undefined) await sleep(clock, RETRY_MS * (1 + attempt), signal);
    }
  }
  return said({
    ...processing('of this pod'),
    message: 'Cannot evict pod: its disruption ledger changed too often, try again.',
  });
}

const LISTED_ONLY =
  'another replica of Quorate decides for this budget: what it granted within the last moments is not in this answer';

const countsGroups = ({ budget, mode }: BudgetView): boolean =>
  mode.unit === 'PodGroup' || budget.status.podGroupBudget?.status === 'True';

/** Where the status of budgets is ours, Kubernetes must be able to pass what is granted here. */
function hasRoom({ changes }: EvictionWebhook, { metadata, status }: PodDisruptionBudget, granted: number): boolean {
  if (changes === 'read') return true;
  const noted = Object.keys(status?.disruptedPods ?? {}).length;
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && noted + granted < MAX_GRANTS;
}

function kindOf(pod: PodFacts, verdict: Extract<EvictionVerdict, { allowed: true }>): GrantKind {
  const exemption = exemptionOf(pod);
  if (exemption !== undefined) return exemption === 'PodPending' ? 'Pending' : 'Ended';
  if (!pod.ready) return 'Unready';
  return verdict.charge?.cost === 1 ? 'Charged' : 'Free';
}

/** The budget does not hold, and the pod could be what repairs it: then only the pod as it is may go. */
function needsVersion(kind: GrantKind, { budget, desired, live }: BudgetView): boolean {
  return live < desired && (kind === 'Pending' || (kind === 'Unready' && budget.alwaysAllow));
}

/** Whether the pod that was read is the one that was judged, in everything that was judged. */
function isAsRead(fresh: Pod | undefined, judged: PodFacts): boolean {
  if (fresh === undefined) return false;
  const { deletionTimestamp, phase, ready, uid } = readPod(fresh);
  const isSame = uid === judged.uid && phase === judged.phase && ready === judged.ready;
  return isSame && (deletionTimestamp === undefined) === (judged.deletionTimestamp === undefined);
}

/** The replica that holds the ledger does not let go. */
function held(budgetName: string): RefusalAnswer {
  const message = `Cannot evict pod: the replica of Quorate that decides for budget ${budgetName} does not answer. If it is gone, the others decide after ${ABANDONED_MS / 1000} seconds; try again.`;
  return { ...processing(budgetName), message };
}

function noLedger(budgetName: string): RefusalAnswer {
  const message = `Cannot evict pod: budget ${budgetName} has no DisruptionLedger yet, in which Quorate notes what it grants; try again.`;
  return { ...processing(budgetName), message, retryAfterSeconds: 1 };
}

/** The pod of this moment, once our copy is as new; undefined when it does not get there in time. */
async function readPodNow(
  webhook: EvictionWebhook,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<Pod | undefined> {
  try {
    const pod = await webhook.client.get(podType, key);
    const known = webhook.index.pod(key.namespace, key.name);
    if (known !== undefined && isAsRead(pod, known)) return pod;
    return (await hasSeen(webhook, pod.metadata.resourceVersion, signal)) ? pod : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Finds out about a pod the index does not know: it may be gone, which the API server will say itself, or so new that
 * our copy is behind. The UID of the pod when it is known here.
 */
async function lookForPod(
  webhook: EvictionWebhook,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<string> {
  try {
    const { metadata } = await webhook.client.get(podType, key);
    if (webhook.index.pod(key.namespace, key.name)?.uid === metadata.uid) return metadata.uid ?? '';
    const seen = await hasSeen(webhook, metadata.resourceVersion, signal);
    return seen && webhook.index.pod(key.namespace, key.name) !== undefined ? (metadata.uid ?? '') : 'Behind';
  } catch (error) {
    if (isNotFound(error)) return 'Absent';
    throw error;
  }
}

export async function readOwn(
  client: Client,
  namespace: string,
  name: string,
): Promise<PodDisruptionBudget | undefined> {
  try {
    return await client.get(podDisruptionBudgetType, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export function refusal(
  { index }: EvictionWebhook,
  verdict: Refusal,
  { judgement, now, pod }: { pod: { namespace: string; name: string }; now: number; judgement: Judgement },
): ReviewResponse {
  const explanation = explainEviction(index, pod, now, judgement);
  const refused = formatRefusal(verdict);
  const told = { ...refused, message: refusalMessage(refused, explanation) };
  return answer(told, explanation === undefined ? [] : explanationCauses(explanation, now));
}

const said = (refused: RefusalAnswer): Outcome => ({ response: answer(refused) });

function answer(
  { cause, code, message, reason, retryAfterSeconds }: RefusalAnswer,
  more: readonly { reason: string; message: string }[] = [],
): ReviewResponse {
  const causes = [...(cause === undefined ? [] : [{ reason: 'DisruptionBudget', message: cause }]), ...more];
  return refuse({
    code,
    reason,
    message,
    details: { causes, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
  });
}
