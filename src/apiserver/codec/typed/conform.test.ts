import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadSchema, type StructSchema } from '../../../api/schema/index.ts';
import { deepClone, type JsonObject } from '../../../machinery/values/index.ts';
import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError } from '../decode-error.ts';
import { conform } from './conform.ts';

const struct = (group: string, version: string, kind: string): StructSchema => {
  const found = loadSchema().kind({ group, version, kind });
  if (found === undefined) throw new Error(`no such kind: ${kind}`);
  return found;
};
const pod = struct('', 'v1', 'Pod');
const deployment = struct('apps', 'v1', 'Deployment');

test('conform() drops unknown fields and names them as Kubernetes does', () => {
  const object: JsonObject = {
    bogus: 1,
    metadata: { name: 'p', labls: {} },
    spec: { containers: [{ name: 'a' }, { name: 'b', imag: 'x', ports: [{ containerPort: 1, foo: 2 }] }] },
  };
  expect(conform(object, pod)).toEqual([
    'bogus',
    'metadata.labls',
    'spec.containers[1].imag',
    'spec.containers[1].ports[0].foo',
  ]);
  expect(object).toEqual({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a' }, { name: 'b', ports: [{ containerPort: 1 }] }] },
  });
});

test('conform() leaves out what Go leaves out: nulls and empty optional values, but not pointers', () => {
  const object: JsonObject = {
    metadata: { creationTimestamp: null, labels: {}, finalizers: [] },
    spec: { replicas: 0, paused: false, minReadySeconds: 0, selector: {}, template: { spec: { containers: [] } } },
    status: {},
  };
  expect(conform(object, deployment)).toEqual([]);
  expect(object).toEqual({
    metadata: {},
    spec: { replicas: 0, selector: {}, template: { spec: { containers: [] } } },
    status: {},
  });
});

test('conform() writes quantities and times the canonical way', () => {
  const object: JsonObject = {
    metadata: { creationTimestamp: '2026-01-01T02:00:00+02:00' },
    spec: { containers: [{ name: 'a', resources: { requests: { cpu: 1, memory: '1024Mi', x: '1000m' } } }] },
  };
  conform(object, pod);
  expect(object).toMatchObject({
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { containers: [{ resources: { requests: { cpu: '1', memory: '1Gi', x: '1' } } }] },
  });
});

test.each<[JsonObject, string]>([
  [
    { spec: { replicas: 'three' } },
    'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    { spec: { replicas: 1.5 } },
    'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [{ spec: { replicas: 2 ** 40 } }, 'of type int32'],
  [{ spec: [] }, 'json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec'],
  [
    { metadata: { labels: { a: 1 } } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    { metadata: { finalizers: 'x' } },
    'json: cannot unmarshal string into Go struct field ObjectMeta.metadata.finalizers of type []string',
  ],
  [{ metadata: { creationTimestamp: 'yesterday' } }, 'parsing time "yesterday"'],
  [{ spec: { template: { spec: { overhead: { cpu: 'lots' } } } } }, 'quantities must match the regular expression'],
])('conform() refuses %j', (object, message) => {
  expect(() => conform(object, deployment)).toThrow(message);
});

test('conform() twice is the same as once, on whatever a client sends', () => {
  const key = fc.constantFrom(
    'metadata',
    'spec',
    'status',
    'labels',
    'containers',
    'name',
    'image',
    'resources',
    'limits',
    'cpu',
    'volumes',
    'emptyDir',
    'ports',
    'x',
    '__proto__',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<unknown>('a', '', 1, 0, null, true, false, '1Gi', '2026-01-01T00:00:00Z'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, value, { noNullPrototype: true }), (object) => {
      try {
        conform(object, pod);
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
        return;
      }
      const once = deepClone(object);
      expect(conform(object, pod)).toEqual([]);
      expect(object).toEqual(once);
    }),
    { numRuns: 1000 },
  );
});

test('17.11: conform() names a hundred unknown fields of very many', () => {
  const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`u${at}`, 1]));
  const object: JsonObject = { metadata: { name: 'p', ...unknown } };
  expect(conform(object, pod)).toEqual(Array.from({ length: LIMITS.fieldProblems }, (_, at) => `metadata.u${at}`));
  expect(object).toEqual({ metadata: { name: 'p' } });
});

test('17.11: conform() refuses more objects in a list than one may have', () => {
  const containers = Array.from({ length: LIMITS.listedObjects + 1 }, () => ({}));
  const message = /limit is 10000 objects in one list, which spec\.containers exceeds/;
  expect(() => conform({ spec: { containers } }, pod)).toThrow(message);
});
