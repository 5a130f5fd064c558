import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../../../api/generated/meta-v1.ts';
import { freeFormNode, loadSchema, nodeOfKind, type ObjectNode } from '../../../api/schema/index.ts';
import { deepClone, type JsonObject } from '../../../machinery/values/index.ts';
import { PatchError } from '../patch-error.ts';
import { type ApplyRequest, applyServerSide } from './apply.ts';
import { conflictCauses, conflictMessage } from './conflicts.ts';
import { setOfPaths } from './field-set.ts';
import { trackUpdate } from './track-update.ts';

const found = nodeOfKind(loadSchema(), { group: 'apps', version: 'v1', kind: 'Deployment' });
if (found === undefined) throw new Error('Deployment must be known');
const node: ObjectNode = found;

const T1 = '2026-01-01T00:00:01Z';
const T2 = '2026-01-01T00:00:02Z';
const deployment = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace: 'n', ...metadata },
  spec,
});

const apply = (live: JsonObject | undefined, config: JsonObject, over: Partial<ApplyRequest> = {}) =>
  applyServerSide({
    live,
    config,
    node,
    manager: 'm1',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    force: false,
    now: T1,
    ...over,
  });

/** Applies, expecting no conflict, and returns the object as it would be stored. */
const stored = (live: JsonObject | undefined, config: JsonObject, over: Partial<ApplyRequest> = {}): JsonObject => {
  const outcome = apply(live, config, over);
  if (!outcome.applied) throw new Error(conflictMessage(outcome.conflicts));
  const metadata = { ...(outcome.object.metadata as JsonObject), managedFields: outcome.managedFields };
  return { ...outcome.object, metadata };
};

const managersOf = (object: JsonObject): ManagedFieldsEntry[] =>
  ((object.metadata as JsonObject).managedFields ?? []) as ManagedFieldsEntry[];
const fieldsOf = (object: JsonObject, manager: string): unknown =>
  managersOf(object).find((entry) => entry.manager === manager)?.fieldsV1;

test('apply creates and owns exactly what the configuration says', () => {
  const object = stored(
    undefined,
    deployment({ replicas: 3, template: { spec: { containers: [{ name: 'c', image: 'i' }] } } }),
  );
  expect(managersOf(object)).toEqual([
    {
      manager: 'm1',
      operation: 'Apply',
      apiVersion: 'apps/v1',
      time: T1,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:spec': {
          'f:replicas': {},
          'f:template': {
            'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:image': {} } } },
          },
        },
      },
    },
  ]);
});

test('apply by another with a different value is a conflict with kubectl-readable causes', () => {
  const live = stored(undefined, deployment({ replicas: 3 }));
  const outcome = apply(live, deployment({ replicas: 5 }), { manager: 'm2' });
  if (outcome.applied) throw new Error('must conflict');
  expect(conflictMessage(outcome.conflicts)).toBe('Apply failed with 1 conflict: conflict with "m1": .spec.replicas');
  expect(conflictCauses(outcome.conflicts)).toEqual([
    { reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.spec.replicas' },
  ]);
});

test('a conflict with an updater names version and subresource', () => {
  const before = deployment({ replicas: 1 });
  const after = deployment({ replicas: 2 });
  const first = trackUpdate({ before: undefined, after: before, node, manager: 'a', apiVersion: 'apps/v1', now: T1 });
  const live: JsonObject = { ...before, metadata: { ...(before.metadata as JsonObject), managedFields: first } };
  const managedFields = trackUpdate({
    before: live,
    after,
    node,
    manager: 'hpa',
    apiVersion: 'apps/v1',
    subresource: 'scale',
    now: T2,
  });
  const scaled = { ...after, metadata: { ...(after.metadata as JsonObject), managedFields } };
  const outcome = apply(scaled, deployment({ replicas: 9, paused: true, minReadySeconds: 4 }), { manager: 'm2' });
  if (outcome.applied) throw new Error('must conflict');
  expect(conflictMessage(outcome.conflicts)).toBe(
    'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas',
  );
});

test('several conflicts are listed by manager', () => {
  const live = stored(undefined, deployment({ replicas: 3, paused: true }));
  const outcome = apply(live, deployment({ replicas: 5, paused: false }), { manager: 'm2' });
  if (outcome.applied) throw new Error('must conflict');
  expect(conflictMessage(outcome.conflicts)).toBe(
    'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.paused\n- .spec.replicas',
  );
});

test('force takes the field from its owner', () => {
  const live = stored(undefined, deployment({ replicas: 3, paused: true }));
  const object = stored(live, deployment({ replicas: 5 }), { manager: 'm2', force: true, now: T2 });
  expect((object.spec as JsonObject).replicas).toBe(5);
  expect(fieldsOf(object, 'm1')).toEqual({ 'f:spec': { 'f:paused': {} } });
  expect(fieldsOf(object, 'm2')).toEqual({ 'f:spec': { 'f:replicas': {} } });
});

test('the same value is shared, and stays while one of its owners applies it', () => {
  let object = stored(undefined, deployment({ replicas: 3 }));
  object = stored(object, deployment({ replicas: 3 }), { manager: 'm2' });
  object = stored(object, deployment({}), { manager: 'm1' });
  expect((object.spec as JsonObject).replicas).toBe(3);
  expect(fieldsOf(object, 'm1')).toEqual({ 'f:spec': {} });
  object = stored(object, deployment({}), { manager: 'm2' });
  expect(object.spec).not.toHaveProperty('replicas');
});

test('an omitted list item is removed, others of the list stay', () => {
  const config = (...names: string[]) =>
    deployment({ template: { spec: { containers: names.map((name) => ({ name, image: 'i' })) } } });
  let object = stored(undefined, config('a', 'b'));
  object = stored(object, config('c'), { manager: 'm2' });
  object = stored(object, config('b'));
  const { containers } = ((object.spec as JsonObject).template as JsonObject).spec as {
    containers: { name: string }[];
  };
  expect(containers.map(({ name }) => name)).toEqual(['b', 'c']);
});

test('what an updater set inside an applied map survives the applier leaving', () => {
  const live = stored(undefined, deployment({ replicas: 1 }, { labels: { a: '1' } }));
  const labelled = deepClone(live);
  ((labelled.metadata as JsonObject).labels as JsonObject).b = '2';
  (labelled.metadata as JsonObject).managedFields = trackUpdate({
    before: live,
    after: labelled,
    node,
    manager: 'edit',
    apiVersion: 'apps/v1',
    now: T2,
  });
  const object = stored(labelled, deployment({ replicas: 1 }));
  expect((object.metadata as JsonObject).labels).toEqual({ b: '2' });
});

test('the first apply over an untracked object credits it to before-first-apply', () => {
  const outcome = apply(deployment({ replicas: 3, paused: true }), deployment({ replicas: 4 }));
  if (outcome.applied) throw new Error('must conflict');
  expect(conflictMessage(outcome.conflicts)).toBe(
    'Apply failed with 1 conflict: conflict with "before-first-apply" using apps/v1: .spec.replicas',
  );
});

test('kubectl takes over what it last applied from the client side without a conflict', () => {
  const config = deployment({ replicas: 3 });
  const annotation = JSON.stringify(config);
  const before = deployment(
    { replicas: 3 },
    { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': annotation } },
  );
  const managedFields = trackUpdate({
    before: undefined,
    after: before,
    node,
    manager: 'kubectl-client-side-apply',
    apiVersion: 'apps/v1',
    now: T1,
  });
  const live = { ...before, metadata: { ...(before.metadata as JsonObject), managedFields } };
  const object = stored(live, deployment({ replicas: 5 }), { manager: 'kubectl', now: T2 });
  const annotations = (object.metadata as JsonObject).annotations as Record<string, string>;
  expect((object.spec as JsonObject).replicas).toBe(5);
  expect(JSON.parse(annotations['kubectl.kubernetes.io/last-applied-configuration'] ?? '')).toMatchObject({
    spec: { replicas: 5 },
  });
});

test.each([
  ['an undeclared field', { replicas: 1, bogus: 2 }, '.spec.bogus: field not declared in schema'],
  ['a wrong scalar', { replicas: 'x' }, '.spec.replicas: expected numeric (int or float), got string'],
  [
    'a repeated list key',
    { template: { spec: { containers: [{ name: 'a' }, { name: 'a' }] } } },
    '.spec.template.spec.containers: duplicate entries for key [name="a"]',
  ],
])('apply refuses %s', (_, spec, text) => {
  expect(() => apply(undefined, deployment(spec))).toThrow(
    `failed to create typed patch object (n/d; apps/v1, Kind=Deployment): ${text}`,
  );
});

test('apply refuses managedFields in the configuration and another version', () => {
  expect(() => apply(undefined, deployment({}, { managedFields: [] }))).toThrow('metadata.managedFields must be nil');
  expect(() => apply(undefined, { ...deployment({}), apiVersion: 'apps/v2' })).toThrow(PatchError);
});

test('fields an endpoint resets are neither owned nor fought over', () => {
  const resetFields = setOfPaths([['status']]);
  const object = stored(undefined, { ...deployment({ replicas: 1 }), status: { replicas: 7 } }, { resetFields });
  expect(fieldsOf(object, 'm1')).toEqual({ 'f:spec': { 'f:replicas': {} } });
});

test('custom resources without a schema own maps by key and lists whole', () => {
  const config = {
    apiVersion: 'x.io/v1',
    kind: 'X',
    metadata: { name: 'x' },
    spec: { a: { b: 1 }, l: [{ name: 'i' }] },
  };
  const object = stored(undefined, config, { node: freeFormNode, apiVersion: 'x.io/v1', kind: 'X' });
  expect(fieldsOf(object, 'm1')).toEqual({
    'f:spec': { '.': {}, 'f:a': { '.': {}, 'f:b': {} }, 'f:l': {} },
  });
});

test('a map of open type that becomes a scalar takes its parts from their owners', () => {
  const config = (a: unknown) => ({ apiVersion: 'x.io/v1', kind: 'X', metadata: { name: 'x' }, spec: { a } });
  const over = { node: freeFormNode, apiVersion: 'x.io/v1', kind: 'X' };
  const first = stored(undefined, config({ b: 1 }), over);
  const second = stored(first, config(2), { ...over, manager: 'm2', force: true });
  expect(fieldsOf(second, 'm1')).toEqual({ 'f:spec': {} });
  expect(fieldsOf(second, 'm2')).toEqual({ 'f:spec': { '.': {}, 'f:a': {} } });
});

test('sets are written in the order of their keys, the node itself first', () => {
  const containers = [{ name: 'c', image: 'i' }];
  const object = stored(undefined, deployment({ template: { spec: { containers } }, replicas: 1 }));
  expect(JSON.stringify(fieldsOf(object, 'm1'))).toBe(
    '{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{}}}}}}}',
  );
});

test('list keys use schema defaults: a port without protocol is a TCP port', () => {
  const ports = (list: JsonObject[]) =>
    deployment({ template: { spec: { containers: [{ name: 'c', ports: list }] } } });
  const object = stored(undefined, ports([{ containerPort: 80 }]));
  expect(JSON.stringify(fieldsOf(object, 'm1'))).toContain('{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}');
});

const configs = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 3 }),
    paused: fc.boolean(),
    selector: fc.record({ matchLabels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2')) }),
    template: fc.record({
      metadata: fc.record({ labels: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2')) }),
      spec: fc.record({
        containers: fc.uniqueArray(
          fc.record({ name: fc.constantFrom('a', 'b', 'c'), image: fc.constantFrom('x', 'y') }),
          { selector: ({ name }) => name, minLength: 1 },
        ),
      }),
    }),
  },
  { requiredKeys: [] },
);

test('applying the same again changes nothing, whatever others did before', () => {
  fc.assert(
    fc.property(configs, configs, configs, (first, second, third) => {
      let object = stored(undefined, deployment(first));
      object = stored(object, deployment(second), { manager: 'm2', force: true });
      object = stored(object, deployment(third), { force: true });
      const input = deepClone(object);
      const again = stored(object, deployment(third), { now: T2 });
      expect(again).toEqual(object);
      expect(object).toEqual(input);
    }),
    { numRuns: 300 },
  );
});

test('what a manager applies is what the object then says', () => {
  fc.assert(
    fc.property(configs, configs, (first, second) => {
      const object = stored(stored(undefined, deployment(first)), deployment(second), { manager: 'm2', force: true });
      expect(object.spec).toMatchObject(JSON.parse(JSON.stringify(second, dropContainers)));
    }),
    { numRuns: 300 },
  );
});

/** Container lists are compared by the test above; their order mixes both managers'. */
function dropContainers(key: string, value: unknown): unknown {
  return key === 'containers' ? undefined : value;
}
