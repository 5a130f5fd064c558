import { expect, test } from 'vitest';
import type { ApiObject } from '../../exchange/object.ts';
import { ipAddressStrategy } from './ip-address.ts';

const cases = [
  { name: '255.255.255.255', fine: true },
  { name: 'fe80::42:1dff:fe84:f9e2', fine: true },
  { name: '10.0.0', fine: false },
  { name: '010.0.0.1', fine: false },
  { name: 'FE80::1', fine: false },
  { name: 'fe80:0::1', fine: false },
  { name: 'web', fine: false },
];
for (const { name, fine } of cases) {
  test(`an IPAddress ${fine ? 'may' : 'may not'} be called ${name}`, () => {
    expect(ipAddressStrategy.checkName?.(name)).toEqual(fine ? [] : ['must be a valid IP address in canonical form']);
  });
}

test('an IPAddress says what it belongs to', () => {
  const issues = (spec?: object) =>
    ipAddressStrategy.validate?.({ metadata: {}, spec } as ApiObject, 'v1').map(({ path }) => path);
  expect(issues()).toEqual(['spec.parentRef']);
  expect(issues({ parentRef: { resource: 'services' } })).toEqual(['spec.parentRef.name']);
  expect(issues({ parentRef: { resource: 'services', name: 'web' } })).toEqual([]);
});
