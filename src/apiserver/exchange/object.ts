/** The shape every stored object has; the fields of a kind are the business of its strategy. */
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../api/generated/meta-v1.ts';

export type { ManagedFieldsEntry, ObjectMeta, OwnerReference };

/** A decoded object while a request works on it; frozen by convention once it is stored. */
export interface ApiObject {
  kind?: string | undefined;
  apiVersion?: string | undefined;
  metadata: ObjectMeta;
  [field: string]: unknown;
}
