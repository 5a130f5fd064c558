import type { SecretKeySelector } from '../../../api/generated/core-v1.ts';
import type { DisruptionPolicy } from '../../../api/quorate/disruption-policy.ts';
import { secretType } from '../../../api/resource-types.ts';
import { type Client, isForbidden, isNotFound } from '../../../machinery/runtime/index.ts';

/** Nobody may watch Secrets of others, so they are looked at now and then: that one is there is no news for long. */
const FRESH_MS = 60_000;

export interface HeaderLook {
  /** Why a header of the policy's calls cannot be read; undefined where all can. */
  readonly problem: string | undefined;
  readonly againAt: number;
}

/** Whether the Secrets are there that the headers of a policy's calls come from. Each is read by its name. */
export class HeaderSecrets {
  readonly #client: Client;
  readonly #known = new Map<string, HeaderLook & { readonly generation: number | undefined }>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Undefined where it names none. */
  async look({ metadata, spec }: DisruptionPolicy, now: number): Promise<HeaderLook | undefined> {
    const { generation, name = '', namespace = '' } = metadata;
    const key = `${namespace}/${name}`;
    const references = (spec?.notice?.channels ?? [])
      .flatMap(({ http }) => http?.httpHeaders ?? [])
      .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
    const known = this.#known.get(key);
    if (known !== undefined && known.generation === generation && now < known.againAt) return known;
    this.#known.delete(key);
    if (references.length === 0) return undefined;
    const look = { problem: await this.#findProblem(namespace, references), againAt: now + FRESH_MS, generation };
    this.#known.set(key, look);
    return look;
  }

  async #findProblem(namespace: string, references: readonly SecretKeySelector[]): Promise<string | undefined> {
    for (const { key, name = '', optional = false } of references) {
      const secret = `Secret ${namespace}/${name}`;
      try {
        const { data = {} } = await this.#client.get(secretType, { namespace, name });
        if (!optional && !Object.hasOwn(data, key)) return `${secret}, which a header comes from, has no key ${key}`;
      } catch (error) {
        if (isNotFound(error)) {
          if (!optional) return `${secret}, which a header comes from, is not there`;
        } else if (isForbidden(error)) {
          return `${secret}, which a header comes from, may not be read: quorate install --notice-secret ${namespace}/${name} grants that`;
        } else throw error;
      }
    }
    return undefined;
  }
}
