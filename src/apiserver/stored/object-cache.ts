/**
 * Decoded objects beside the stored bytes. The bytes are what is served; objects are needed for selectors, patches and
 * tables only, so the number kept decoded is bounded and the oldest fall out first.
 */
import type { Entry } from '../../storage/index.ts';
import type { ApiObject } from '../object.ts';
import type { ResourceRow } from '../registry/row.ts';

/** What selectors look at; small enough to keep for every entry. */
export interface Digest {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

class Memo {
  object: ApiObject | undefined;
  digest: Digest | undefined;
}

const NO_FIELDS: Readonly<Record<string, string>> = {};

export class ObjectCache {
  readonly #ring: (Memo | undefined)[];
  #next = 0;

  constructor(capacity = 8192) {
    this.#ring = Array.from({ length: capacity });
  }

  /** The decoded object; shared, so never change it. */
  read(entry: Entry): ApiObject {
    const memo = memoOf(entry);
    if (memo.object === undefined) {
      memo.object = JSON.parse(entry.value.toString('utf8')) as ApiObject;
      this.#keep(memo);
    }
    return memo.object;
  }

  /** Remembers an object that was just encoded into the entry. */
  keep(entry: Entry, object: ApiObject): void {
    const memo = memoOf(entry);
    memo.object = object;
    this.#keep(memo);
  }

  digest(row: ResourceRow, entry: Entry): Digest {
    const memo = memoOf(entry);
    if (memo.digest === undefined) {
      const object = this.read(entry);
      memo.digest = { labels: object.metadata.labels, fields: row.strategy.fields?.(object) ?? NO_FIELDS };
    }
    return memo.digest;
  }

  #keep(memo: Memo): void {
    const dropped = this.#ring[this.#next];
    if (dropped !== undefined) dropped.object = undefined;
    this.#ring[this.#next] = memo;
    this.#next = (this.#next + 1) % this.#ring.length;
  }
}

function memoOf(entry: Entry): Memo {
  if (!(entry.memo instanceof Memo)) entry.memo = new Memo();
  return entry.memo as Memo;
}
