import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepClone, FieldPath } from '../../machinery/values/index.ts';
import {
  carryPodGroup,
  carryWorkload,
  SCHEDULING_VERSIONS,
  servedPodGroup,
  servedWorkload,
  type StoredPodGroup,
  type StoredTemplate,
  type StoredWorkload,
  storedPodGroup,
  storedWorkload,
  validateGroupLinks,
  validatePodGroup,
  validatePodGroupUpdate,
  validateWorkload,
  validateWorkloadUpdate,
} from './index.ts';

const metadata = { name: 'x', namespace: 'default' };
const gang = (minCount: number) => ({ gang: { minCount } });
const template = (name: string, over: Partial<StoredTemplate> = {}): StoredTemplate => ({
  name,
  schedulingPolicy: gang(2),
  ...over,
});
const workload = (...podGroupTemplates: StoredTemplate[]): StoredWorkload => ({
  metadata,
  spec: { podGroupTemplates },
});
const group = (spec: StoredPodGroup['spec'] = { schedulingPolicy: gang(2) }): StoredPodGroup => ({ metadata, spec });
const paths = (issues: readonly { path: string; rule: string }[]) => issues.map(({ path, rule }) => `${path} ${rule}`);
const templates = (count: number) => Array.from({ length: count }, (_, index) => template(`t${index}`));

test('V-01 validateWorkload() takes one to eight templates', () => {
  expect(validateWorkload(workload(...templates(8)), 'v1beta1')).toEqual([]);
  expect(paths(validateWorkload(workload(...templates(9)), 'v1beta1'))).toEqual([
    'spec.podGroupTemplates FieldValueTooMany',
  ]);
  expect(paths(validateWorkload(workload(), 'v1beta1'))).toEqual(['spec.podGroupTemplates FieldValueRequired']);
  expect(paths(validateWorkload(workload(), 'v1alpha1'))).toEqual(['spec.podGroups FieldValueRequired']);
});

const composite = (name: string, children: object) => ({ name, schedulingPolicy: { basic: {} }, ...children });

test('V-02 validateWorkload() refuses a name used twice, anywhere in the tree', () => {
  expect(paths(validateWorkload(workload(template('a'), template('a')), 'v1alpha2'))).toEqual([
    'spec.podGroupTemplates[1].name FieldValueDuplicate',
  ]);
  const tree = {
    metadata,
    spec: { compositePodGroupTemplates: [composite('a', { podGroupTemplates: [template('a')] })] },
  };
  expect(paths(validateWorkload(tree, 'v1beta1'))).toEqual([
    'spec.compositePodGroupTemplates[0].podGroupTemplates[0].name FieldValueDuplicate',
  ]);
});

test('V-03 exactly one policy', () => {
  const both = { basic: {}, gang: { minCount: 1 } };
  expect(paths(validatePodGroup(group({ schedulingPolicy: both }), 'v1beta1'))).toEqual([
    'spec.schedulingPolicy FieldValueInvalid',
  ]);
  expect(paths(validatePodGroup(group({ schedulingPolicy: {} }), 'v1alpha2'))).toEqual([
    'spec.schedulingPolicy FieldValueRequired',
  ]);
  expect(paths(validateWorkload(workload(template('t', { schedulingPolicy: both })), 'v1alpha1'))).toEqual([
    'spec.podGroups[0].policy FieldValueInvalid',
  ]);
});

for (const minCount of [0, -1]) {
  test(`V-04 a gang of ${minCount} is refused`, () => {
    expect(paths(validatePodGroup(group({ schedulingPolicy: gang(minCount) }), 'v1beta1'))).toEqual([
      'spec.schedulingPolicy.gang.minCount FieldValueInvalid',
    ]);
  });
}

test('V-06 validateGroupLinks() refuses a schedulingGroup without a name', () => {
  const spec = (over: object) => ({ containers: [], ...over });
  const at = FieldPath.of('spec');
  expect(paths(validateGroupLinks(at, spec({ schedulingGroup: {} })))).toEqual([
    'spec.schedulingGroup FieldValueRequired',
  ]);
  expect(validateGroupLinks(at, spec({ schedulingGroup: { podGroupName: 'g' } }))).toEqual([]);
  expect(paths(validateGroupLinks(at, spec({ workloadRef: { name: 'w' } })))).toEqual([
    'spec.workloadRef.podGroup FieldValueRequired',
  ]);
});

test('V-07 validateGroupLinks() refuses evictionResponders on a pod with a schedulingGroup', () => {
  const evictionResponders = [{ name: 'example.com/drainer', priority: 10_000 }];
  const at = FieldPath.of('spec');
  const grouped = { containers: [], schedulingGroup: { podGroupName: 'g' }, evictionResponders };
  expect(paths(validateGroupLinks(at, grouped))).toEqual(['spec.schedulingGroup FieldValueForbidden']);
  expect(validateGroupLinks(at, { containers: [], evictionResponders })).toEqual([]);
});

test('V-09 v1beta1 wants one priority for all templates', () => {
  const mixed = workload(template('a', { priorityClassName: 'high' }), template('b', { priorityClassName: 'low' }));
  expect(paths(validateWorkload(mixed, 'v1beta1'))).toEqual([
    'spec.podGroupTemplates[1].priorityClassName FieldValueInvalid',
  ]);
  expect(validateWorkload(mixed, 'v1alpha2')).toEqual([]);
});

test('V-10 a parent needs a Workload, and a tree has at most four levels', () => {
  const orphan = group({ schedulingPolicy: gang(1), parentCompositePodGroupName: 'p' });
  expect(paths(validatePodGroup(orphan, 'v1beta1'))).toEqual(['spec.workloadRef FieldValueRequired']);
  const nest = (levels: number): object =>
    levels === 1
      ? { podGroupTemplates: [template('leaf')] }
      : { compositePodGroupTemplates: [composite(`c${levels}`, nest(levels - 1))] };
  expect(validateWorkload({ metadata, spec: nest(4) }, 'v1beta1')).toEqual([]);
  expect(validateWorkload({ metadata, spec: nest(5) }, 'v1beta1')).not.toEqual([]);
});

test('G-07 G-08 V-12 minCount changes in v1beta1 only, and the kind of policy never', () => {
  const old = group();
  expect(validatePodGroupUpdate(group({ schedulingPolicy: gang(3) }), old, 'v1beta1')).toEqual([]);
  expect(paths(validatePodGroupUpdate(group({ schedulingPolicy: gang(3) }), old, 'v1alpha2'))).toEqual([
    'spec.schedulingPolicy FieldValueInvalid',
  ]);
  expect(paths(validatePodGroupUpdate(group({ schedulingPolicy: { basic: {} } }), old, 'v1beta1'))).toEqual([
    'spec.schedulingPolicy FieldValueInvalid',
  ]);
  expect(paths(validatePodGroupUpdate(group({ ...old.spec, priority: 5 }), old, 'v1beta1'))).toEqual([
    'spec.priority FieldValueInvalid',
  ]);
});

test('validateWorkloadUpdate() keeps templates, lets v1alpha1 set controllerRef once and v1beta1 change minCount', () => {
  const old = workload(template('a'));
  const referring = { ...old, spec: { ...old.spec, controllerRef: { kind: 'Job', name: 'j' } } };
  expect(validateWorkloadUpdate(referring, old, 'v1alpha1')).toEqual([]);
  expect(paths(validateWorkloadUpdate(old, referring, 'v1alpha1'))).toEqual(['spec.controllerRef FieldValueInvalid']);
  expect(paths(validateWorkloadUpdate(referring, old, 'v1beta1'))).toEqual(['spec.controllerRef FieldValueInvalid']);
  const larger = workload(template('a', { schedulingPolicy: gang(9) }));
  expect(validateWorkloadUpdate(larger, old, 'v1beta1')).toEqual([]);
  expect(paths(validateWorkloadUpdate(larger, old, 'v1alpha2'))).toEqual(['spec.podGroupTemplates FieldValueInvalid']);
  expect(paths(validateWorkloadUpdate(workload(template('a'), template('b')), old, 'v1beta1'))).toEqual([
    'spec.podGroupTemplates FieldValueForbidden',
  ]);
});

test('extras are checked: topology, claims, disruption mode, priority', () => {
  const spec = {
    schedulingPolicy: gang(1),
    schedulingConstraints: { topology: [{ key: 'rack' }, { key: 'not a key' }] },
    resourceClaims: [{ name: 'c', resourceClaimName: 'a', resourceClaimTemplateName: 'b' }],
    disruptionMode: {},
    priority: 1_000_000_001,
    preemptionPolicy: 'Sometimes',
  };
  expect(paths(validatePodGroup(group(spec), 'v1beta1'))).toEqual([
    'spec.schedulingConstraints.topology FieldValueTooMany',
    'spec.schedulingConstraints.topology[1].key FieldValueInvalid',
    'spec.resourceClaims[0] FieldValueInvalid',
    'spec.disruptionMode FieldValueRequired',
    'spec.priority FieldValueInvalid',
    'spec.preemptionPolicy FieldValueNotSupported',
  ]);
});

test('each version spells a group in its own way', () => {
  const stored: StoredPodGroup = {
    metadata,
    spec: {
      schedulingPolicy: gang(3),
      disruptionMode: { all: {} },
      workloadRef: { workloadName: 'w', templateName: 't' },
    },
    status: {
      scheduledPods: 3,
      conditions: [
        {
          type: 'PodGroupInitiallyScheduled',
          status: 'True',
          reason: 'Scheduled',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  };
  expect(servedPodGroup(stored, 'v1beta1')).toMatchObject({
    spec: { disruptionMode: { all: {} }, workloadRef: { workloadName: 'w', templateName: 't' } },
    status: { conditions: [{ type: 'PodGroupInitiallyScheduled', reason: 'Scheduled' }] },
  });
  expect(servedPodGroup(stored, 'v1alpha2')).toMatchObject({
    spec: {
      disruptionMode: 'PodGroup',
      podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 't' } },
    },
    status: { conditions: [{ type: 'PodGroupScheduled', reason: 'Scheduled' }] },
  });
  expect(servedPodGroup(stored, 'v1alpha1')).toEqual({
    apiVersion: 'scheduling.k8s.io/v1alpha1',
    metadata,
    spec: { workloadRef: { name: 'w' }, podGroupTemplateName: 't' },
    status: {
      scheduledPods: 3,
      conditions: [expect.objectContaining({ type: 'PodGroupScheduled', reason: 'MinCountSatisfied' })],
    },
  });
});

test('both spellings of the draft are read, and written back as they came', () => {
  for (const spec of [
    { podGroups: [{ name: 'g', policy: gang(4), replicas: 2 }] },
    { podGroupTemplates: [{ name: 'g', policy: gang(4), replicas: 2 }] },
  ]) {
    const stored = storedWorkload({ metadata, spec }, 'v1alpha1');
    expect(stored.spec.podGroupTemplates).toEqual([{ name: 'g', schedulingPolicy: gang(4), replicas: 2 }]);
    expect(servedWorkload(stored, 'v1alpha1').spec).toEqual(spec);
  }
  for (const spec of [
    { workloadRef: { name: 'w', namespace: 'default' }, podGroupTemplateName: 't' },
    { workloadRef: { name: 'w' }, podGroupTemplateRef: { name: 't' } },
  ]) {
    const stored = storedPodGroup({ metadata, spec }, 'v1alpha1');
    expect(stored.spec.workloadRef).toEqual({ workloadName: 'w', templateName: 't' });
    expect(servedPodGroup(stored, 'v1alpha1').spec).toEqual(spec);
  }
});

const name = fc.constantFrom('a', 'b', 'c');
const extras = {
  disruptionMode: fc.option(fc.constantFrom({ single: {} }, { all: {} }), { nil: undefined }),
  priority: fc.option(fc.nat(100), { nil: undefined }),
  priorityClassName: fc.option(name, { nil: undefined }),
  preemptionPolicy: fc.option(fc.constant('Never'), { nil: undefined }),
  schedulingConstraints: fc.option(
    fc.constant('rack').map((key) => ({ topology: [{ key }] })),
    { nil: undefined },
  ),
};
const policy = fc.oneof(fc.constant({ basic: {} }), fc.nat(9).map(gang));
const clean = <T>(object: T): T => JSON.parse(JSON.stringify(object)) as T;
const anyGroup = fc
  .record({
    ...extras,
    schedulingPolicy: policy,
    workloadRef: fc.option(fc.record({ workloadName: name, templateName: name }), { nil: undefined }),
    parentCompositePodGroupName: fc.option(name, { nil: undefined }),
  })
  .map((spec) => clean<StoredPodGroup>({ metadata, spec, status: { scheduledPods: 2 } }));
const anyWorkload = fc
  .uniqueArray(
    fc.record({ ...extras, name, schedulingPolicy: policy, replicas: fc.option(fc.nat(5), { nil: undefined }) }),
    {
      minLength: 1,
      selector: (each) => each.name,
    },
  )
  .map((podGroupTemplates) => clean<StoredWorkload>({ metadata, spec: { podGroupTemplates } }));

for (const version of SCHEDULING_VERSIONS) {
  test(`reading, then writing back in ${version} loses nothing`, () => {
    fc.assert(
      fc.property(anyGroup, anyWorkload, (storedGroup, stored) => {
        const backGroup = storedPodGroup(deepClone(servedPodGroup(storedGroup, version)), version);
        carryPodGroup(backGroup, storedGroup, version);
        expect({ ...backGroup, apiVersion: undefined }).toEqual({ ...storedGroup, apiVersion: undefined });
        const back = storedWorkload(deepClone(servedWorkload(stored, version)), version);
        carryWorkload(back, stored, version);
        expect(back.spec).toEqual(stored.spec);
      }),
    );
  });
}
