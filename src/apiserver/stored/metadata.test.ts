import { expect, test } from 'vitest';
import type { OwnerReference } from '../exchange/object.ts';
import { dropDuplicateOwners } from './metadata.ts';

const owner = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'o',
  uid,
  ...more,
});

test('dropDuplicateOwners() drops what is repeated word for word', () => {
  const meta = { ownerReferences: [owner('a'), owner('b'), owner('a'), owner('a', { controller: true })] };
  expect(dropDuplicateOwners(meta)).toEqual([expect.stringMatching(/duplicate UID\(s\) observed: a$/)]);
  expect(meta.ownerReferences).toEqual([owner('a'), owner('b'), owner('a', { controller: true })]);
});

test('17.11: dropDuplicateOwners() looks at each of many owners a few times only', () => {
  let looks = 0;
  const ownerReferences = Array.from({ length: 5000 }, (_, at) => ({
    ...owner(`u${at}`),
    get name() {
      looks++;
      return 'o';
    },
  }));
  expect(dropDuplicateOwners({ ownerReferences })).toEqual([]);
  expect(looks).toBeLessThan(3 * ownerReferences.length);
});
