/** Asks the API server who somebody is and what he may do, as its own components do for their metrics. */
import { createHash } from 'node:crypto';
import type { TokenReview, UserInfo } from '../../api/generated/authentication-v1.ts';
import type { SubjectAccessReview } from '../../api/generated/authorization-v1.ts';
import type { Client, Clock } from '../../machinery/runtime/index.ts';

export type Access = 'Allowed' | 'Unauthenticated' | 'Forbidden' | 'Busy';

export interface DelegatedAccess {
  /** Whether the bearer of a token may get a path. Throws where the API server cannot be asked. */
  mayGet(token: string | undefined, path: string): Promise<Access>;
}

/** How long an answer is remembered; a right that is taken away holds on for so long. */
const REMEMBER_MS = 10_000;
const MAX_REMEMBERED = 1000;
/** Whoever tries tokens out must not make us a flood for the API server. */
const MAX_ASKING = 16;

export function delegateAccess({ client, clock }: { client: Client; clock: Clock }): DelegatedAccess {
  const known = new Map<string, { readonly access: Access; readonly untilMs: number }>();
  let asking = 0;
  return {
    async mayGet(token, path) {
      if (token === undefined || token === '') return 'Unauthenticated';
      const key = createHash('sha256').update(`${path}\n${token}`).digest('base64');
      const found = known.get(key);
      if (found !== undefined && clock.elapsed() < found.untilMs) return found.access;
      if (asking >= MAX_ASKING) return 'Busy';
      asking += 1;
      try {
        const access = await ask(client, token, path);
        if (known.size >= MAX_REMEMBERED) known.clear();
        known.set(key, { access, untilMs: clock.elapsed() + REMEMBER_MS });
        return access;
      } finally {
        asking -= 1;
      }
    },
  };
}

async function ask(client: Client, token: string, path: string): Promise<Access> {
  const apiVersion = 'authentication.k8s.io/v1';
  const review = await client.request<TokenReview>('POST', `/apis/${apiVersion}/tokenreviews`, {
    apiVersion,
    kind: 'TokenReview',
    spec: { token },
  });
  const user: UserInfo | undefined = review.status?.user;
  if (review.status?.authenticated !== true || user === undefined) return 'Unauthenticated';
  const authorization = 'authorization.k8s.io/v1';
  const answer = await client.request<SubjectAccessReview>('POST', `/apis/${authorization}/subjectaccessreviews`, {
    apiVersion: authorization,
    kind: 'SubjectAccessReview',
    spec: {
      user: user.username,
      uid: user.uid,
      groups: user.groups,
      extra: user.extra,
      nonResourceAttributes: { path, verb: 'get' },
    },
  });
  return answer.status?.allowed === true ? 'Allowed' : 'Forbidden';
}
