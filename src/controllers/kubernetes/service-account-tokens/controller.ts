import type { Secret, ServiceAccount } from '../../../api/generated/core-v1.ts';
import { secretType, serviceAccountType } from '../../../api/resource-types.ts';
import { keyOf, type ObjectKey } from '../../../api/resource.ts';
import {
  type Client,
  type Controller,
  defineController,
  Informer,
  isNotFound,
  type ReconcileResult,
  settled,
  watch,
} from '../../../machinery/runtime/index.ts';

const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';

export interface TokenControllerOptions {
  /** PEM certificate that comes with each token. */
  readonly authority: string;
  /** Makes a token that does not end. */
  readonly issue: (subject: {
    readonly namespace: string;
    readonly account: { readonly name: string; readonly uid: string };
    readonly secret: string;
  }) => string;
}

interface Deps {
  readonly client: Client;
  readonly accounts: Informer<ServiceAccount>;
  readonly secrets: Informer<Secret>;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const accountOf = ({ metadata }: Secret): string => metadata.annotations?.[ACCOUNT_NAME] ?? '';

/**
 * Fills Secrets that ask for a token of a ServiceAccount, and deletes them with the account. Keys are Secrets. What is
 * filled is not made anew: who has such a token has it until the Secret goes.
 */
export function createServiceAccountTokenController({ authority, issue }: TokenControllerOptions): Controller {
  const ca = base64(authority);
  return defineController({
    name: 'service-account-tokens',
    deps({ client, clock, informers, log, signal }): Deps {
      // Its own informer: of all Secrets there may be many and large ones.
      const secrets = new Informer<Secret>({ client, clock, log, type: secretType, fieldSelector: `type=${TYPE}` });
      secrets.start(signal);
      return { client, accounts: informers.of(serviceAccountType), secrets };
    },
    watches({ accounts, secrets }) {
      const tokensOf = ({ metadata: { name, namespace } }: ServiceAccount): string[] =>
        secrets.list().flatMap((secret) => {
          return secret.metadata.namespace === namespace && accountOf(secret) === name ? [keyOf(secret)] : [];
        });
      return [watch(secrets), watch(accounts, { added: tokensOf, deleted: tokensOf })];
    },
    async reconcile({ accounts, client, secrets }, key) {
      const secret = secrets.get(key);
      if (secret === undefined) return forget({ accounts, client }, key);
      if (secret.metadata.deletionTimestamp) return settled;
      const account = await ownerOf({ accounts, client }, secret);
      if (account === undefined) return remove(client, key, secret);
      const { name = '', uid = '' } = account.metadata;
      const { data = {}, metadata } = secret;
      if (data['token'] && data['namespace'] && data['ca.crt'] === ca) return settled;
      const { namespace = '' } = key;
      await client.update(secretType, {
        ...secret,
        metadata: { ...metadata, annotations: { ...metadata.annotations, [ACCOUNT_NAME]: name, [ACCOUNT_UID]: uid } },
        data: {
          ...data,
          'ca.crt': ca,
          namespace: data['namespace'] || base64(namespace),
          token: data['token'] || base64(issue({ namespace, account: { name, uid }, secret: key.name })),
        },
      });
      return settled;
    },
  });
}

/** The account that a Secret is for: the very one where it says which. A cache may not know it yet. */
async function ownerOf(
  { accounts, client }: Pick<Deps, 'accounts' | 'client'>,
  secret: Secret,
): Promise<ServiceAccount | undefined> {
  const key = { namespace: secret.metadata.namespace, name: accountOf(secret) };
  const uid = secret.metadata.annotations?.[ACCOUNT_UID];
  const isIt = (account: ServiceAccount | undefined) => account !== undefined && (!uid || account.metadata.uid === uid);
  const known = accounts.get(key);
  if (isIt(known)) return known;
  try {
    const live = await client.get(serviceAccountType, key);
    return isIt(live) ? live : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function remove(client: Client, key: ObjectKey, { metadata: { uid } }: Secret): Promise<ReconcileResult> {
  try {
    await client.delete(secretType, key, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return settled;
}

/** A Secret that is gone is taken from the lists of accounts. */
async function forget({ accounts, client }: Pick<Deps, 'accounts' | 'client'>, { name, namespace }: ObjectKey) {
  for (const account of accounts.list()) {
    if (account.metadata.namespace !== namespace || account.metadata.deletionTimestamp) continue;
    const kept = account.secrets?.filter((reference) => reference.name !== name);
    if (kept === undefined || kept.length === account.secrets?.length) continue;
    await client.update(serviceAccountType, { ...account, secrets: kept });
  }
  return settled;
}
