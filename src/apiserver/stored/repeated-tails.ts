import type { ApiObject } from '../object.ts';
import type { ResourceRow } from '../registry/row.ts';

/** What an encoded object of a kind went on with behind its metadata. */
interface Tail {
  readonly managedFields: string;
  /** Names and values in the order of the document. */
  readonly parts: readonly unknown[];
  /** Made when it is wanted a second time: most that are not replicas never are. */
  bytes: Buffer | undefined;
}

/**
 * Replicas made within one second are the very same from their managed fields on, and these bytes are most of each:
 * they are copied instead of being put together again.
 */
export class RepeatedTails {
  readonly #last = new WeakMap<ResourceRow, Tail>();

  /** The bytes behind the metadata, if they are the same as the last time; `encode` gives them as text. */
  find(row: ResourceRow, document: ApiObject, managedFields: string, encode: () => string): Buffer | undefined {
    const last = this.#last.get(row);
    if (last !== undefined && haveSameParts(document, last.parts) && last.managedFields === managedFields) {
      return (last.bytes ??= Buffer.from(encode()));
    }
    this.#last.set(row, { managedFields, parts: partsOf(document), bytes: undefined });
    return undefined;
  }
}

/** Names that every document starts with, in its head. */
export const isInHead = (key: string): boolean => key === 'kind' || key === 'apiVersion' || key === 'metadata';

function partsOf(document: ApiObject): unknown[] {
  const parts: unknown[] = [];
  for (const key in document) if (!isInHead(key)) parts.push(key, document[key]);
  return parts;
}

function haveSameParts(document: ApiObject, parts: readonly unknown[]): boolean {
  let at = 0;
  for (const key in document) {
    if (isInHead(key)) continue;
    if (parts[at] !== key || parts[at + 1] !== document[key]) return false;
    at += 2;
  }
  return at === parts.length;
}
