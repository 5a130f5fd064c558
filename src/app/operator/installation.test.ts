import { expect, test } from 'vitest';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { podProblem, rolloutProblem } from './installation.ts';

const deployment = (status: Deployment['status'], generation = 2): Deployment => ({
  metadata: { name: 'quorate', generation },
  spec: { replicas: 2, selector: {}, template: {} },
  status,
});

const whole = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

test.each([
  [whole, undefined],
  [{ ...whole, observedGeneration: 1 }, 'the Deployment has not been looked at yet'],
  [{ ...whole, updatedReplicas: 1 }, '1 of 2 replicas are of this version'],
  [{ ...whole, replicas: 3 }, '1 replicas of the version before still run'],
  [{ ...whole, availableReplicas: 0 }, '0 of 2 replicas are ready'],
])('WS-02: rolloutProblem() of %j is %s', (status, want) => {
  expect(rolloutProblem(deployment(status))).toBe(want);
});

test('WS-02: rolloutProblem() says why pods cannot be made', () => {
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: pods' }];
  expect(rolloutProblem(deployment({ ...whole, conditions }))).toBe('its pods cannot be made: exceeded quota: pods');
});

const pod = (status: object): Pod => ({ metadata: { name: 'p' }, status }) as Pod;
const container = (state: object, lastState: object = {}) => ({ containerStatuses: [{ name: 'c', state, lastState }] });

test.each([
  [{ conditions: [{ type: 'Ready', status: 'True' }] }, undefined],
  [
    container({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }),
    'pod p: ImagePullBackOff: no such image',
  ],
  [
    container({ waiting: { reason: 'CrashLoopBackOff' } }, { terminated: { exitCode: 1, message: 'EADDRINUSE\n' } }),
    'pod p: it ended with code 1: EADDRINUSE',
  ],
  [
    { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: '0/0 nodes' }] },
    'pod p: not scheduled: 0/0 nodes',
  ],
  [{ phase: 'Running' }, 'pod p: it runs and is not ready; /readyz?verbose says why'],
])('WS-02: podProblem() of %j is %s', (status, want) => {
  expect(podProblem(pod(status))).toBe(want);
});
