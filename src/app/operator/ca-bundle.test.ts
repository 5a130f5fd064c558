import { expect, test } from 'vitest';
import { createAuthority } from '../../machinery/runtime/certificates.ts';
import { withAuthority } from './ca-bundle.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const DAY_MS = 86_400_000;
const authority = async (days: number): Promise<string> =>
  (await createAuthority('ca', { now: NOW + days * DAY_MS, days: 3650 })).certificate;
const count = (bundle: string): number => bundle.split('BEGIN').length - 1;

test('WS-08: withAuthority() puts a new authority beside the one that replicas may still serve with', async () => {
  const [first, second] = [await authority(0), await authority(1)];
  expect(withAuthority('', first, NOW)).toContain(first.trim());
  const both = withAuthority(first, second, NOW + DAY_MS);
  expect(count(both)).toBe(2);
  expect(both).toContain(first.trim());
  expect(both).toContain(second.trim());
});

test('WS-08: withAuthority() leaves a bundle that has the authority, whoever looks: nobody writes in turns', async () => {
  const [first, second] = [await authority(0), await authority(1)];
  const both = withAuthority(first, second, NOW + DAY_MS);
  expect(withAuthority(both, first, NOW + DAY_MS)).toBe(both);
  expect(withAuthority(both, second, NOW + DAY_MS)).toBe(both);
});

test('withAuthority() lets a predecessor go when no certificate of it can be in use any more', async () => {
  const [first, second] = [await authority(0), await authority(1)];
  const both = withAuthority(first, second, NOW + DAY_MS);
  const later = withAuthority(both, second, NOW + 92 * DAY_MS);
  expect(count(later)).toBe(1);
  expect(later).toContain(second.trim());
});

test('withAuthority() replaces what is no certificate, and takes an authority of somebody else as it is', async () => {
  const first = await authority(0);
  expect(count(withAuthority('nonsense', first, NOW))).toBe(1);
  expect(withAuthority(first, 'an authority in another form', NOW)).toBe('an authority in another form');
});
