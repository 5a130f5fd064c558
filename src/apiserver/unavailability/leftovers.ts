import {
  decideLeftover,
  type OwnerState,
  ownerInQuestion,
  ownerStateOf,
} from '../../decisions/unavailability/index.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { splitApiVersion } from '../../api/resource.ts';
import type { Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import { objectKey, type ResourceRow } from '../registry/row.ts';
import type { PodRequest } from './pod-request.ts';

/** Whether the request only clears away what is left of a service; read in the transaction it is decided in. */
export function isLeftover(kernel: Kernel, transaction: Transaction, request: PodRequest): boolean {
  const { namespace, operation, pod, username } = request;
  const namespaces = kernel.registry.byPlural('', 'namespaces');
  const going = namespaces && read(kernel, transaction, objectKey(namespaces, undefined, namespace));
  const owner = ownerInQuestion(operation, username, pod);
  const state = owner && stateOf(kernel, transaction, { namespace, owner });
  return decideLeftover(Boolean(going?.metadata.deletionTimestamp), state) !== undefined;
}

function stateOf(
  kernel: Kernel,
  transaction: Transaction,
  { namespace, owner }: { namespace: string; owner: OwnerReference },
): OwnerState {
  const row: ResourceRow | undefined = kernel.registry.byKind(splitApiVersion(owner.apiVersion).group, owner.kind);
  if (row === undefined) return 'Unknown';
  const key = objectKey(row, row.namespaced ? namespace : undefined, owner.name);
  return ownerStateOf(owner, read(kernel, transaction, key));
}

function read(kernel: Kernel, transaction: Transaction, key: string) {
  const entry = transaction.get(key);
  return entry && kernel.objects.readLean(entry);
}
