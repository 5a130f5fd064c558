import { expect, test } from 'vitest';
import { FieldPath, type Issue } from '../../machinery/values/index.ts';
import type { EvictionResponder } from '../generated/core-v1.ts';
import type { EvictionRequest, EvictionRequestStatus } from '../generated/lifecycle-v1alpha1.ts';
import {
  validateEviction,
  validateEvictionRequest,
  validateEvictionRequestStatus,
  validatePodResponders,
} from './index.ts';

const UID = '5477c2ff-f59f-4eb9-a0be-e54232323faa';
const metadata = { name: 'bar', namespace: 'foo' };
const told = (issues: readonly Issue[]): string[] =>
  issues.map(({ path, rule }) => `${path} ${rule.replace('FieldValue', '')}`);

interface Fields {
  readonly name?: string;
  readonly uid?: string;
  readonly requester?: string;
  readonly intent?: string;
}
const request = ({
  intent = 'Eviction',
  name = 'foo.pod',
  requester = 'foo.example.com/bar',
  uid = UID,
}: Fields = {}) => ({
  metadata,
  spec: { target: { pod: { name, uid } }, requester, intent },
});
const untargeted = { metadata, spec: { ...request().spec, target: {} } };

test.each<[string, Fields, string]>([
  ['missing target name', { name: '' }, 'spec.target.pod.name Required'],
  ['invalid target name', { name: '_test' }, 'spec.target.pod.name Invalid'],
  ['missing target uid', { uid: '' }, 'spec.target.pod.uid Required'],
  ['invalid target uid', { uid: 'invalid-uid' }, 'spec.target.pod.uid Invalid'],
  ['uid in capitals', { uid: UID.toUpperCase() }, 'spec.target.pod.uid Invalid'],
  ['missing requester name', { requester: '' }, 'spec.requester Required'],
  ['invalid requester name', { requester: 'foo' }, 'spec.requester Invalid'],
  ['reserved k8s.io domain', { requester: 'k8s.io/key' }, 'spec.requester Invalid'],
  ['reserved kubernetes.io domain', { requester: 'dev.kubernetes.io/key' }, 'spec.requester Invalid'],
  ['requester without an intent', { intent: '' }, 'spec.intent Required'],
  ['requester with invalid intent', { intent: 'Invalid' }, 'spec.intent NotSupported'],
])('ER-01: a new EvictionRequest: %s', (_, fields, issue) => {
  expect(told(validateEvictionRequest(request(fields)))).toEqual([issue]);
});

test.each<[string, Fields, string]>([
  ['missing target name', { name: '' }, 'spec.target.pod.name Required'],
  ['invalid target name', { name: '_test' }, 'spec.target.pod.name Invalid'],
  ['missing target uid', { uid: '' }, 'spec.target.pod.uid Required'],
  ['invalid target uid', { uid: 'invalid-uid' }, 'spec.target.pod.uid Invalid'],
])('ER-01: a new Eviction: %s', (_, fields, issue) => {
  expect(told(validateEviction(request(fields)))).toEqual([issue]);
});

test('ER-01: what is right is accepted, what has no target is not', () => {
  expect(validateEvictionRequest(request())).toEqual([]);
  expect(validateEviction(request())).toEqual([]);
  expect(told(validateEvictionRequest(untargeted))).toEqual(['spec.target Invalid']);
  expect(told(validateEviction(untargeted))).toEqual(['spec.target Invalid']);
  expect(told(validateEvictionRequest({ metadata }))).toEqual([
    'spec.target Invalid',
    'spec.requester Required',
    'spec.intent Required',
  ]);
});

test.each<[string, EvictionRequest, string[]]>([
  ['withdraw', request({ intent: 'Withdrawn' }), []],
  ['clear target', untargeted, ['spec.target Invalid']],
  ['change target name', request({ name: 'change' }), ['spec.target Invalid']],
  ['change target uid', request({ uid: '' }), ['spec.target Invalid']],
  ['change requester name', request({ requester: 'foo.example.com/baz' }), ['spec.requester Invalid']],
  ['no intent', request({ intent: '' }), ['spec.intent Required']],
  ['invalid intent', request({ intent: 'x' }), ['spec.intent NotSupported']],
])('ER-02: an EvictionRequest changed: %s', (_, changed, issues) => {
  expect(told(validateEvictionRequest(changed, request()))).toEqual(issues);
});

test('ER-02: an intent goes both ways; an Eviction keeps its target', () => {
  expect(validateEvictionRequest(request(), request({ intent: 'Withdrawn' }))).toEqual([]);
  expect(validateEviction(request(), request())).toEqual([]);
  for (const changed of [untargeted, request({ name: 'change' }), request({ uid: '' })]) {
    const [issue] = validateEviction(changed, request());
    expect(issue).toMatchObject({ path: 'spec.target', message: 'Invalid value: null: field is immutable' });
  }
});

const time = '2026-11-18T12:00:00Z';
const condition = (type: string, status = 'True') => ({
  type,
  status,
  reason: 'Because',
  message: '',
  lastTransitionTime: time,
});
const updated = (status: EvictionRequestStatus, old: EvictionRequestStatus = {}): string[] =>
  told(validateEvictionRequestStatus({ metadata, status }, { metadata, status: old }));

test('ER-03: a generation that was seen only grows', () => {
  const path = 'status.observedGeneration Invalid';
  expect(updated({ observedGeneration: 5 }, { observedGeneration: 1 })).toEqual([]);
  expect(updated({ observedGeneration: 0 })).toEqual([path]);
  expect(updated({ observedGeneration: -1 })).toEqual([path]);
  expect(updated({ observedGeneration: 1 }, { observedGeneration: 2 })).toEqual([path]);
  expect(updated({}, { observedGeneration: 1 })).toEqual([path]);
});

test('ER-03: conditions are well formed, of different types, and at most 100', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => condition(`Condition${at}`));
  expect(updated({ conditions: many(100) })).toEqual([]);
  expect(updated({ conditions: many(101) })).toEqual(['status.conditions TooMany']);
  expect(updated({ conditions: [condition('A'), condition('A')] })).toEqual(['status.conditions[1].type Duplicate']);
  expect(updated({ conditions: [{ ...condition('-bad-name'), reason: '-Reason' }] })).toEqual([
    'status.conditions[0].type Invalid',
    'status.conditions[0].reason Invalid',
  ]);
});

test('ER-04: conditions of a request may go back', () => {
  for (const type of ['TargetEvicted', 'Failed']) {
    expect(updated({ conditions: [condition(type, 'False')] }, { conditions: [condition(type)] })).toEqual([]);
    expect(updated({}, { conditions: [condition(type)] })).toEqual([]);
  }
});

const responders = (...list: readonly (readonly [string, number | undefined])[]): string[] =>
  told(
    validatePodResponders(
      FieldPath.of('spec', 'evictionResponders'),
      list.map(([name, priority]): EvictionResponder => ({ name, priority: priority as number })),
    ),
  );
const at = (index: number, field: string): string => `spec.evictionResponders[${index}].${field}`;

test('ER-08: responders of a pod that are right', () => {
  expect(responders()).toEqual([]);
  expect(responders(['foo.example.com/bar', 1000])).toEqual([]);
  expect(responders(['5.3.5.9/bar', 100_000])).toEqual([]);
  expect(responders(['foo.example.com/test', 7500], ['bar.example.com/baz', 7500])).toEqual([]);
  const ten = Array.from({ length: 10 }, (_, i) => [`${i}.example.com/bar`, 1000 + i] as const);
  expect(responders(...ten)).toEqual([]);
  expect(responders(...ten, ['x.example.com/bar', 1000])).toEqual(['spec.evictionResponders TooMany']);
});

test.each<[string, string, number | undefined, string[]]>([
  ['empty name', '', 5000, [`${at(0, 'name')} Required`]],
  ['one segment', 'invalid', 5000, [`${at(0, 'name')} Invalid`]],
  ['underscores', 'underscores_are_bad.example.com/bar', 5000, [`${at(0, 'name')} Invalid`]],
  ['reserved k8s.io domain', 'k8s.io/key', 5000, [`${at(0, 'name')} Invalid`]],
  ['reserved kubernetes.io domain', 'dev.kubernetes.io/key', 5000, [`${at(0, 'name')} Invalid`]],
  ['priority required', 'example.com/bar', undefined, [`${at(0, 'priority')} Required`]],
  ['negative priority', 'example.com/bar', -1, [`${at(0, 'priority')} Invalid`]],
  ['priority over maximum', 'example.com/bar', 100_001, [`${at(0, 'priority')} Invalid`]],
  ['reserved priority', 'example.com/bar', 999, [`${at(0, 'priority')} Invalid`]],
  ['priority 500', 'example.com/bar', 500, [`${at(0, 'priority')} Invalid`]],
  ['both reserved', 'dev.kubernetes.io/key', 0, [`${at(0, 'name')} Invalid`, `${at(0, 'priority')} Invalid`]],
])('ER-08: a responder of a pod: %s', (_, name, priority, issues) => {
  expect(responders([name, priority])).toEqual(issues);
});

test('ER-08: a responder is there once', () => {
  const twice = responders(['a.example.com/t', 9000], ['b.example.com/t', 8000], ['a.example.com/t', 7000]);
  expect(twice).toEqual(['spec.evictionResponders[2] Duplicate']);
});
