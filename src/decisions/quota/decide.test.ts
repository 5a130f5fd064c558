import { expect, test } from 'vitest';
import type { Pod, ResourceQuota } from '../../api/generated/core-v1.ts';
import { decideQuota, type QuotaQuestion } from './decide.ts';
import { podResources } from './pod-resources.ts';
import { usageOf } from './usage.ts';

const pods = { group: '', plural: 'pods' };
const pod = (over: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  metadata: { name: 'p' },
  spec: {
    containers: [{ name: 'c', resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1' } } }],
    ...over,
  },
});
const quota = (hard: Record<string, string>, used: Record<string, string>, scopes?: string[]): ResourceQuota => ({
  metadata: { name: 'q' },
  spec: { hard, ...(scopes && { scopes }) },
  status: { hard, used },
});
const ask = (over: Partial<QuotaQuestion>): QuotaQuestion => ({
  kind: pods,
  object: pod(),
  quotas: [],
  now: 0,
  ...over,
});

test('decideQuota() charges what the pod asks for', () => {
  const verdict = decideQuota(
    ask({ quotas: [quota({ pods: '2', 'requests.cpu': '1' }, { pods: '1', 'requests.cpu': '250m' })] }),
  );
  expect(verdict).toMatchObject({ allowed: true, reason: 'WithinQuota' });
  expect(verdict.allowed && verdict.used.get('q')).toEqual({ pods: '2', 'requests.cpu': '750m' });
});

test('decideQuota() names every resource that would be exceeded', () => {
  const hard = { pods: '1', 'requests.cpu': '600m', 'limits.cpu': '5' };
  const used = { pods: '1', 'requests.cpu': '200m', 'limits.cpu': '1' };
  expect(decideQuota(ask({ quotas: [quota(hard, used)] }))).toEqual({
    allowed: false,
    reason: 'QuotaExceeded',
    message:
      'exceeded quota: q, requested: pods=1,requests.cpu=500m, used: pods=1,requests.cpu=200m, limited: pods=1,requests.cpu=600m',
  });
});

test('decideQuota() refuses while usage has not been counted', () => {
  expect(decideQuota(ask({ quotas: [quota({ pods: '1' }, {})] }))).toMatchObject({
    reason: 'UsageUnknown',
    message: 'status unknown for quota: q, resources: pods',
  });
});

test('decideQuota() wants compute resources stated when they are limited', () => {
  expect(decideQuota(ask({ quotas: [quota({ 'limits.memory': '1Gi' }, { 'limits.memory': '0' })] }))).toMatchObject({
    reason: 'ConstraintNotMet',
    message: 'failed quota: q: must specify limits.memory for: c',
  });
});

const scoped = [
  { scope: 'Terminating', object: pod({ activeDeadlineSeconds: 5 }), counted: true },
  { scope: 'Terminating', object: pod(), counted: false },
  { scope: 'NotTerminating', object: pod(), counted: true },
  { scope: 'BestEffort', object: pod({ containers: [{ name: 'c' }] }), counted: true },
  { scope: 'BestEffort', object: pod(), counted: false },
  { scope: 'NotBestEffort', object: pod(), counted: true },
  { scope: 'PriorityClass', object: pod({ priorityClassName: 'high' }), counted: true },
];
for (const [at, { scope, object, counted }] of scoped.entries()) {
  test(`decideQuota() scope ${scope} ${counted ? 'counts' : 'leaves out'} (${at})`, () => {
    const verdict = decideQuota(ask({ object, quotas: [quota({ pods: '5' }, { pods: '0' }, [scope])] }));
    expect(verdict.reason).toBe(counted ? 'WithinQuota' : 'NotCounted');
  });
}

test('decideQuota() charges an update only what it adds', () => {
  const service = (type: string, ports: number) => ({
    metadata: { name: 's' },
    spec: { type, ports: Array.from({ length: ports }, (_, at) => ({ port: at + 1 })) },
  });
  const hard = { services: '1', 'services.nodeports': '1' };
  const kind = { group: '', plural: 'services' };
  const quotas = [quota(hard, { services: '1', 'services.nodeports': '0' })];
  const question = { kind, quotas, now: 0, old: service('ClusterIP', 2) };
  expect(decideQuota({ ...question, object: service('NodePort', 2) })).toMatchObject({ reason: 'QuotaExceeded' });
  const one = decideQuota({ ...question, object: service('NodePort', 1) });
  expect(one.allowed && one.used.get('q')).toEqual({ services: '1', 'services.nodeports': '1' });
});

test('usageOf() counts a finished pod as an object only', () => {
  expect(usageOf(pods, { ...pod(), status: { phase: 'Succeeded' } }, 0)).toEqual({ 'count/pods': '1' });
});

test('usageOf() counts kinds of other groups by count/plural.group', () => {
  expect(usageOf({ group: 'apps', plural: 'replicasets' }, {}, 0)).toEqual({ 'count/replicasets.apps': '1' });
});

test('podResources() takes the larger of running containers and the way there', () => {
  const of = (cpu: string, more: object = {}) => ({ name: cpu, resources: { requests: { cpu } }, ...more });
  const spec = {
    containers: [of('1'), of('2')],
    initContainers: [of('1', { restartPolicy: 'Always' }), of('4')],
    overhead: { cpu: '250m' },
  };
  expect(podResources({ metadata: {}, spec }, 'requests')).toEqual({ cpu: '5250m' });
});
