import { secretType } from '../../api/resource-types.ts';
import { type Client, existing, isAlreadyExists, isConflict } from '../../machinery/runtime/index.ts';
import { labels } from '../../webhook/index.ts';

/** The texts of a Secret, by their keys. */
export type SecretTexts = Readonly<Record<string, string>>;

export interface SharedSecret<T> {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** What the Secret holds; undefined where that is not ours. */
  read(texts: SecretTexts): T | undefined;
  write(value: T): SecretTexts;
  isGood(value: T): boolean;
  /** What to store where nothing good is; `stored` is what stood there, `missing` that there is no Secret. */
  renew(stored: T | undefined, missing: boolean): T | Promise<T>;
}

/**
 * What all replicas share through a Secret. Whoever finds it missing or old makes a new one; a replica that comes second
 * takes what the first has made.
 */
export async function ensureShared<T>(shared: SharedSecret<T>): Promise<T> {
  const { client, name, namespace } = shared;
  for (;;) {
    const secret = await existing(client.get(secretType, { namespace, name }));
    const stored = secret && shared.read(mapTexts(secret.data ?? {}, (text) => Buffer.from(text, 'base64').toString()));
    if (stored !== undefined && shared.isGood(stored)) return stored;
    const next = await shared.renew(stored, secret === undefined);
    const data = mapTexts(shared.write(next), (text) => Buffer.from(text).toString('base64'));
    try {
      if (secret === undefined) {
        await client.create(secretType, { metadata: { name, namespace, labels }, type: 'Opaque', data });
      } else {
        await client.update(secretType, { ...secret, data });
      }
      return next;
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  }
}

const mapTexts = (texts: SecretTexts, map: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, map(text)]));
