import { expect, test } from 'vitest';
import { FieldPath, formatIssue } from '../../machinery/values/index.ts';
import type { DownscalePodPicker, HTTPPodPicker, ReplicaSetSpec } from '../generated/apps-v1.ts';
import { defaultPicker, dropDisabledPicker } from './picker-defaults.ts';
import { pickerWarnings, validatePicker } from './picker-validation.ts';

const PATH = FieldPath.of('spec', 'downscalePodPicker');

function check(http: Partial<HTTPPodPicker>, rest: Partial<DownscalePodPicker> = {}): string[] {
  const picker: DownscalePodPicker = { http: { host: 'picker.web', port: 80, ...http }, ...rest };
  defaultPicker(picker);
  return validatePicker(picker, PATH).map(formatIssue);
}

const header = (name: string, more: object = {}) => ({ httpHeaders: [{ name, ...more }] });

test('a picker is filled with its defaults, twice the same', () => {
  const picker: DownscalePodPicker = {
    http: { host: 'h', port: 80, ...header('A', { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }) },
  };
  defaultPicker(picker);
  const once = structuredClone(picker);
  defaultPicker(picker);
  expect(picker).toEqual(once);
  expect(picker).toEqual({
    maxRetries: 3,
    timeoutSeconds: 1,
    http: {
      host: 'h',
      port: 80,
      path: '/',
      scheme: 'HTTP',
      httpHeaders: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } }],
    },
  });
});

test('P1 a picker needs its protocol', () => {
  expect(validatePicker({}, PATH).map(formatIssue)).toEqual([
    'spec.downscalePodPicker.http: Required value: exactly one protocol must be set',
  ]);
});

test.each([
  [{ timeoutSeconds: 0 }, 'timeoutSeconds'],
  [{ timeoutSeconds: 31 }, 'timeoutSeconds'],
  [{ maxRetries: -1 }, 'maxRetries'],
  [{ maxRetries: 11 }, 'maxRetries'],
])('K24 P2 %j is refused', (rest, field) => {
  expect(check({}, rest)).toEqual([expect.stringContaining(`spec.downscalePodPicker.${field}: Invalid value`)]);
});

test('K24 P2 the limits themselves are fine', () => {
  expect(check({}, { timeoutSeconds: 1, maxRetries: 0 })).toEqual([]);
  expect(check({}, { timeoutSeconds: 30, maxRetries: 10 })).toEqual([]);
});

test.each(['http://x', 'x:80', 'x/y', 'a@b', 'a b', '-x', 'X'])('P3 host %j is refused', (host) => {
  expect(check({ host })).toEqual([expect.stringContaining('spec.downscalePodPicker.http.host: Invalid value')]);
});

test.each(['a', 'web.default.svc.cluster.local', '10.0.0.1', '2001:db8::1'])('P3 host %j is fine', (host) => {
  expect(check({ host })).toEqual([]);
});

test.each([443, '443', 1, '65535'])('K21 P4 port %j is fine', (port) => {
  expect(check({ port })).toEqual([]);
});

test.each([0, 70_000, 'https', '0', '70000', '80a', 1.5, -1])('K21 P4 port %j is refused', (port) => {
  expect(check({ port })).toEqual([expect.stringContaining('spec.downscalePodPicker.http.port: Invalid value')]);
});

test.each(['x', '/a#b', '/a\u0000', '/a b', `/${'x'.repeat(2048)}`])('P5 path %j is refused', (path) => {
  expect(check({ path })).toEqual([expect.stringContaining('spec.downscalePodPicker.http.path: ')]);
});

test('P5 a query is part of the path', () => {
  expect(check({ path: '/pick?zone=a' })).toEqual([]);
});

test('K22 P6 the scheme is stored in upper case', () => {
  const picker: DownscalePodPicker = { http: { host: 'h', port: 1, scheme: 'https' } };
  defaultPicker(picker);
  expect(picker.http?.scheme).toBe('HTTPS');
  expect(check({ scheme: 'ftp' })).toEqual([expect.stringContaining('http.scheme: Unsupported value: "FTP"')]);
});

test.each(['Host', 'content-LENGTH', 'Proxy-Authorization', 'TE', 'a b', 'ä', 'a:b'])(
  'K23 P7 header name %j is refused',
  (name) => {
    expect(check(header(name))).toEqual([expect.stringContaining('http.httpHeaders[0].name: Invalid value')]);
  },
);

test('P7 names may repeat', () => {
  expect(check({ httpHeaders: [{ name: 'A' }, { name: 'A', value: 'x' }] })).toEqual([]);
});

test('K23 P8 value and valueFrom exclude each other', () => {
  const valueFrom = { secretKeyRef: { name: 's', key: 'k' } };
  expect(check(header('A', { value: 'x', valueFrom }))).toEqual([
    expect.stringContaining('http.httpHeaders[0].valueFrom: Forbidden'),
  ]);
  expect(check(header('A', { value: '', valueFrom }))).toEqual([]);
});

test.each(['a\nb', 'a\rb', 'a\0b', 'x'.repeat(8193)])('K23 P9 value %# is refused', (value) => {
  expect(check(header('A', { value }))).toEqual([expect.stringContaining('http.httpHeaders[0].value: ')]);
});

test('P9 at most 32 headers', () => {
  const httpHeaders = Array.from({ length: 33 }, (_, index) => ({ name: `H${index}` }));
  expect(check({ httpHeaders })).toEqual([expect.stringContaining('http.httpHeaders: Too many: 33')]);
});

test.each([
  [{}, ['valueFrom.secretKeyRef: Required']],
  [{ secretKeyRef: { name: '', key: '' } }, ['secretKeyRef.name: Required', 'secretKeyRef.key: Required']],
  [{ secretKeyRef: { name: 's', key: 'a/b' } }, ['secretKeyRef.key: Invalid']],
])('P10 %j is refused', (valueFrom, want) => {
  expect(check(header('A', { valueFrom }))).toEqual(want.map((text) => expect.stringContaining(text)));
});

test('K28 with the gate off a new picker is dropped and a stored one stays', () => {
  const spec = (): ReplicaSetSpec => ({ downscalePodPicker: { http: { host: 'h', port: 1 } } });
  const created = spec();
  dropDisabledPicker(created, undefined, false);
  expect(created).toEqual({});
  const updated = spec();
  dropDisabledPicker(updated, spec(), false);
  expect(updated).toEqual(spec());
  const added = spec();
  dropDisabledPicker(added, {}, false);
  expect(added).toEqual({});
});

test('a secret over plain HTTP is warned about', () => {
  const secret = header('A', { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } });
  expect(pickerWarnings({ http: { host: 'h', port: 1, scheme: 'HTTP', ...secret } }, PATH)).toHaveLength(1);
  expect(pickerWarnings({ http: { host: 'h', port: 1, scheme: 'HTTPS', ...secret } }, PATH)).toEqual([]);
  expect(pickerWarnings({ http: { host: 'h', port: 1, scheme: 'HTTP', ...header('A') } }, PATH)).toEqual([]);
});
