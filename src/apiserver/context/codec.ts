/** How bodies become objects; the codec folder implements it from the generated schema of the built-in kinds. */
import type { ApiObject } from '../exchange/object.ts';
import type { Resource } from '../registry/resource.ts';

export interface DecodeRequest {
  readonly bytes: Uint8Array;
  /** Lower-case media type without parameters; empty when the client sent none. */
  readonly mediaType: string;
  /** What the URL implies, for bodies that leave kind or apiVersion out. */
  readonly expected: { readonly apiVersion: string; readonly kind: string };
  /** The resource, when the body is one of its objects; custom resources are checked against their own schema. */
  readonly resource?: Resource;
  /** What a YAML body says, when it was read elsewhere; throws what is wrong with it. */
  readonly yaml?: ReadYaml | undefined;
}

/** A YAML body that has been read: its value, and `line 3: key "replicas" already set in map`. */
export type ReadYaml = () => { readonly value: unknown; readonly duplicates: readonly string[] };

export interface Decoded {
  /** Unknown fields already dropped. */
  readonly object: ApiObject;
  /** `unknown field "spec.x"`, `duplicate field "spec.y"`, in body order. */
  readonly problems: readonly string[];
}

/** The management of `metadata.managedFields`; absent until server-side apply is plugged in. */
export interface FieldManager {
  /** Records who set what after a create, update or non-apply patch. */
  recordUpdate(change: {
    readonly resource: Resource;
    readonly version: string;
    readonly subresource: string | undefined;
    readonly old: ApiObject | undefined;
    readonly object: ApiObject;
    readonly manager: string;
    readonly now: number;
  }): void;
  /** The managedFields of a new object without any, as JSON text; undefined when nobody owns anything of it. */
  createdEntries(change: {
    readonly resource: Resource;
    readonly version: string;
    readonly object: ApiObject;
    readonly manager: string;
    readonly now: number;
  }): string | undefined;
  /** Merges an apply configuration into the live object; throws a 409 on conflict. */
  apply(request: {
    readonly resource: Resource;
    readonly version: string;
    readonly subresource: string | undefined;
    readonly live: ApiObject;
    readonly config: ApiObject;
    readonly manager: string;
    readonly force: boolean;
    readonly now: number;
  }): ApiObject;
}

export interface Codec {
  /** Throws an ApiError (400, 415) when the bytes cannot be read at all. */
  decode(request: DecodeRequest): Decoded;
  /** Drops fields the kind does not have from an object that a patch produced; returns the problems. */
  prune(resource: Resource, version: string, object: ApiObject): readonly string[];
  /** The three patches without ownership. Each returns a fresh object and throws an ApiError on a bad patch. */
  strategicMerge(resource: Resource, version: string, current: ApiObject, patch: Record<string, unknown>): ApiObject;
  mergePatch(current: ApiObject, patch: Record<string, unknown>): ApiObject;
  jsonPatch(current: ApiObject, operations: readonly unknown[]): ApiObject;
  readonly fields: FieldManager | undefined;
}
