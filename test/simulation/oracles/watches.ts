/**
 * Watches: every change of what is watched since the revision that was asked for, each once, in order. Compared with the
 * commits themselves.
 */
import type { SharedEvent, TransportRequest } from '../../../src/machinery/runtime/index.ts';
import type { Change, History } from '../history.ts';
import type { Violated } from './oracle.ts';

const TYPES = { created: 'ADDED', updated: 'MODIFIED', deleted: 'DELETED' } as const;

/** Who listens; the dead hear nothing any more. */
interface Reader {
  readonly isDead: boolean;
}

interface Watched {
  readonly reader: Reader;
  readonly path: string;
  /** Changes that are still to be heard of, of which the first `due` were committed. */
  readonly due: Change[];
  readonly heard: { readonly type: string; readonly revision: number }[];
}

interface Named {
  readonly metadata?: { readonly resourceVersion?: string };
}

export class WatchOracle {
  readonly #violated: Violated;
  /** Of this server's life: a watch does not outlive its server. */
  readonly #changes = new Map<string, Change[]>();
  readonly #open = new Set<Watched>();
  events = 0;

  constructor(history: History, violated: Violated) {
    this.#violated = violated;
    history.onCommit((commit) => {
      for (const change of commit) {
        const collection = collectionOf(change.key);
        const known = this.#changes.get(collection);
        if (known === undefined) this.#changes.set(collection, [change]);
        else known.push(change);
        for (const watched of this.#open) if (watched.path === collection) watched.due.push(change);
      }
    });
  }

  serverStarted(): void {
    this.#changes.clear();
    this.#open.clear();
  }

  open(
    request: TransportRequest,
    reader: Reader,
  ): { heard: (events: readonly SharedEvent[]) => void; closed: () => void } {
    const url = new URL(request.path, 'http://server');
    const from = Number(url.searchParams.get('resourceVersion') ?? 0);
    const isWhole = !url.searchParams.has('labelSelector') && !url.searchParams.has('fieldSelector');
    const path = prefixOf(url.pathname);
    if (from === 0 || !isWhole || path === undefined) return { heard: () => {}, closed: () => {} };
    const due = (this.#changes.get(path) ?? []).filter(({ revision }) => revision > from);
    const watched: Watched = { reader, path, due, heard: [] };
    this.#open.add(watched);
    return {
      heard: (events) => {
        for (const { object, type } of events) {
          if (type === 'BOOKMARK' || type === 'ERROR') continue;
          this.events += 1;
          watched.heard.push({ type, revision: Number((object as Named).metadata?.resourceVersion) });
        }
      },
      closed: () => this.#open.delete(watched),
    };
  }

  /** To be called when everything that was heard has been committed to the history. */
  check(): void {
    for (const { due, heard, path } of this.#open) {
      for (const { revision, type } of heard.splice(0)) {
        const next = due.shift();
        const expected = next === undefined ? 'nothing' : `${TYPES[next.type]} at ${next.revision}`;
        if (expected !== `${type} at ${revision}`)
          this.#violated('watch', `${path}: ${type} at ${revision} was heard where ${expected} was due`);
      }
    }
  }

  /** When nothing is under way any more, nothing may be left to be heard of. */
  checkAtRest(): void {
    this.check();
    for (const { due, path, reader } of this.#open) {
      const [next] = due;
      if (next !== undefined && !reader.isDead)
        this.#violated('watch', `${path}: ${next.type} at ${next.revision} was never heard of`);
    }
  }
}

/** `/registry/GROUP/PLURAL/`, of a key. */
const collectionOf = (key: string): string => `${key.split('/').slice(0, 4).join('/')}/`;

/** Likewise of the path of a request for a whole collection; undefined for one namespace. */
function prefixOf(path: string): string | undefined {
  const core = /^\/api\/v1\/([^/]+)$/.exec(path);
  if (core !== null) return `/registry/core/${core[1]}/`;
  const grouped = /^\/apis\/([^/]+)\/[^/]+\/([^/]+)$/.exec(path);
  return grouped === null ? undefined : `/registry/${grouped[1]}/${grouped[2]}/`;
}
