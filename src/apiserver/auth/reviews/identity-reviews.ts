/** TokenReview: whose token is this? SelfSubjectReview: who am I? */
import type { TokenReviewSpec, TokenReviewStatus } from '../../../api/generated/authentication-v1.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import type { Clock } from '../../../machinery/runtime/index.ts';
import type { Resource } from '../../registry/resource.ts';
import { badRequest } from '../../exchange/status.ts';
import { userInfoOf } from '../../exchange/user.ts';
import { findStaticUser, type TokenIdentity } from '../authenticators.ts';
import { withAuthenticated } from '../identify.ts';
import type { ServiceAccountTokens } from '../tokens.ts';
import { reviewResource, specOf } from './resource.ts';

const AUTHENTICATION = 'authentication.k8s.io';

export interface IdentityReviewOptions {
  readonly tokens: ServiceAccountTokens;
  readonly staticTokens: readonly TokenIdentity[];
  readonly clock: Clock;
}

export function identityReviews({ tokens, staticTokens, clock }: IdentityReviewOptions): Resource[] {
  return [
    reviewResource({ group: AUTHENTICATION, kind: 'TokenReview' }, (object) => {
      const { token, audiences } = specOf<TokenReviewSpec>(object);
      if (!token) throw badRequest('token is required for TokenReview in authentication');
      return { ...object, status: reviewToken({ tokens, staticTokens }, token, audiences ?? []) };
    }),
    reviewResource({ group: AUTHENTICATION, kind: 'SelfSubjectReview' }, (object, { user }) => ({
      ...object,
      metadata: { ...object.metadata, creationTimestamp: formatTime(clock.now()) },
      status: { userInfo: userInfoOf(user) },
    })),
  ];
}

function reviewToken(
  { tokens, staticTokens }: Pick<IdentityReviewOptions, 'tokens' | 'staticTokens'>,
  token: string,
  audiences: readonly string[],
): TokenReviewStatus {
  const wanted = audiences.length === 0 ? [tokens.issuer] : [...audiences];
  const known = findStaticUser(staticTokens, token);
  if (known !== undefined)
    return { authenticated: true, user: userInfoOf(withAuthenticated(known)), audiences: wanted };
  const verdict = tokens.check(token, wanted);
  if (verdict?.valid) {
    const user = userInfoOf(withAuthenticated(verdict.user));
    return { authenticated: true, user, audiences: [...verdict.audiences] };
  }
  const why = verdict === undefined ? '' : `, ${verdict.reason}`;
  return { user: {}, error: `[invalid bearer token${why}]` };
}
