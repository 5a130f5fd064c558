/** Who asks, and may they: the seams authentication and authorization plug into. */
import type { ApiRequest } from '../exchange/exchange.ts';
import type { UserInfo } from '../exchange/user.ts';

/** `undefined`: this authenticator saw no credentials of its kind. `invalid`: it saw them and they are bad (401). */
export type AuthenticationResult = UserInfo | 'invalid' | undefined;

export interface Authenticator {
  readonly name: string;
  authenticate(request: ApiRequest): AuthenticationResult | Promise<AuthenticationResult>;
}

export interface AuthorizationAttributes {
  readonly user: UserInfo;
  /** get, list, watch, create, update, patch, delete, deletecollection, impersonate …; lower-case HTTP method otherwise. */
  readonly verb: string;
  /** Set for resource requests. */
  readonly resource?: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  /** Set for everything else, such as `/healthz`. */
  readonly path?: string;
}

export interface AuthorizationVerdict {
  readonly allowed: boolean;
  readonly reason?: string;
}

export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): AuthorizationVerdict | Promise<AuthorizationVerdict>;
}

export const allowAll: Authorizer = { authorize: () => ({ allowed: true, reason: 'AllowAll' }) };
