import { expect, test } from 'vitest';
import type { Pod, ResourceQuota } from '../../../api/generated/core-v1.ts';
import { computeUsed, kindsOf } from './count.ts';

const quota = (hard: Record<string, string>, scopes?: string[]): ResourceQuota => ({
  metadata: { name: 'q' },
  spec: { hard, ...(scopes && { scopes }) },
});
const pod = (phase: string, cpu?: string): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', ...(cpu && { resources: { requests: { cpu } } }) }] },
  status: { phase },
});
const pods = { group: '', plural: 'pods' };

test('kindsOf() finds the kinds behind the names of a quota, each once', () => {
  const names = [
    'requests.cpu',
    'pods',
    'limits.memory',
    'count/pods',
    'services.nodeports',
    'count/deployments.apps',
    'secrets',
  ];
  expect(kindsOf(names).map(({ plural, group }) => `${plural}.${group}`)).toEqual([
    'pods.',
    'services.',
    'deployments.apps',
    'secrets.',
  ]);
  expect(kindsOf(['nonsense'])).toEqual([]);
});

test('computeUsed() adds up what counts and gives zero to what does not', () => {
  const hard = { pods: '5', 'count/pods': '9', 'requests.cpu': '4', 'count/jobs.batch': '1' };
  const items = [pod('Running', '500m'), pod('Pending', '1'), pod('Succeeded', '8')];
  expect(computeUsed(quota(hard), [{ kind: pods, items }], 0)).toEqual({
    pods: '2',
    'count/pods': '3',
    'requests.cpu': '1500m',
    'count/jobs.batch': '0',
  });
});

test('computeUsed() leaves out what is not in scope', () => {
  const items = [pod('Running', '500m'), pod('Running')];
  expect(computeUsed(quota({ pods: '5' }, ['BestEffort']), [{ kind: pods, items }], 0)).toEqual({ pods: '1' });
});
