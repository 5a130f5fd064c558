import {
  decideLeftover,
  type LeftoverReason,
  type OwnerState,
  ownerInQuestion,
  ownerStateOf,
} from '../../decisions/unavailability/index.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { splitApiVersion } from '../../api/resource.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import { objectKey, type Resource } from '../registry/resource.ts';
import type { PodRequest } from './pod-request.ts';

/** Whether the request only clears away what is left of a service; read in the transaction it is decided in. */
export function leftoverOf(
  context: ServerContext,
  transaction: Transaction,
  request: PodRequest,
): LeftoverReason | undefined {
  const { namespace, operation, pod, username } = request;
  const namespaces = context.registry.byPlural('', 'namespaces');
  const going = namespaces && read(context, transaction, objectKey(namespaces, undefined, namespace));
  const owner = ownerInQuestion(operation, username, pod);
  const state = owner && stateOf(context, transaction, { namespace, owner });
  return decideLeftover(Boolean(going?.metadata.deletionTimestamp), state);
}

function stateOf(
  context: ServerContext,
  transaction: Transaction,
  { namespace, owner }: { namespace: string; owner: OwnerReference },
): OwnerState {
  const resource: Resource | undefined = context.registry.byKind(splitApiVersion(owner.apiVersion).group, owner.kind);
  if (resource === undefined) return 'Unknown';
  const key = objectKey(resource, resource.namespaced ? namespace : undefined, owner.name);
  return ownerStateOf(owner, read(context, transaction, key));
}

function read(context: ServerContext, transaction: Transaction, key: string) {
  const entry = transaction.get(key);
  return entry && context.objects.readWithoutManagedFields(entry);
}
