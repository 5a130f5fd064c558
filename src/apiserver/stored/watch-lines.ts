/**
 * Watch events as bytes, encoded once and shared by every watcher that wants plain JSON. The store hands the same batch
 * to all watchers of a prefix in one go, so remembering the latest few is enough.
 */
import type { StoredEntry, StoreEvent } from '../../storage/index.ts';

export type WatchType = 'ADDED' | 'MODIFIED' | 'DELETED';

const HEADS: Readonly<Record<WatchType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const TAIL = Buffer.from('}\n');

export function watchLine(type: WatchType, object: Uint8Array): Buffer {
  return Buffer.concat([HEADS[type], object, TAIL]);
}

export function documentLine(type: WatchType | 'BOOKMARK' | 'ERROR', object: unknown): Buffer {
  return Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);
}

/** What happened to an object for someone who sees all of them. */
export function typeOf(event: StoreEvent): WatchType {
  if (event.type === 'delete') return 'DELETED';
  return event.previous === undefined ? 'ADDED' : 'MODIFIED';
}

/** The entry an event shows: the new state, or the last one of something deleted. */
export function shownEntry(event: StoreEvent): StoredEntry {
  const entry = event.entry ?? event.previous;
  if (entry === undefined) throw new Error(`A ${event.type} event of "${event.key}" carries no state`);
  return entry;
}

export class WatchLines {
  readonly #batches = new WeakMap<readonly StoreEvent[], Buffer>();

  /** All events of a batch in one chunk. */
  batch(events: readonly StoreEvent[]): Buffer {
    let chunk = this.#batches.get(events);
    if (chunk === undefined) {
      const parts: Uint8Array[] = [];
      for (const event of events) parts.push(HEADS[typeOf(event)], shownEntry(event).value, TAIL);
      chunk = Buffer.concat(parts);
      this.#batches.set(events, chunk);
    }
    return chunk;
  }
}
