import {
  apiVersionOf,
  type KubeObject,
  type ObjectKey,
  qualifiedResource,
  type ResourceType,
} from '../api/resource.ts';
import { nodeType } from '../api/resource-types.ts';
import { type Client, isForbidden, isNotFound, listAll, servedTypes } from '../machinery/runtime/index.ts';

/** Something a decision depends on could not be read, so nothing is decided. */
export class CannotTellError extends Error {
  override name = 'CannotTellError';
  /** Resources that could not be read, such as `poddisruptionbudgets.policy`. */
  readonly unread: readonly string[];

  /** `why` follows "cannot tell:". */
  constructor(unread: readonly string[], why: string) {
    super(`cannot tell: ${why}`);
    this.unread = unread;
  }
}

/**
 * Reads lists for a decision and remembers what it was not allowed to read. A kind that the cluster does not serve has
 * no objects; a kind that is served and kept from us is unknown, and whatever depends on it cannot be told.
 */
export class ClusterReader {
  readonly #client: Client;
  readonly #namespace: string | undefined;
  readonly #unread = new Set<string>();

  /** Reads one namespace, or all of them. */
  constructor(client: Client, namespace?: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  get unread(): readonly string[] {
    return [...this.#unread];
  }

  /** The objects of a kind in the first of its types that is served. */
  async list<T extends KubeObject>(types: readonly ResourceType<T>[]): Promise<T[]> {
    return (await this.#read(types))?.items ?? [];
  }

  /** The same, each with its kind and version, which the items of a list do not say. */
  async listNamed<T extends KubeObject>(types: readonly ResourceType<T>[]): Promise<T[]> {
    const read = await this.#read(types);
    if (read === undefined) return [];
    const named = { apiVersion: apiVersionOf(read.type), kind: read.type.kind };
    return read.items.map((item) => ({ ...item, ...named }));
  }

  /** One object; undefined where there is none. */
  async get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined> {
    try {
      return await this.#client.get(type, key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isForbidden(error)) throw error;
      this.#unread.add(qualifiedResource(type));
      return undefined;
    }
  }

  async #read<T extends KubeObject>(
    types: readonly ResourceType<T>[],
  ): Promise<{ type: ResourceType<T>; items: T[] } | undefined> {
    for (const type of types) {
      try {
        return { type, items: await listAll(this.#client, type, type.namespaced ? this.#namespace : undefined) };
      } catch (error) {
        if (isNotFound(error)) continue;
        if (!isForbidden(error)) throw error;
        // An API server asks who may before it asks what there is: only discovery tells the two apart.
        if ((await this.#isServed(type)) === false) continue;
        this.#unread.add(qualifiedResource(type));
        return undefined;
      }
    }
    return undefined;
  }

  /** Throws when anything that was asked for could not be read. */
  assertComplete(): void {
    if (this.#unread.size === 0) return;
    const where = this.#namespace === undefined ? 'in all namespaces' : `in namespace ${this.#namespace}`;
    throw new CannotTellError(this.unread, `not allowed to list ${this.unread.join(', ')} ${where}`);
  }

  async #isServed(type: ResourceType): Promise<boolean | undefined> {
    try {
      return (await servedTypes(this.#client, [{ types: [type], builtIn: false }])).size > 0;
    } catch (error) {
      if (isForbidden(error)) return undefined;
      throw error;
    }
  }
}

/** Makes sure that there is such a node; who may not read it cannot be told anything about it. */
export async function assertNode(client: Client, name: string): Promise<void> {
  try {
    await client.get(nodeType, { name });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new CannotTellError([qualifiedResource(nodeType)], `not allowed to read node ${name}`);
  }
}
