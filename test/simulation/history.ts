import type { Store, StoredEntry, Transaction } from '../../src/storage/index.ts';

/** What oracles know of an object: the JSON that was stored. */
export interface StoredObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[];
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever was stored; oracles look into it by hand
  readonly spec?: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- likewise
  readonly status?: any;
}

export interface Change {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly key: string;
  readonly revision: number;
  readonly before: StoredObject | undefined;
  readonly after: StoredObject | undefined;
}

/** What one transaction changed, all at once. */
export type Commit = readonly Change[];

interface Write {
  readonly key: string;
  readonly revision: number;
  readonly value: string | undefined;
}

const parse = (value: string): StoredObject => JSON.parse(value) as StoredObject;

/**
 * Everything that was committed, in order, learned from the transactions themselves: neither the store's own history nor
 * its watches have a part in it.
 */
export class History {
  readonly state = new Map<string, StoredObject>();
  readonly #listeners: ((commit: Commit) => void)[] = [];
  #writes = 0;

  get writes(): number {
    return this.#writes;
  }

  onCommit(listener: (commit: Commit) => void): void {
    this.#listeners.push(listener);
  }

  /** The store, with its transactions noted as they are confirmed. */
  record(store: Store): Store {
    const transact = <T>(fn: (transaction: Transaction) => T): Promise<T> => {
      const writes: Write[] = [];
      const done = store.transact((transaction) => fn(noting(transaction, writes)));
      return writes.length === 0 ? done : done.then((result) => (this.#commit(writes), result));
    };
    return new Proxy(store, {
      get(target, name) {
        if (name === 'transact') return transact;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** What a server found on its disk: writes may have got there that nobody was told of. */
  recovered(entries: readonly StoredEntry[], revision: number): void {
    const found = new Set(entries.map(({ key }) => key));
    const writes: Write[] = entries
      .filter((entry) => this.state.get(entry.key)?.metadata.resourceVersion !== String(entry.revision))
      .map((entry) => ({ key: entry.key, revision: entry.revision, value: entry.value.toString() }));
    for (const key of this.state.keys()) if (!found.has(key)) writes.push({ key, revision, value: undefined });
    if (writes.length > 0) this.#commit(writes);
  }

  select(plural: string): StoredObject[] {
    const found: StoredObject[] = [];
    for (const [key, object] of this.state) if (key.split('/')[3] === plural) found.push(object);
    return found;
  }

  #commit(writes: readonly Write[]): void {
    const commit: Change[] = [];
    for (const { key, revision, value } of writes) {
      const before = this.state.get(key);
      const after = value === undefined ? undefined : parse(value);
      if (after === undefined) this.state.delete(key);
      else this.state.set(key, after);
      const type = after === undefined ? 'deleted' : before === undefined ? 'created' : 'updated';
      commit.push({ type, key, revision, before, after });
    }
    this.#writes += commit.length;
    for (const listener of this.#listeners) listener(commit);
  }
}

function noting(transaction: Transaction, writes: Write[]): Transaction {
  return {
    get: (key) => transaction.get(key),
    range: (prefix) => transaction.range(prefix),
    put(key, encode) {
      const entry = transaction.put(key, encode);
      writes.push({ key, revision: entry.revision, value: entry.value.toString() });
      return entry;
    },
    delete(key, encodeLast) {
      if (encodeLast === undefined) throw new Error(`"${key}" was deleted without a last state`);
      const last = transaction.delete(key, encodeLast);
      writes.push({ key, revision: last?.revision ?? 0, value: undefined });
      return last;
    },
  };
}
