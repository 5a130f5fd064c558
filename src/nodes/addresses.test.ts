import { expect, test } from 'vitest';
import { AddressPool } from './addresses.ts';

test('AddressPool gives every holder its own address and keeps it', () => {
  const pool = new AddressPool('10.0.0.0/29');
  expect(pool.take('a')).toBe('10.0.0.1');
  expect(pool.take('b')).toBe('10.0.0.2');
  expect(pool.take('a')).toBe('10.0.0.1');
});

test('AddressPool skips addresses found in use', () => {
  const pool = new AddressPool('10.0.0.0/29');
  pool.claim('seen', '10.0.0.1');
  expect(pool.take('a')).toBe('10.0.0.2');
});

test('AddressPool reuses a released address only after the others', () => {
  const pool = new AddressPool('10.0.0.0/29');
  for (const holder of ['a', 'b', 'c']) pool.take(holder);
  pool.release('a');
  expect(['d', 'e', 'f', 'g'].map((holder) => pool.take(holder))).toEqual([
    '10.0.0.4',
    '10.0.0.5',
    '10.0.0.6',
    '10.0.0.1',
  ]);
  expect(() => pool.take('h')).toThrow('No address is left');
});

test('AddressPool crosses byte borders', () => {
  const pool = new AddressPool('10.127.255.254/7');
  expect(pool.take('a')).toBe('10.127.255.255');
  expect(pool.take('b')).toBe('10.128.0.0');
});
