import type { Knowledge, KnowledgeLine, StreamLine } from '../../api/ui/stream.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import {
  type Client,
  type Clock,
  Informer,
  isForbidden,
  isNotFound,
  type Logger,
  sleep,
} from '../../machinery/runtime/index.ts';
import { type ShownKind, slim } from './kinds.ts';

/** Rights and definitions may come later. */
const LOOK_AGAIN_MS = 15_000;

/** What is kept of an object: its line, ready to be sent. */
interface Told extends KubeObject {
  readonly line: string;
}

export interface KindFeedOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly namespaces: () => Promise<readonly string[]>;
  /** Says something about one object; what was said of it before and not yet sent need not be. */
  readonly tell: (about: string, line: string) => void;
}

/**
 * The objects of one kind that a reader may see, followed by list and watch in the reader's own name: everywhere if that
 * is allowed, else in each namespace where it is. The API server alone decides what that is.
 */
export class KindStream {
  readonly kind: string;
  readonly #types: readonly ResourceType[];
  readonly #options: KindFeedOptions;
  readonly #informers = new Map<string, Informer<Told>>();
  #type: ResourceType | undefined;
  #how: Knowledge | undefined;

  constructor({ kind, types }: ShownKind, options: KindFeedOptions) {
    this.kind = kind;
    this.#types = types;
    this.#options = options;
  }

  /** Resolves when everything that may be read has been. Goes on looking for what may not be, until the signal. */
  async start(): Promise<void> {
    const looking = await this.#look();
    if (looking) void this.#keepLooking();
  }

  knowledge(): KnowledgeLine {
    const namespaces = this.#how === 'Partly' ? [...this.#informers.keys()].sort() : undefined;
    return { known: this.kind, how: this.#how ?? 'Stale', namespaces };
  }

  *lines(): Generator<string> {
    for (const informer of this.#informers.values()) for (const { line } of informer.list()) yield line;
  }

  async #keepLooking(): Promise<void> {
    const { clock, signal } = this.#options;
    for (;;) {
      await sleep(clock, LOOK_AGAIN_MS, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        if (!(await this.#look())) return;
      } catch {
        // The server cannot be asked; it will be again.
      }
    }
  }

  /** Returns whether there may be more to see later. */
  async #look(): Promise<boolean> {
    const type = this.#type ?? (await this.#findType());
    if (type === 'NotServed' || type === 'Forbidden') {
      this.#say(type);
      return true;
    }
    this.#type = type;
    if (await this.#mayList(type)) {
      await this.#follow(type, undefined);
      this.#say('Known');
      return false;
    }
    if (!type.namespaced) {
      this.#say('Forbidden');
      return true;
    }
    for (const namespace of await this.#options.namespaces()) {
      if (this.#informers.has(namespace) || !(await this.#mayList(type, namespace))) continue;
      await this.#follow(type, namespace);
    }
    this.#say(this.#informers.size > 0 ? 'Partly' : 'Forbidden');
    return true;
  }

  /** The first type that is served. A server says "forbidden" before it says "no such kind". */
  async #findType(): Promise<ResourceType | 'NotServed' | 'Forbidden'> {
    const { client } = this.#options;
    for (const type of this.#types) {
      const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
      try {
        const { resources } = await client.request<{ resources?: { name: string }[] }>('GET', root);
        if (resources?.some(({ name }) => name === type.plural)) return type;
      } catch (error) {
        if (isForbidden(error)) return 'Forbidden';
        if (!isNotFound(error)) throw error;
      }
    }
    return 'NotServed';
  }

  async #mayList(type: ResourceType, namespace?: string): Promise<boolean> {
    try {
      await this.#options.client.list(type, { namespace, limit: 1, metadataOnly: true });
      return true;
    } catch (error) {
      if (isForbidden(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  async #follow(type: ResourceType, namespace: string | undefined): Promise<void> {
    const { client, clock, log, signal, tell } = this.#options;
    // What may now be read everywhere was read in parts before.
    const at = namespace ?? '';
    if (this.#informers.has(at)) return;
    const informer = new Informer<Told>({
      client,
      clock,
      log,
      type: type as ResourceType<Told>,
      namespace,
      transform: (object) => this.#told(object),
    });
    this.#informers.set(at, informer);
    let filled = false;
    informer.addHandler({
      added: ({ line, metadata }) => filled && tell(this.#keyOf(metadata), line),
      // What nobody shows may have changed alone, such as a node's sign of life.
      updated: ({ line, metadata }, { line: before }) => line !== before && tell(this.#keyOf(metadata), line),
      deleted: ({ metadata }) => {
        const { name = '', namespace: place = '' } = metadata;
        tell(this.#keyOf(metadata), encode({ delete: this.kind, namespace: place, name }));
      },
    });
    informer.start(signal);
    await informer.whenSynced();
    filled = true;
    for (const { line, metadata } of informer.list()) tell(this.#keyOf(metadata), line);
  }

  #keyOf({ name, namespace }: KubeObject['metadata']): string {
    return `${this.kind} ${namespace ?? ''}/${name}`;
  }

  #told(object: KubeObject): Told {
    const { name, namespace, resourceVersion } = object.metadata;
    const line = encode({ set: this.kind, object: slim(object) as KubeObject });
    return { metadata: { name, namespace, resourceVersion }, line };
  }

  #say(how: Knowledge): void {
    const before = JSON.stringify(this.knowledge());
    this.#how = how;
    const line = this.knowledge();
    if (JSON.stringify(line) !== before) this.#options.tell(this.kind, encode(line));
  }
}

export const encode = (line: StreamLine): string => `${JSON.stringify(line)}\n`;
