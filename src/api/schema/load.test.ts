import { expect, test } from 'vitest';
import { loadSchema, nodeOfKind } from './index.ts';

const schema = loadSchema();
const pod = { group: '', version: 'v1', kind: 'Pod' };

test('loadSchema() knows the facts of a field: type, protobuf number, merge key, list keys', () => {
  const containers = schema.fieldAt(pod, ['spec', 'containers']);
  expect(containers).toMatchObject({
    number: 2,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
    listType: 'map',
    listMapKeys: ['name'],
    required: true,
  });
  expect(schema.fieldAt(pod, ['spec', 'containers', 'ports'])).toMatchObject({
    patchMergeKey: 'containerPort',
    listMapKeys: ['containerPort', 'protocol'],
  });
});

test('loadSchema() flattens embedded structs in JSON and keeps their protobuf field', () => {
  const volume = schema.struct('core/v1.Volume');
  expect(volume.properties.get('emptyDir')?.type).toMatchObject({ id: 'core/v1.EmptyDirVolumeSource' });
  expect(volume.numbers.get(2)).toMatchObject({ inline: true, type: { id: 'core/v1.VolumeSource' } });
});

test.each([
  ['scheduling.k8s.io', 'v1alpha1', 'PodGroup', ['spec', 'podGroupTemplateName']],
  ['scheduling.k8s.io', 'v1alpha1', 'Workload', ['spec', 'podGroups', 'replicas']],
  ['scheduling.k8s.io', 'v1alpha2', 'PodGroup', ['spec', 'schedulingPolicy', 'gang', 'minCount']],
  ['scheduling.k8s.io', 'v1alpha3', 'CompositePodGroup', ['spec']],
  ['scheduling.k8s.io', 'v1beta1', 'PodGroup', ['spec', 'workloadRef', 'templateName']],
  [
    'apps',
    'v1',
    'ReplicaSet',
    ['spec', 'downscalePodPicker', 'http', 'httpHeaders', 'valueFrom', 'secretKeyRef', 'key'],
  ],
  ['apps', 'v1', 'Deployment', ['spec', 'downscalePodPicker', 'timeoutSeconds']],
  ['', 'v1', 'Pod', ['spec', 'workload', 'podGroup']],
  ['', 'v1', 'Pod', ['spec', 'workloadReference', 'podGroupReplicaIndex']],
  ['', 'v1', 'Pod', ['spec', 'workloadRef', 'podGroupReplicaKey']],
  ['', 'v1', 'Pod', ['spec', 'schedulingGroup', 'podGroupName']],
])('loadSchema() holds every generation of the group APIs: %s/%s %s %j', (group, version, kind, path) => {
  expect(schema.fieldAt({ group, version, kind }, path)).toBeDefined();
});

test('kind() finds option kinds in every group-version and refuses what is not registered', () => {
  expect(schema.kind({ group: 'apps', version: 'v1', kind: 'DeleteOptions' })?.id).toBe('meta/v1.DeleteOptions');
  expect(schema.kind({ group: 'apps', version: 'v1', kind: 'Pod' })).toBeUndefined();
  expect(schema.kind({ group: '', version: 'v1', kind: '__proto__' })).toBeUndefined();
});

test('every type of the data file can be built', () => {
  for (const id of schema.structIds()) expect(schema.struct(id).id).toBe(id);
});

test('nodeOfKind() tells which parts merge and which are whole', () => {
  const node = nodeOfKind(schema, { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' });
  const spec = node?.property('spec');
  if (spec?.kind !== 'object') throw new Error('spec must be an object');
  expect(spec.property('selector')).toMatchObject({ kind: 'object', atomic: true, replace: true });
  expect(spec.property('bogus')).toBeUndefined();
  const meta = node?.property('metadata');
  if (meta?.kind !== 'object') throw new Error('metadata must be an object');
  expect(meta.property('finalizers')).toMatchObject({ kind: 'list', listType: 'set' });
  expect(meta.property('ownerReferences')).toMatchObject({ kind: 'list', listType: 'map', keys: ['uid'] });
});
