import { expect, test } from 'vitest';
import type { Deployment, DeploymentCondition } from '../../../api/generated/apps-v1.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import { progressRecheckMs } from './status.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const DEADLINE_SECONDS = 600;

/** Two of three pods are there, so many seconds after the rollout was seen to get on. */
function recheckAfter(seconds: number, reason: string): number | undefined {
  const condition: DeploymentCondition = {
    type: 'Progressing',
    status: 'True',
    reason,
    lastUpdateTime: formatTime(NOW - seconds * 1000),
  };
  const status = { replicas: 3, updatedReplicas: 3, availableReplicas: 2, conditions: [condition] };
  const spec = { replicas: 3, progressDeadlineSeconds: DEADLINE_SECONDS } as Deployment['spec'];
  return progressRecheckMs({ metadata: { name: 'web' }, spec, status } as Deployment, status, NOW);
}

test.each([
  ['a rollout under way is looked at when its time is over', 100, 'ReplicaSetUpdated', 501_000],
  ['one whose time is over now, a second later', DEADLINE_SECONDS, 'ReplicaSetUpdated', 1000],
  ['one that timed out need not be looked at', 9000, 'ProgressDeadlineExceeded', undefined],
  // It would be looked at without a pause for as long as the pod is missing.
  ['nor one that was finished long ago and has lost a pod since', 9000, 'NewReplicaSetAvailable', undefined],
  ['nor one that was finished a moment ago', 1, 'NewReplicaSetAvailable', undefined],
])('progressRecheckMs(): %s', (_, seconds, reason, wanted) => {
  expect(recheckAfter(seconds, reason)).toBe(wanted);
});
