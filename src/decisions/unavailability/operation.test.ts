import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import { classifyUpdate, protects } from './operation.ts';
import { isConsistent, isReady, isUnprotected } from './pod-state.ts';

const pod = (
  change: { image?: string; cpu?: string; labels?: Record<string, string>; restart?: boolean } = {},
): Pod => ({
  metadata: { name: 'p', labels: change.labels ?? {} },
  spec: {
    containers: [
      {
        name: 'c',
        image: change.image ?? 'app:1',
        resources: { requests: { cpu: change.cpu ?? '1' } },
        ...(change.restart ? { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] } : {}),
      },
    ],
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});

test('classifyUpdate() W12 an image change is an UPDATE', () => {
  expect(classifyUpdate(pod({ image: 'app:2' }), pod())).toBe('UPDATE');
});

test('classifyUpdate() W13 labels alone disturb nothing, unless they mark the pod unavailable', () => {
  expect(classifyUpdate(pod({ labels: { a: 'b' } }), pod())).toBeUndefined();
  expect(classifyUpdate(pod({ labels: { 'unavailable-pod.kruise.io/x': '' } }), pod())).toBe('UPDATE');
});

test('classifyUpdate() W14 a cpu change is a RESIZE; W16 an UPDATE when the container must restart', () => {
  expect(classifyUpdate(pod({ cpu: '2' }), pod())).toBe('RESIZE');
  expect(classifyUpdate(pod({ cpu: '2', restart: true }), pod({ restart: true }))).toBe('UPDATE');
});

test('classifyUpdate() H15 leaving the group is an UPDATE', () => {
  expect(classifyUpdate(pod(), pod({ labels: { g: '0' } }), ['g'])).toBe('UPDATE');
  expect(classifyUpdate(pod({ labels: { g: '0', a: 'b' } }), pod({ labels: { g: '0' } }), ['g'])).toBeUndefined();
});

const all = { deletes: true, updates: true, verticalScaling: false };

test('protects() W9 only what is listed; W14 and W15 resizes follow updates unless vertical scaling is on', () => {
  expect(protects({ protectOperations: ['EVICT'] }, 'DELETE', all)).toBe(false);
  expect(protects({}, 'RESIZE', all)).toBe(true);
  expect(protects({}, 'RESIZE', { ...all, verticalScaling: true })).toBe(false);
  expect(protects({ protectOperations: ['RESIZE'] }, 'RESIZE', { ...all, verticalScaling: true })).toBe(true);
  expect(protects({}, 'UPDATE', { ...all, updates: false })).toBe(false);
});

test('isReady() a label with the unavailable prefix overrides readiness', () => {
  expect(isReady(pod())).toBe(true);
  expect(isReady(pod({ labels: { 'unavailable-pod.kruise.io/maintenance': '' } }))).toBe(false);
});

test('isConsistent() C16 a bare digest is passed over, except in compatibility mode', () => {
  const pinned = pod({ image: 'registry.example/app@sha256:aa' });
  const running = (imageID: string): Pod => ({
    ...pinned,
    status: {
      ...pinned.status,
      containerStatuses: [{ name: 'c', image: 'app', imageID, ready: true, restartCount: 0 }],
    },
  });
  expect(isConsistent(running('sha256:aa'))).toBe(true);
  expect(isConsistent(running('sha256:aa'), { compat: true })).toBe(false);
  expect(isConsistent(running('registry.example/app@sha256:aa'))).toBe(true);
  expect(isConsistent(running('registry.example/app@sha256:bb'))).toBe(false);
});

test('isUnprotected() W7 reads booleans and nothing else', () => {
  const asked = (text: string): boolean =>
    isUnprotected({ metadata: { annotations: { 'pub.kruise.io/no-protect': text } } });
  expect([asked('true'), asked('1'), asked('yes'), asked('')]).toEqual([true, true, false, false]);
});
