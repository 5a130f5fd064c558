/** One kind the server serves. Adding a kind is adding a resource; custom resource definitions add theirs at run time. */
import type { ApiObject } from '../exchange/object.ts';
import type { UserInfo } from '../exchange/user.ts';
import type { Strategy, TableLayout } from './strategy.ts';
import type { Subresource } from './subresource.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

export interface ServedVersion {
  readonly name: string;
  /**
   * Conversion at the edge, from and to the stored form; absent when only `apiVersion` differs. Both receive an object
   * they may change. `existing` is the stored object an update replaces: what this version cannot say stays.
   */
  toStored?(object: ApiObject, existing?: ApiObject): ApiObject;
  fromStored?(object: ApiObject): ApiObject;
  /**
   * Set where a webhook converts: has it convert these stored objects, in one call, so that `fromStored` knows the
   * outcome. Otherwise `fromStored` and `toStored` throw ConversionNeeded (stored/converting.ts).
   */
  learn?(stored: readonly ApiObject[]): Promise<void>;
  /** Puts back into an update, in stored form, what this version cannot say; `old` is what the update replaces. */
  carry?(object: ApiObject, old: ApiObject): void;
  /** A PUT in this version must carry a resourceVersion, whatever the strategy says. */
  readonly needsRevision?: boolean;
  /** Overrides the strategy's table for this version. */
  readonly table?: TableLayout;
  readonly deprecationWarning?: string;
  /** The release in which a deprecated version is gone, where that is known. */
  readonly removedRelease?: string;
}

/** What the answer of a computed resource may depend on, besides the object sent. */
export interface ReviewCall {
  readonly user: UserInfo;
  readonly namespace: string | undefined;
}

export interface Resource {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  /** Served versions, most preferred first. */
  readonly versions: readonly ServedVersion[];
  /** Group and version of the stored form. */
  readonly stored: { readonly group: string; readonly version: string };
  /** Brings an object that was stored in another version to the present one; may throw ConversionNeeded. */
  inStoredVersion?(object: ApiObject): ApiObject;
  /** Storage keys start with this; ends with a slash. */
  readonly prefix: string;
  readonly strategy: Strategy;
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** A custom resource: no protobuf, no strategic merge, list items keep kind and apiVersion. */
  readonly custom: boolean;
  /** A kind of ours that other software brings too: its definition takes the place of this, and this is what we then leave to it. */
  readonly yields?: string;
  /** Set for computed resources (access reviews): answers a create, after which nothing is stored. */
  review?(object: ApiObject, call: ReviewCall): ApiObject | Promise<ApiObject>;
  /** Decodes, prunes, defaults by schema; set for custom resources only. */
  readonly schemaFor?: (version: string) => unknown;
}

export function apiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

export function objectKey(resource: Resource, namespace: string | undefined, name: string): string {
  return resource.namespaced ? `${resource.prefix}${namespace ?? ''}/${name}` : `${resource.prefix}${name}`;
}

export function collectionPrefix(resource: Resource, namespace: string | undefined): string {
  return resource.namespaced && namespace ? `${resource.prefix}${namespace}/` : resource.prefix;
}

export function storagePrefix(group: string, plural: string): string {
  return `/registry/${group === '' ? 'core' : group}/${plural}/`;
}
