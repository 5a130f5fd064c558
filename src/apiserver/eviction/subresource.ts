/**
 * `pods/eviction`: a delete that budgets must agree to.
 *
 * Question, answer, ledger, condition and deletion are one store transaction on state that nobody else can change in
 * between, so an eviction never has to be tried again and two of them can never both take the last slot.
 */
import { answerRefusal, type DisruptionIndex, followers, judgeEviction } from '../../decisions/disruption/index.ts';
import { isLimitReason } from '../../decisions/policies/index.ts';
import { createEntry, type Transaction } from '../../storage/index.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey, type Resource } from '../registry/resource.ts';
import type { SubresourceCall } from '../registry/subresource.ts';
import type { DeleteRequest } from '../verbs/delete-options.ts';
import { ApiError, notFound } from '../exchange/status.ts';
import { chargeBudget } from './charge.ts';
import { chargePolicies } from './charge-policies.ts';
import { createDisruptionView } from './disruption-view.ts';
import type { AskNotice, EvictAsOne, EvictionGuard } from './guard.ts';
import { refusalError } from './refusal.ts';
import { removePod } from './remove-pod.ts';
import { readEviction } from './request.ts';
import { holdRoom } from './reserve.ts';
import { offerRoom } from './room-view.ts';
import { type AnswerTeller, tellEviction } from './told-answers.ts';

export interface EvictionOptions {
  /** Further budgets, asked in this order after the PodDisruptionBudgets. */
  readonly guards?: readonly EvictionGuard[];
  /** The counts to decide on; kept here when absent. */
  readonly index?: DisruptionIndex;
  /** Keeps the record of what was answered. */
  readonly teller?: AnswerTeller | undefined;
  readonly askNotice?: AskNotice | undefined;
  readonly evictAsOne?: EvictAsOne | undefined;
}

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** Serves `pods/eviction` and returns the counts it decides on. */
export function addEviction(
  context: ServerContext,
  { askNotice, evictAsOne, guards = [], index = createDisruptionView(context), teller }: EvictionOptions = {},
) {
  const resource = context.registry.byPlural('', 'pods');
  if (resource === undefined) throw new Error('Cannot serve evictions: pods are not served');
  offerRoom(context, index);
  context.registry.addSubresource('', 'pods', 'eviction', {
    verbs: ['create'],
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    handle: (call) =>
      tellEviction(teller, { call, index }, () =>
        evict({ askNotice, evictAsOne, context, index, guards, resource }, call),
      ),
  });
  return index;
}

interface Evictor {
  readonly askNotice: AskNotice | undefined;
  readonly evictAsOne: EvictAsOne | undefined;
  readonly context: ServerContext;
  readonly index: DisruptionIndex;
  readonly guards: readonly EvictionGuard[];
  readonly resource: Resource;
}

async function evict(evictor: Evictor, call: SubresourceCall): Promise<ApiResponse> {
  const { eviction, options } = readEviction(call);
  const admitted = await call.admit(eviction);
  // A failed precondition is carried out and not thrown: the approval it came after stays recorded. So does a notice.
  const failed = await evictor.context.store.transact((transaction) => {
    admitted.inTransaction(transaction);
    return evictInTransaction(evictor, transaction, { call, options });
  });
  if (failed !== undefined) throw failed;
  return call.answer(201, SUCCESS);
}

function evictInTransaction(
  evictor: Evictor,
  transaction: Transaction,
  { call, options }: { call: SubresourceCall; options: DeleteRequest },
): ApiError | undefined {
  const { guards, index, context, resource } = evictor;
  const { name, namespace = '' } = call;
  const { dryRun } = options;
  const now = context.clock.now();
  const key = objectKey(resource, namespace, name);
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(resource, name);

  const pod = { namespace, name };
  const judgement = { isCordoned: (node: string) => isCordoned(context, transaction, node) };
  const verdict = judgeEviction(index, pod, now, judgement);
  if (verdict === undefined) throw new Error(`Cannot judge pod ${namespace}/${name}: it is not indexed`);
  const state = context.objects.readParts(entry);
  const guarded = { namespace, name, pod: state.object, now, dryRun, user: call.user };
  const { gracePeriodSeconds } = options;
  const agreed = { ...guarded, gracePeriodSeconds, warnings: call.warnings };
  // Several budgets over one pod are answered as Kubernetes does, whatever goes with it.
  const isContested = !verdict.allowed && verdict.reason === 'MultipleBudgets';
  const group = isContested ? undefined : evictor.evictAsOne?.(agreed, transaction);
  if (group !== undefined) {
    const to = dryRun ? readOnly(transaction) : transaction;
    if (group.told === undefined) removePod(context, to, { resource, key, name, entry, state, options });
    return group.told;
  }
  const refused = verdict.allowed ? undefined : refusalError(answerRefusal(index, verdict, { pod, now, judgement }));
  // The limits of policies come after all budgets.
  if (refused !== undefined && !isLimitReason(verdict.reason)) throw refused;
  const granted = guards.map((guard) => guard.judge(guarded, transaction));
  for (const one of granted) if (!one.allowed) throw one.refusal;
  if (!verdict.allowed) throw refused;
  const told = evictor.askNotice?.(agreed, transaction);
  if (told !== undefined) return told;

  const { charge } = verdict;
  const reservation = { grant: verdict, uid: state.object.metadata.uid ?? '', now };
  if (dryRun) index.room?.during(() => holdRoom({ context, index }, readOnly(transaction), reservation));
  else {
    holdRoom({ context, index }, transaction, reservation);
    if (charge !== undefined) {
      chargeBudget({ context, index }, transaction, {
        namespace,
        budget: charge.view.budget.name,
        pods: [
          { name, cost: charge.cost },
          ...followers(charge).map((other) => ({ name: other.name, cost: 0 as const })),
        ],
        now,
      });
    }
    for (const one of granted) if (one.allowed) one.charge?.(transaction);
    if (verdict.limits !== undefined) {
      const { uid } = reservation;
      const departure = { namespace, pod: { name, uid }, by: call.user.username, way: 'Eviction', now } as const;
      chargePolicies(context, transaction, verdict.limits, departure);
    }
  }
  try {
    removePod(context, dryRun ? readOnly(transaction) : transaction, { resource, key, name, entry, state, options });
  } catch (error) {
    if (error instanceof ApiError && charge !== undefined) return error;
    throw error;
  }
  return undefined;
}

function isCordoned(context: ServerContext, transaction: Transaction, node: string): boolean {
  const resource = context.registry.byPlural('', 'nodes');
  const entry = resource && transaction.get(objectKey(resource, undefined, node));
  const object: ApiObject | undefined = entry && context.objects.readOften(entry);
  return (object?.['spec'] as { unschedulable?: boolean } | undefined)?.unschedulable === true;
}

/** Lets a dry run go through every check and leave nothing behind. */
function readOnly(transaction: Transaction): Transaction {
  return {
    get: (key) => transaction.get(key),
    range: (prefix) => transaction.range(prefix),
    put: (key, encode) => createEntry(key, 0, 0, encode(0)),
    delete: () => undefined,
  };
}
