/** Everything about who may do what, put together for one server. */
import type { Clock } from '../../machinery/runtime/index.ts';
import type { Authenticator } from '../access/access.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import type { ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import type { Registry } from '../registry/registry.ts';
import type { StoredReads } from '../stored/kind-view.ts';
import type { UserInfo } from '../exchange/user.ts';
import { clientCertificates, inProcess, serviceAccountTokens, staticTokens } from './authenticators.ts';
import { signingRequestAdmission } from './csr/admission.ts';
import { approvalSubresource } from './csr/approval.ts';
import { startSigner } from './csr/signer.ts';
import { createIdentifier } from './identify.ts';
import { openidPaths } from './openid.ts';
import type { Pki } from './pki.ts';
import { createRbacAuthorizer, type RbacAuthorizer, SUPERUSERS } from './rbac/authorizer.ts';
import { escalationCheck } from './rbac/escalation.ts';
import { RoleIndex } from './rbac/index-of-roles.ts';
import { accessReviews } from './reviews/access-reviews.ts';
import { identityReviews } from './reviews/identity-reviews.ts';
import { policyParameters } from './second-rights/policy-parameters.ts';
import { resourceClaimStatus } from './second-rights/resource-claims.ts';
import type { TokenUse } from './legacy-tokens.ts';
import { tokenSubresource } from './token-request.ts';
import { ServiceAccountTokens } from './tokens.ts';

export interface AuthOptions {
  /** The registry must already hold the built-in resources. */
  readonly reads: StoredReads;
  readonly pki: Pick<Pki, 'adminToken' | 'authority' | 'serviceAccountKey'>;
  readonly clock: Clock;
  readonly newUid: () => string;
  readonly issuer?: string;
  /** Told when a token that does not end is used, once a day for each. */
  readonly used?: ((use: TokenUse) => void) | undefined;
}

export interface Auth {
  /** Who makes the request; throws 401, or 403 for an impersonation that is not allowed. */
  identify(request: ApiRequest): UserInfo | Promise<UserInfo>;
  readonly authorizer: RbacAuthorizer;
  readonly tokens: ServiceAccountTokens;
  /** Admission that guards the roles themselves. */
  readonly plugins: readonly AdmissionPlugin[];
  /** Answers `/.well-known/openid-configuration` and `/openid/v1/jwks`; undefined for other paths. */
  plain(path: string): ApiResponse | undefined;
  stop(): void;
}

const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

/** Adds the review resources and the subresources `token` and `approval` to the registry. */
export function createAuth(options: AuthOptions): Auth {
  const { reads, pki, clock, newUid, issuer = DEFAULT_ISSUER, used } = options;
  const index = new RoleIndex(reads);
  const authorizer = createRbacAuthorizer(index);
  const tokens = new ServiceAccountTokens({ reads, privateKey: pki.serviceAccountKey, issuer, clock, newUid, used });
  const known = [{ token: pki.adminToken, user: { username: 'kubernetes-admin', groups: [SUPERUSERS] } }];
  const authenticators: Authenticator[] = [
    inProcess,
    clientCertificates,
    staticTokens(known),
    serviceAccountTokens(tokens),
  ];
  register(reads.registry, [...accessReviews(authorizer), ...identityReviews({ tokens, staticTokens: known, clock })]);
  reads.registry.addSubresource('', 'serviceaccounts', 'token', tokenSubresource({ tokens, reads, clock }));
  reads.registry.addSubresource('certificates.k8s.io', 'certificatesigningrequests', 'approval', approvalSubresource);
  const stopSigner = startSigner(reads, pki.authority, clock);
  return {
    identify: createIdentifier({ authenticators, authorizer }),
    authorizer,
    tokens,
    plugins: [
      escalationCheck(authorizer, index),
      signingRequestAdmission(authorizer),
      policyParameters(reads, authorizer),
      resourceClaimStatus(authorizer),
    ],
    plain: openidPaths(tokens),
    stop() {
      stopSigner();
      index.stop();
    },
  };
}

function register(registry: Registry, resources: readonly Parameters<Registry['add']>[0][]): void {
  for (const resource of resources) registry.add(resource);
}
