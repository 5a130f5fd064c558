/** What `store-writer.ts` was promised by its store, and whether a store still keeps it. */
import { expect } from 'vitest';
import type { Store } from '../../src/storage/index.ts';

export interface Acknowledged {
  readonly writer: string;
  readonly number: number;
  readonly revision: number;
}

/** Lines that are cut short are left out: a kill may do that to the last one. */
export function parseAcknowledged(lines: readonly string[]): Acknowledged[] {
  return lines
    .map((line) => /^(\d+) (\d+) (\d+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, writer, number, revision]) => ({ writer: writer!, number: Number(number), revision: Number(revision) }));
}

export function expectKept(store: Store, acknowledged: readonly Acknowledged[]): void {
  const newest = new Map<string, number>();
  for (const { writer, number, revision } of acknowledged) {
    newest.set(writer, Math.max(newest.get(writer) ?? 0, number));
    expect(store.revision).toBeGreaterThanOrEqual(revision);
  }
  for (const { writer, number } of acknowledged) {
    // The next transactions of the same writer, acknowledged or not, may have removed what is four numbers older.
    if (number > newest.get(writer)! - 3) expect(store.get(`/left/${writer}/${number}`)).toBeDefined();
    if (number <= newest.get(writer)! - 4) expect(store.get(`/left/${writer}/${number}`)).toBeUndefined();
  }
}

export function expectWhole(store: Store): void {
  const names = (side: string) => store.range(side).map(({ key }) => key.slice(side.length));
  expect(names('/left/')).toEqual(names('/right/'));
  for (const { key, value, revision } of store.range('')) {
    const content = JSON.parse(value.toString()) as { revision: number; number: number };
    expect([content.revision, content.number]).toEqual([revision, Number(key.split('/').pop())]);
    expect(revision).toBeLessThanOrEqual(store.revision);
  }
}
