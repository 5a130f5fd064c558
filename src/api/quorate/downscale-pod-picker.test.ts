import { expect, test } from 'vitest';
import {
  choosePicker,
  downscalePodPickerWarnings,
  type DownscalePodPickerObject,
  type DownscalePodPickerSpec,
  pickerOf,
  validateDownscalePodPicker,
} from './downscale-pod-picker.ts';

const picker = (name: string, spec: Partial<DownscalePodPickerSpec> = {}, created = '1'): DownscalePodPickerObject => ({
  metadata: { name, namespace: 'default', creationTimestamp: created },
  spec: { targetRef: { kind: 'Deployment', name: 'web' }, http: { host: 'picker', port: 80 }, ...spec },
});
const paths = (object: DownscalePodPickerObject, ...others: DownscalePodPickerObject[]): string[] =>
  validateDownscalePodPicker(object, others).map(({ path }) => path);

test('a picker needs a target it can speak for and the fields of spec.downscalePodPicker', () => {
  expect(paths(picker('a'))).toEqual([]);
  expect(paths(picker('a', { targetRef: { kind: 'StatefulSet', name: '', apiVersion: 'apps/v2' } }))).toEqual([
    'spec.targetRef.apiVersion',
    'spec.targetRef.kind',
    'spec.targetRef.name',
  ]);
  expect(paths({ metadata: { name: 'a' } })).toEqual(['spec.targetRef', 'spec.http']);
  const http = { host: 'http://x', port: 'https', httpHeaders: [{ name: 'Host' }] };
  expect(paths(picker('a', { http, maxRetries: 11, timeoutSeconds: 0 }))).toEqual([
    'spec.http.host',
    'spec.http.port',
    'spec.http.httpHeaders[0].name',
    'spec.maxRetries',
    'spec.timeoutSeconds',
  ]);
});

test('a workload has one picker; the object itself is no rival', () => {
  expect(paths(picker('a'), picker('a'))).toEqual([]);
  expect(paths(picker('a'), picker('b'))).toEqual(['spec.targetRef']);
  expect(paths(picker('a'), picker('b', { targetRef: { kind: 'ReplicaSet', name: 'web' } }))).toEqual([]);
});

test('the picker of the Deployment comes before that of the ReplicaSet, the older before the younger', () => {
  const own = picker('own', { targetRef: { kind: 'ReplicaSet', name: 'web-1' } });
  const all = [own, picker('young', {}, '2'), picker('old', {}, '1')];
  expect(choosePicker(all, { replicaSet: 'web-1', deployment: 'web' })?.metadata.name).toBe('old');
  expect(choosePicker(all, { replicaSet: 'web-1', deployment: undefined })?.metadata.name).toBe('own');
  expect(choosePicker(all, { replicaSet: 'other', deployment: 'other' })).toBeUndefined();
});

test('K22 a scheme of any case is understood', () => {
  const object = picker('a', { http: { host: 'x', port: 1, scheme: 'https' } });
  expect(paths(object)).toEqual([]);
  expect(pickerOf(object)).toMatchObject({ maxRetries: 3, timeoutSeconds: 1, http: { scheme: 'HTTPS', path: '/' } });
});

test('a longer wait than the webhook has is warned about', () => {
  expect(downscalePodPickerWarnings(picker('a', { timeoutSeconds: 30 }), 6)).toEqual([
    'spec.timeoutSeconds: on a cluster a picker is waited for at most 6 seconds, not 30',
  ]);
});
