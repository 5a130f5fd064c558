/**
 * The seam for admission. Order for one write: every `admit` (mutating), defaults again, validation by the strategy,
 * every `validate`, and last, inside the store transaction, every `inTransaction`.
 */
import type { Transaction } from '../../storage/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Resource } from '../registry/resource.ts';
import type { UserInfo } from '../exchange/user.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly resource: Resource;
  /** Version of the request, which may differ from the stored one. */
  readonly version: string;
  readonly subresource: string | undefined;
  /** Kind of `object`: that of the resource, or of the subresource (Eviction, Binding, Scale). */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly namespace: string | undefined;
  /** Empty until `generateName` is resolved, which is after `admit`, and for each object of a deletecollection. */
  name: string | undefined;
  /** Mutating plugins change it in place or replace it. Undefined for DELETE. */
  object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as the request gave them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Texts added here reach the client as `Warning` headers. */
  readonly warnings: string[];
  /** Where the time is noted that webhooks take of the request. */
  readonly timing?: { webhookMs: number };
}

/** By which name to refuse a request: what comes of `generateName` is not known in `admit`, and then it stands for it. */
export function refusedName({ name, object }: Pick<AdmissionAttributes, 'name' | 'object'>): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
}

/** Plugins refuse by throwing an `ApiError` (see `status.ts`, `forbidden()`). */
export interface AdmissionPlugin {
  readonly name: string;
  handles(attributes: AdmissionAttributes): boolean;
  admit?(attributes: AdmissionAttributes): void | Promise<void>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
  /**
   * Runs synchronously on the state the write will be committed to; what it writes commits with it. By then parts of the
   * object are shared with others: a plugin that has something to set replaces the part.
   */
  inTransaction?(attributes: AdmissionAttributes, transaction: Transaction): void;
}
