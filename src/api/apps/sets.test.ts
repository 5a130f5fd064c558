import { expect, test } from 'vitest';
import { formatIssue } from '../../machinery/values/index.ts';
import type { DaemonSet, DaemonSetSpec, StatefulSet, StatefulSetSpec } from '../generated/apps-v1.ts';
import {
  countTemplateGeneration,
  defaultDaemonSet,
  defaultStatefulSet,
  validateControllerRevision,
  validateControllerRevisionUpdate,
  validateDaemonSet,
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from './index.ts';

const base = () => ({
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c' }] } },
});
const stateful = (spec: Partial<StatefulSetSpec> = {}): StatefulSet => {
  const made = { metadata: { name: 'web' }, spec: { ...base(), ...spec } };
  defaultStatefulSet(made);
  return made;
};
const daemon = (spec: Partial<DaemonSetSpec> = {}): DaemonSet => {
  const made = { metadata: { name: 'web' }, spec: { ...base(), ...spec } };
  defaultDaemonSet(made);
  return made;
};
const checkStateful = (spec: Partial<StatefulSetSpec>) =>
  validateStatefulSet(stateful(spec), () => []).map(formatIssue);
const checkDaemon = (spec: Partial<DaemonSetSpec>) => validateDaemonSet(daemon(spec), () => []).map(formatIssue);

test('defaults of StatefulSets and DaemonSets pass their own validation', () => {
  expect(stateful().spec).toMatchObject({
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    revisionHistoryLimit: 10,
  });
  expect(daemon().spec?.updateStrategy).toEqual({
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
  });
  expect([checkStateful({}), checkDaemon({})]).toEqual([[], []]);
});

const statefulCases: [name: string, spec: Partial<StatefulSetSpec>, issue: string][] = [
  [
    'an unknown order',
    { podManagementPolicy: 'Odd' },
    "spec.podManagementPolicy: Invalid value: \"Odd\": must be 'OrderedReady' or 'Parallel'",
  ],
  [
    'a negative partition',
    { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } },
    'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'a negative first ordinal',
    { ordinals: { start: -1 } },
    'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'an unknown retention',
    { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep' } },
    'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"',
  ],
  ['no selector', { selector: undefined }, 'spec.selector: Required value'],
];
for (const [name, spec, issue] of statefulCases) {
  test(`validateStatefulSet() refuses ${name}`, () => expect(checkStateful(spec)).toEqual([issue]));
}

test('validateStatefulSetUpdate() lets only some fields change', () => {
  expect(validateStatefulSetUpdate(stateful({ replicas: 3 }), stateful(), () => [])).toEqual([]);
  expect(validateStatefulSetUpdate(stateful({ serviceName: 'b' }), stateful(), () => []).map(formatIssue)).toEqual([
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  ]);
});

test('validateStatefulSetStatus() refuses counts that cannot be', () => {
  const status = { replicas: 1, currentReplicas: 2 };
  expect(validateStatefulSetStatus({ ...stateful(), status }, stateful()).map(formatIssue)).toEqual([
    'status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas',
  ]);
});

test('validateDaemonSet() wants exactly one of surge and unavailability', () => {
  const rolling = (rollingUpdate: object) => checkDaemon({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
  expect(rolling({ maxUnavailable: 0, maxSurge: 0 })).toEqual([
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  ]);
  expect(rolling({ maxUnavailable: 1, maxSurge: 1 })).toEqual([
    'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero',
  ]);
  expect(rolling({ maxUnavailable: 0, maxSurge: '25%' })).toEqual([]);
});

test('countTemplateGeneration() counts changes of the template alone', () => {
  const generation = ({ metadata }: DaemonSet) => metadata.annotations?.['deprecated.daemonset.template.generation'];
  const first = daemon();
  countTemplateGeneration(first, undefined);
  const same = daemon({ minReadySeconds: 5 });
  countTemplateGeneration(same, first);
  const other = daemon({ template: { ...base().template, spec: { containers: [{ name: 'd' }] } } });
  countTemplateGeneration(other, same);
  expect([first, same, other].map(generation)).toEqual(['1', '1', '2']);
});

test('validateControllerRevision() wants an object as data, and the same one for good', () => {
  const revision = { metadata: { name: 'a' }, revision: 1, data: { a: 1 } };
  expect(validateControllerRevision(revision)).toEqual([]);
  expect(validateControllerRevision({ ...revision, data: 'text' }).map(formatIssue)).toEqual([
    'data: Required value: data must be a valid JSON object',
  ]);
  expect(validateControllerRevisionUpdate({ ...revision, revision: 2 }, revision)).toEqual([]);
  expect(validateControllerRevisionUpdate({ ...revision, data: { a: 2 } }, revision)).toHaveLength(1);
});
