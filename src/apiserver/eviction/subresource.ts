/**
 * `pods/eviction`: a delete that budgets must agree to.
 *
 * Question, answer, ledger, condition and deletion are one store transaction on state that nobody else can change in
 * between, so an eviction never has to be tried again and two of them can never both take the last slot.
 */
import { type DisruptionIndex, judgeEviction } from '../../decisions/disruption/index.ts';
import { createEntry, type Transaction } from '../../storage/index.ts';
import type { ApiResponse } from '../exchange.ts';
import type { Kernel } from '../kernel.ts';
import type { ApiObject } from '../object.ts';
import { objectKey, type ResourceRow } from '../registry/row.ts';
import type { SubresourceCall } from '../registry/subresource.ts';
import type { DeleteRequest } from '../request/delete-options.ts';
import { ApiError, notFound } from '../status.ts';
import { chargeBudget } from './charge.ts';
import { createDisruptionView } from './disruption-view.ts';
import type { EvictionGuard } from './guard.ts';
import { refusalError } from './refusal.ts';
import { removePod } from './remove-pod.ts';
import { readEviction } from './request.ts';

export interface EvictionOptions {
  /** Further budgets, asked in this order after the PodDisruptionBudgets. */
  readonly guards?: readonly EvictionGuard[];
  /** The counts to decide on; kept here when absent. */
  readonly index?: DisruptionIndex;
}

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** Serves `pods/eviction` and returns the counts it decides on. */
export function addEviction(
  kernel: Kernel,
  { guards = [], index = createDisruptionView(kernel) }: EvictionOptions = {},
) {
  const row = kernel.registry.byPlural('', 'pods');
  if (row === undefined) throw new Error('Cannot serve evictions: pods are not served');
  kernel.registry.addSubresource('', 'pods', 'eviction', {
    verbs: ['create'],
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    handle: (call) => evict({ kernel, index, guards, row }, call),
  });
  return index;
}

interface Evictor {
  readonly kernel: Kernel;
  readonly index: DisruptionIndex;
  readonly guards: readonly EvictionGuard[];
  readonly row: ResourceRow;
}

async function evict(evictor: Evictor, call: SubresourceCall): Promise<ApiResponse> {
  const { eviction, options } = readEviction(call);
  const admitted = await call.admit(eviction);
  // A failed precondition is carried out and not thrown: the approval it came after stays recorded.
  const failed = await evictor.kernel.store.transact((transaction) => {
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
  const { guards, index, kernel, row } = evictor;
  const { name, namespace = '' } = call;
  const { dryRun } = options;
  const now = kernel.clock.now();
  const key = objectKey(row, namespace, name);
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(row, name);

  const pod = { namespace, name };
  const judgement = { isCordoned: (node: string) => isCordoned(kernel, transaction, node) };
  const verdict = judgeEviction(index, pod, now, judgement);
  if (verdict === undefined) throw new Error(`Cannot judge pod ${namespace}/${name}: it is not indexed`);
  if (!verdict.allowed) throw refusalError(index, verdict, { pod, now, judgement });
  const state = kernel.objects.readParts(entry);
  const guarded = { namespace, name, pod: state.object, now, dryRun, user: call.user };
  const granted = guards.map((guard) => guard.judge(guarded, transaction));
  for (const one of granted) if (!one.allowed) throw one.refusal;

  const { charge } = verdict;
  if (!dryRun) {
    if (charge !== undefined) {
      chargeBudget({ kernel, index }, transaction, {
        namespace,
        budget: charge.view.budget.name,
        pods: [{ name, cost: charge.cost }],
        now,
      });
    }
    for (const one of granted) if (one.allowed) one.charge?.(transaction);
  }
  try {
    removePod(kernel, dryRun ? readOnly(transaction) : transaction, { row, key, name, entry, state, options });
  } catch (error) {
    if (error instanceof ApiError && charge !== undefined) return error;
    throw error;
  }
  return undefined;
}

function isCordoned(kernel: Kernel, transaction: Transaction, node: string): boolean {
  const row = kernel.registry.byPlural('', 'nodes');
  const entry = row && transaction.get(objectKey(row, undefined, node));
  const object: ApiObject | undefined = entry && kernel.objects.readOften(entry);
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
