import { controllerOf } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import type { ProtectedOperation } from '../../api/kruise/types.ts';

/** The user of Kubernetes' garbage collector; the embedded one has the same name. */
export const GARBAGE_COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';

/** Where controllers have no accounts of their own, kube-controller-manager collects under its own name. */
const COLLECTORS: ReadonlySet<string> = new Set([GARBAGE_COLLECTOR, 'system:kube-controller-manager']);

/** Of an owner that cannot be read nobody knows whether it is still there. */
export type OwnerState = 'Present' | 'Going' | 'Gone' | 'Unknown';

export type LeftoverReason = 'NamespaceGoing' | 'OwnerGone' | 'OwnerGoing';

/** The owner whose fate decides whether a request only clears away what is left; undefined when none does. */
export function ownerInQuestion(operation: ProtectedOperation, username: string, pod: Pod): OwnerReference | undefined {
  return operation === 'DELETE' && COLLECTORS.has(username) ? controllerOf(pod) : undefined;
}

interface ReadOwner {
  readonly metadata: {
    readonly uid?: string | undefined;
    readonly deletionTimestamp?: string | null | undefined;
  };
}

/** What was read in the place an owner reference names says of that owner: another object of its name is not it. */
export function ownerStateOf({ uid }: OwnerReference, read: ReadOwner | undefined): OwnerState {
  if (read === undefined || read.metadata.uid !== uid) return 'Gone';
  return read.metadata.deletionTimestamp ? 'Going' : 'Present';
}

/**
 * Whether a pod is what is left of a service and no budget's business any more. A budget protects a service, not
 * leftovers: its rules end with the namespace, and with the pod's controller when the garbage collector comes for it.
 * Deletes by controllers and by people are guarded as ever.
 */
export function decideLeftover(namespaceGoing: boolean, owner: OwnerState | undefined): LeftoverReason | undefined {
  if (namespaceGoing) return 'NamespaceGoing';
  if (owner === 'Gone') return 'OwnerGone';
  return owner === 'Going' ? 'OwnerGoing' : undefined;
}
