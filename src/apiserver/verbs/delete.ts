import { type Call, nameOf } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey } from '../registry/resource.ts';
import { type DeleteRequest, readDeleteOptions } from './delete-options.ts';
import { encodeAnswer, negotiateObject, respondWithEntry, respondWithObject } from '../response/respond.ts';
import { converting } from '../stored/converting.ts';
import { notFound } from '../exchange/status.ts';
import { type DeletionOutcome, deleteInTransaction } from '../stored/deletion.ts';
import { admit, admitInTransaction, attributesOf, validateAdmission } from './admit.ts';

export async function remove(call: Call): Promise<ApiResponse> {
  const options = readDeleteOptions(call.context.codec, call.request, call.options);
  const outcome = await deleteObject(call, nameOf(call), { options });
  // Kept for clients of the old option: 202 says that the object is still there.
  const status = !outcome.removed && options.orphanDependents === false ? 202 : 200;
  const { entry } = outcome;
  if (!outcome.removed && entry !== undefined) return converting(() => respondWithEntry(call, status, entry));
  if (!outcome.removed || call.resource.strategy.deleteReturnsObject)
    return converting(() => respondWithObject(call, status, outcome.object()));
  return encodeAnswer(call, 200, deletedStatus(call, outcome.object()), {
    ...negotiateObject(call),
    transform: undefined,
  });
}

function deletedStatus({ resource }: Call, { metadata }: ApiObject): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: metadata.name,
      ...(resource.group !== '' && { group: resource.group }),
      kind: resource.plural,
      uid: metadata.uid,
    },
  };
}

/** Leaves the transaction without a trace and carries the outcome out. */
class DryRunOutcome extends Error {
  readonly outcome: DeletionOutcome;

  constructor(outcome: DeletionOutcome) {
    super('dry run');
    this.outcome = outcome;
  }
}

export interface DeleteCommand {
  readonly options: DeleteRequest;
  /** Of each object of a deletecollection, which admission sees without a name. */
  readonly anonymous?: boolean;
  readonly namespace?: string | undefined;
}

export async function deleteObject(
  call: Call,
  name: string,
  { options, anonymous = false, namespace = call.info.namespace }: DeleteCommand,
): Promise<DeletionOutcome> {
  const { context, resource } = call;
  const key = objectKey(resource, namespace, name);
  const before = context.store.peek(key);
  if (before === undefined) throw notFound(resource, name);
  const oldObject = context.objects.read(before);
  const grace = resource.strategy.gracePeriod?.(oldObject, options.gracePeriodSeconds);
  const attributes = attributesOf(call, {
    operation: 'DELETE',
    name: anonymous ? undefined : name,
    namespace,
    object: undefined,
    oldObject,
    options: {
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...options.raw,
      ...(grace !== undefined && { gracePeriodSeconds: grace }),
    },
    dryRun: options.dryRun,
  });
  const pending = admit(call, attributes);
  if (pending !== undefined) await pending;
  const checking = validateAdmission(call, attributes);
  if (checking !== undefined) await checking;
  try {
    return await context.store.transact((transaction) => {
      admitInTransaction(call, attributes, transaction);
      const outcome = deleteInTransaction(context, transaction, { target: { resource, key, name }, options });
      if (options.dryRun) throw new DryRunOutcome(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof DryRunOutcome) return { ...error.outcome, entry: undefined };
    throw error;
  }
}
