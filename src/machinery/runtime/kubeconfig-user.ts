/** Who to be, as a kubeconfig's user says it. What is not understood is refused by its name, never passed over. */
import { type ExecCluster, type ExecCredentials, execCredentials } from './exec-credentials.ts';
import { besides, type KubeconfigEntry, KubeconfigError, pem, readText, text, texts } from './kubeconfig-entry.ts';

export interface UserCredentials {
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  /** Asked for before each request, so that a token may be renewed. */
  readonly token?: (() => Promise<string | undefined>) | undefined;
  readonly exec?: ExecCredentials | undefined;
  /** Sent with every request; a name may have several values. */
  readonly headers?: Readonly<Record<string, readonly string[]>> | undefined;
}

export function identityOf(user: KubeconfigEntry, cluster: ExecCluster): UserCredentials {
  const provider = user.body['auth-provider'] as { name?: string } | undefined;
  if (provider) {
    throw new KubeconfigError(
      `Cannot use user "${user.name}" of ${user.from}: auth-provider "${provider.name}" is no longer part of Kubernetes clients; ` +
        'use the exec plugin of your provider, or a token',
    );
  }
  const headers = { ...impersonation(user), ...basic(user) };
  return {
    clientCert: pem(user, 'client-certificate'),
    clientKey: pem(user, 'client-key'),
    token: tokenOf(user),
    ...(user.body['exec'] ? { exec: execCredentials(user, cluster) } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

/** A file wins over a token that stands beside it: the file is renewed. */
function tokenOf(user: KubeconfigEntry): UserCredentials['token'] {
  const file = text(user.body['tokenFile']);
  if (file) return () => Promise.resolve(readText(besides(user, file)).trim());
  const token = text(user.body['token']);
  return token ? () => Promise.resolve(token) : undefined;
}

function basic(user: KubeconfigEntry): Record<string, string[]> {
  const name = text(user.body['username']);
  const password = text(user.body['password']);
  if (!name && !password) return {};
  return { authorization: [`Basic ${Buffer.from(`${name ?? ''}:${password ?? ''}`).toString('base64')}`] };
}

function impersonation(user: KubeconfigEntry): Record<string, string[]> {
  const as = text(user.body['as']);
  const uid = text(user.body['as-uid']);
  const groups = texts(user.body['as-groups']);
  const extra = Object.entries((user.body['as-user-extra'] ?? {}) as Record<string, unknown>);
  if (!as) {
    if (!uid && groups.length === 0 && extra.length === 0) return {};
    throw new KubeconfigError(
      `Cannot use user "${user.name}" of ${user.from}: as-uid, as-groups and as-user-extra need "as", the user to be`,
    );
  }
  const more = extra.map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
    texts(values),
  ]);
  return {
    'impersonate-user': [as],
    ...(uid ? { 'impersonate-uid': [uid] } : {}),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...(Object.fromEntries(more) as Record<string, string[]>),
  };
}
