import { expect, test } from 'vitest';
import type { ApiObject } from '../object.ts';
import type { ResourceRow } from '../registry/row.ts';
import { RepeatedTails } from './repeated-tails.ts';

const row = { kind: 'Pod' } as ResourceRow;
const spec = { nodeName: 'é' };
const status = { phase: 'Pending' };
const replica: ApiObject = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec, status };

test('the second that is the same from its managed fields on gets bytes, and the third the very same', () => {
  const tails = new RepeatedTails();
  const find = (name: string) => tails.find(row, { ...replica, metadata: { name } }, '[1]', () => `é ${name}`);
  expect(find('a')).toBeUndefined();
  const bytes = find('b');
  expect(bytes?.toString()).toBe('é b');
  expect(find('c')).toBe(bytes);
});

test.each<[string, Partial<ApiObject>, string, ResourceRow]>([
  ['other managed fields', {}, '[2]', row],
  ['a spec that only looks the same', { spec: { ...spec } }, '[1]', row],
  ['a field more', { data: status }, '[1]', row],
  ['a field less', { status: undefined }, '[1]', row],
  ['another kind', {}, '[1]', { ...row }],
])('%s: nothing is taken from the one before', (_what, change, managedFields, ofKind) => {
  const tails = new RepeatedTails();
  tails.find(row, replica, '[1]', () => '');
  expect(tails.find(ofKind, { ...replica, ...change }, managedFields, () => '')).toBeUndefined();
});

test('fields in another order are written in that order', () => {
  const tails = new RepeatedTails();
  const { kind, apiVersion, metadata } = replica;
  tails.find(row, replica, '[1]', () => '');
  const turned = { kind, apiVersion, metadata, status, spec } as ApiObject;
  expect(tails.find(row, turned, '[1]', () => '')).toBeUndefined();
  tails.find(row, replica, '[1]', () => '');
  const shorter = { kind, apiVersion, metadata, spec } as ApiObject;
  expect(tails.find(row, shorter, '[1]', () => '')).toBeUndefined();
});
