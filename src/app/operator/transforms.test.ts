import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import { readPod } from '../../decisions/disruption/index.ts';
import { transforms } from './transforms.ts';

const slim = (pod: Pod): Pod => transforms.get('pods')?.(structuredClone(pod)) as Pod;
const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    resourceVersion: '7',
    labels: { app: 'web', hash: 'abc' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'example.com/kept': 'yes' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true }],
    managedFields: [{ manager: 'kubelet' }],
  },
  spec: {
    nodeName: 'node-1',
    schedulingGroup: { podGroupName: 'gang' },
    containers: [
      {
        name: 'main',
        image: 'x:1',
        env: [
          { name: 'SECRET', value: 'long' },
          { name: 'IS_INJECTED', value: 'true' },
        ],
      },
    ],
  },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'Initialized', status: 'True' },
    ],
  },
});

test('a slim pod counts as the whole pod does', () => {
  expect(readPod(slim(pod('a')))).toEqual(readPod(pod('a')));
});

test('a slim pod leaves out what nobody counts', () => {
  const { metadata, spec, status } = slim(pod('a'));
  expect(metadata.annotations).toEqual({ 'example.com/kept': 'yes' });
  expect(metadata).not.toHaveProperty('managedFields');
  expect(spec?.containers).toEqual([{ name: 'main', image: 'x:1', env: [{ name: 'IS_INJECTED', value: 'true' }] }]);
  expect(status?.conditions?.map(({ type }) => type)).toEqual(['Ready']);
  expect(status).not.toHaveProperty('podIP');
  expect(metadata).not.toHaveProperty('deletionTimestamp');
});

test('slim pods of one template keep what they have in common once', () => {
  const [a, b] = [slim(pod('a')), slim(pod('b'))];
  expect(a.metadata.labels).toBe(b.metadata.labels);
  expect(a.metadata.ownerReferences).toBe(b.metadata.ownerReferences);
  expect(a.spec?.containers).toBe(b.spec?.containers);
  expect(a.metadata.name).not.toBe(b.metadata.name);
});

test('a slim node says whether it is cordoned, and not what it runs', () => {
  const node = transforms.get('nodes')?.({
    metadata: { name: 'n' },
    spec: { unschedulable: true, podCIDR: '10.0.0.0/24' },
    status: { images: [{}] },
  } as never);
  expect(node).toMatchObject({ metadata: { name: 'n' }, spec: { unschedulable: true } });
  expect(node).not.toHaveProperty('status');
});
