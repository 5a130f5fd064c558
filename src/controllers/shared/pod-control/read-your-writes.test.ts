import { expect, test } from 'vitest';
import { ReadYourWrites } from './read-your-writes.ts';

test('ReadYourWrites holds a key back until the cache shows its last write', () => {
  const writes = new ReadYourWrites();
  const cache = { resourceVersion: '9' };
  const written = (resourceVersion: string) => ({ metadata: { resourceVersion } });
  writes.record('ns/a', cache, written('12'));
  writes.record('ns/a', cache, written('10'));
  expect(writes.seen('ns/b')).toBe(true);
  expect(writes.seen('ns/a')).toBe(false);
  cache.resourceVersion = '11';
  expect(writes.seen('ns/a')).toBe(false);
  cache.resourceVersion = '100';
  expect(writes.seen('ns/a')).toBe(true);
});
