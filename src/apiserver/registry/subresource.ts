/**
 * The seam for subresources. `status` and `scale` come with the server; others (eviction, token, approval) are made
 * outside around a `ServerContext` and registered with `Registry.addSubresource`.
 */
import type { Transaction } from '../../storage/index.ts';
import type { ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { RequestOptions } from '../request/options.ts';
import type { UserInfo } from '../exchange/user.ts';

export type SubresourceVerb = 'get' | 'create' | 'update' | 'patch' | 'delete';

/** An object that passed mutating and validating admission. */
export interface Admitted {
  readonly object: ApiObject;
  /** Call inside the transaction that acts on the request: the plugins that must decide there. */
  inTransaction(transaction: Transaction): void;
}

export interface SubresourceCall {
  readonly verb: SubresourceVerb;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly user: UserInfo;
  readonly request: ApiRequest;
  readonly options: RequestOptions;
  /** Texts for `Warning` headers. */
  readonly warnings: string[];
  /** Path segments after the subresource, as `proxy/…` has. */
  readonly rest: readonly string[];
  /** The request body decoded as the subresource's kind. */
  body(): ApiObject;
  admit(object: ApiObject, oldObject?: ApiObject): Promise<Admitted>;
  /** A JSON response. */
  answer(status: number, object: unknown): ApiResponse;
}

export interface Subresource {
  readonly verbs: readonly SubresourceVerb[];
  /** Kind named in discovery; `group`/`version` only where they differ from the resource's. */
  readonly kind: { readonly group?: string; readonly version?: string; readonly kind: string };
  /** Segments after it in the path are its own, as those of `proxy` are. */
  readonly takesPath?: boolean;
  handle(call: SubresourceCall): Promise<ApiResponse>;
}
