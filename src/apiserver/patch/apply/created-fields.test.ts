import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadSchema, nodeOfKind, type ObjectNode } from '../../../api/schema/index.ts';
import type { JsonObject } from '../../../machinery/values/index.ts';
import { createdFields } from './created-fields.ts';
import { trackUpdate } from './track-update.ts';

const nodeNamed = (group: string, kind: string): ObjectNode => {
  const node = nodeOfKind(loadSchema(), { group, version: 'v1', kind });
  if (node === undefined) throw new Error(`${kind} must be known`);
  return node;
};

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const labels = maybe(fc.dictionary(fc.constantFrom('a', 'b', '__proto__x'), fc.constantFrom('', '1')));
const container = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  image: maybe(fc.constantFrom('', 'i')),
  args: maybe(fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 })),
  resources: maybe(fc.record({ limits: maybe(fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constant('1'))) })),
  ports: maybe(
    fc.array(
      fc.record({ containerPort: fc.integer({ min: 1, max: 2 }), protocol: maybe(fc.constantFrom('TCP', 'UDP')) }),
      {
        maxLength: 2,
      },
    ),
  ),
  env: maybe(fc.array(fc.record({ name: fc.constantFrom('E', 'F'), value: maybe(fc.constant('')) }), { maxLength: 3 })),
});
const pod = fc.record({
  metadata: fc.record({
    name: fc.constant('p'),
    labels,
    finalizers: maybe(fc.array(fc.constantFrom('x', 'y'), { maxLength: 3 })),
  }),
  spec: maybe(
    fc.record({
      containers: maybe(fc.array(container, { maxLength: 3 })),
      nodeName: maybe(fc.constantFrom('', 'n')),
      hostNetwork: maybe(fc.boolean()),
      securityContext: maybe(fc.constantFrom({}, null, { runAsUser: 0 })),
      tolerations: maybe(fc.array(fc.record({ key: fc.constant('k') }), { maxLength: 2 })),
    }),
  ),
  status: maybe(fc.constantFrom({}, { phase: 'Pending' })),
});

/** What the general way of tracking finds for the same create. */
function tracked(object: JsonObject, node: ObjectNode): string | undefined {
  const [entry] = trackUpdate({ before: undefined, after: object, node, manager: 'm', apiVersion: 'v1', now: '' });
  return entry === undefined ? undefined : JSON.stringify(entry.fieldsV1);
}

test('createdFields() writes down what the general way of tracking finds', () => {
  const node = nodeNamed('', 'Pod');
  fc.assert(
    fc.property(pod, (value) => {
      const object = JSON.parse(JSON.stringify(value)) as JsonObject;
      expect(createdFields(object, node, false)).toBe(tracked(object, node));
      // Another of the same shape, which is known by now.
      expect(createdFields(structuredClone(object), node, false)).toBe(tracked(object, node));
    }),
    { numRuns: 500 },
  );
});

test('createdFields() of objects with parts in common tells those apart that own something else', () => {
  const node = nodeNamed('', 'Pod');
  const parts = fc.constantFrom('metadata', 'spec', 'status', 'labels', 'finalizers');
  fc.assert(
    fc.property(pod, fc.array(parts, { maxLength: 2 }), fc.boolean(), (value, dropped, status) => {
      const first = JSON.parse(JSON.stringify(value)) as JsonObject;
      const second: JsonObject = { ...first, metadata: { ...(first.metadata as JsonObject), name: 'q', uid: 'u' } };
      for (const part of dropped) for (const one of [second, (second.metadata ?? {}) as JsonObject]) delete one[part];
      for (const object of [first, second, first]) {
        const shown = status ? { ...object, status: undefined } : object;
        expect(createdFields(object, node, status)).toBe(
          tracked(JSON.parse(JSON.stringify(shown)) as JsonObject, node),
        );
      }
    }),
    { numRuns: 500 },
  );
});

test('createdFields() walks free data by its values', () => {
  const node = nodeNamed('apps', 'ControllerRevision');
  const object = {
    metadata: { name: 'r' },
    revision: 0,
    data: { spec: { b: 1, a: null, list: [{ x: 1 }], empty: {} } },
  };
  expect(createdFields(object, node, false)).toBe(tracked(object, node));
});

test('createdFields() leaves out a status that is written elsewhere', () => {
  const object = { metadata: { name: 'p' }, status: { phase: 'Pending' } };
  expect(createdFields(object, nodeNamed('', 'Pod'), true)).toBeUndefined();
});

test('createdFields() does not take names every object inherits for fields that are there', () => {
  const node = nodeNamed('', 'ConfigMap');
  for (const data of ['{"x":"1"}', '{"constructor":"1"}', '{"__proto__":"1"}', '{"toString":"1"}', '{"x":"2"}']) {
    const object = JSON.parse(`{"metadata":{"name":"c"},"data":${data}}`) as JsonObject;
    expect(createdFields(object, node, false)).toBe(tracked(object, node));
  }
});
