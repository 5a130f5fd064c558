import { expect, test } from 'vitest';
import { formatIssue } from '../../machinery/values/index.ts';
import type { Deployment, DeploymentSpec } from '../generated/apps-v1.ts';
import { defaultDeployment } from './defaults.ts';
import { validateDeployment, validateDeploymentStatus, validateDeploymentUpdate } from './validation.ts';

function deployment(spec: Partial<DeploymentSpec> = {}): Deployment {
  const made: Deployment = {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c' }] } },
      ...spec,
    },
  };
  defaultDeployment(made);
  return made;
}

const check = (spec: Partial<DeploymentSpec>): string[] =>
  validateDeployment(deployment(spec), () => []).map(formatIssue);

test('defaultDeployment() fills what is absent and nothing else', () => {
  const { spec } = deployment({ replicas: 0, strategy: { rollingUpdate: { maxSurge: 0 } } });
  expect(spec).toMatchObject({
    replicas: 0,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
  expect(deployment({ strategy: { type: 'Recreate' } }).spec?.strategy).toEqual({ type: 'Recreate' });
});

const CASES: [name: string, spec: Partial<DeploymentSpec>, issue: string][] = [
  ['negative replicas', { replicas: -1 }, 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ['no selector', { selector: undefined }, 'spec.selector: Required value'],
  ['an empty selector', { selector: {} }, 'spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  [
    'a selector that misses the template',
    { selector: { matchLabels: { app: 'other' } } },
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ],
  [
    'rollingUpdate with Recreate',
    { strategy: { type: 'Recreate', rollingUpdate: {} } },
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ],
  [
    'both surge and unavailable 0',
    { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
  ],
  [
    'unavailable above 100%',
    { strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ],
  [
    'a deadline within minReadySeconds',
    { minReadySeconds: 600 },
    'spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds',
  ],
  [
    'a restartPolicy other than Always',
    { template: { metadata: { labels: { app: 'web' } }, spec: { containers: [], restartPolicy: 'Never' } } },
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
];

test.each(CASES)('validateDeployment() refuses %s', (_name, spec, issue) => {
  expect(check(spec)).toContain(issue);
});

test('validateDeployment() accepts a plain Deployment', () => {
  expect(check({})).toEqual([]);
});

test('a selector cannot change', () => {
  const labels = { app: 'web', tier: 'x' };
  const template = { metadata: { labels }, spec: { containers: [] } };
  const update = deployment({ template, selector: { matchLabels: { tier: 'x' } } });
  const issues = validateDeploymentUpdate(update, deployment({ template }), () => []).map(formatIssue);
  expect(issues).toEqual(['spec.selector: Invalid value: {"matchLabels":{"tier":"x"}}: field is immutable']);
});

test('status counts cannot exceed each other, nor collisions shrink', () => {
  const update = { ...deployment(), status: { replicas: 1, readyReplicas: 2, availableReplicas: 3 } };
  const old = { ...deployment(), status: { collisionCount: 1 } };
  expect(validateDeploymentStatus(update, old).map(({ path }) => path)).toEqual([
    'status.readyReplicas',
    'status.availableReplicas',
    'status.availableReplicas',
    'status.collisionCount',
  ]);
});
