import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Codec } from '../codec-seam.ts';
import type { ResourceRow } from '../registry/row.ts';
import { createCodec } from './codec.ts';
import { memberObject, memberString } from './json/scan.ts';

const row: ResourceRow = {
  group: '',
  kind: 'Pod',
  listKind: 'PodList',
  plural: 'pods',
  singular: 'pod',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: [],
  versions: [{ name: 'v1' }],
  stored: { group: '', version: 'v1' },
  prefix: '/pods/',
  strategy: {},
  subresources: new Map(),
  custom: false,
};

/** What a body is decoded to, or why not. */
function outcome(codec: Codec, body: string | Buffer): unknown {
  const expected = { apiVersion: 'v1', kind: 'Pod' };
  try {
    return codec.decode({ bytes: Buffer.from(body), mediaType: 'application/json', expected, row });
  } catch (error) {
    return (error as Error).message;
  }
}

const long = 'x'.repeat(300);
const heads = [
  '{"kind":"Pod","metadata":{"name":"a"},"spec":',
  '{"kind":"Pod","metadata":{"name":"b","labels":{"spec":"{"}},"spec":',
  '{"kind":"Pod","metadata":{"name":"\\"spec\\":"},"spec":',
  '{"kind":"Pod","metadata":{"name":"c"}, "spec" : ',
  '{"kind":"Pod","metadata":{"name":"d","nothing":1},"spec":',
  '{"kind":"Pod","spec":{"nodeName":"first"},"metadata":{"name":"e"},"spec":',
  '{"kind":"Pod","metadata":{"name":"f"},"status":',
  '{"kind":"Pod","metadata":{"spec":',
  '{"kind":"Pod","metadata":{"name":"spec":',
  '{"kind":"Node","metadata":{"name":"g"},"spec":',
  '{"apiVersion":"v2","metadata":{"name":"h"},"spec":',
  '[{"spec":',
  '{"metadata":{"name":"i","annotations":{"note":"',
  '{"metadata":{"name":7},"spec":',
  '{"metadata":{"name":"é","annotations":{"note":"日本"}},"spec":',
];
const specs = [
  `{"nodeName":"${long}","containers":[{"name":"main","image":"x"}]}`,
  `{"nodeName":"${long}","containers":[{"name":"main","image":"y","command":["}","{"]}]}`,
  `{"nodeName":"${long}","nothing":1}`,
  `{"nodeName":"${long}","nodeName":"twice"}`,
  `{"nodeName":7,"hostname":"${long}"}`,
  `{"nodeName":"${long}","hostname":"ünlike"}`,
];
const rests = ['}', ',"status":{"phase":"Pending"}}', '\n}\n', '}}', ''];

test('bodies with the same spec are decoded as if each were the first', () => {
  const body = fc
    .tuple(fc.constantFrom(...heads), fc.constantFrom(...specs), fc.constantFrom(...rests))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.tuple(body, fc.constantFrom(...heads)), { minLength: 1, maxLength: 4 }), (series) => {
      const codec = createCodec();
      for (const [first, head] of series) {
        // Replicas of the first, and one that ends alike but may be something else.
        const tail = first.slice(heads.find((one) => first.startsWith(one))?.length);
        const named = ['z', 'y', '', 'x-1.', 'é', '\\u0041', '\\', '"', 'A', '\n', '', 'w'].map((name) =>
          first.replace('"name":"', `"name":"${name}`),
        );
        for (const text of [first, ...named, first, `${head}${tail}`, ...named]) {
          expect(outcome(codec, text)).toEqual(outcome(createCodec(), text));
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('replicas keep the order of their fields, and an empty name is none', () => {
  const codec = createCodec();
  const body = (name: string) => `{"metadata":{"labels":{"a":"b"},"name":"${name}","uid":"u"},"spec":${specs[0]}}`;
  for (const name of ['a', 'b', 'c', 'd', '', 'e']) {
    const text = body(name);
    expect(JSON.stringify(outcome(codec, text))).toBe(JSON.stringify(outcome(createCodec(), text)));
  }
});

test('a body that leaves its version to the URL is not taken for one of another version', () => {
  const codec = createCodec();
  const decode = (apiVersion: string, name: string) => {
    const bytes = Buffer.from(`{"metadata":{"name":"${name}"},"spec":{"maxReplicas":3}}`);
    const expected = { apiVersion, kind: 'HorizontalPodAutoscaler' };
    return codec.decode({ bytes, mediaType: 'application/json', expected, row }).object.apiVersion;
  };
  for (const name of ['a', 'b', 'c', 'd']) decode('autoscaling/v1', name);
  expect(decode('autoscaling/v2', 'e')).toBe('autoscaling/v2');
  expect(decode('autoscaling/v1', 'f')).toBe('autoscaling/v1');
});

test('what one caller does to a spec is not seen by the next', () => {
  const codec = createCodec();
  const decode = (name: string) =>
    outcome(codec, `{"metadata":{"name":"${name}"},"spec":${specs[0]}}`) as {
      object: { spec: { containers: { image: string }[] } };
    };
  for (const name of ['a', 'b', 'c', 'd']) {
    const { spec } = decode(name).object;
    expect(spec.containers).toEqual([{ name: 'main', image: 'x' }]);
    (spec.containers[0] as { image: string }).image = name;
  }
});

test('bytes that are no characters become the same as in the first body', () => {
  const codec = createCodec();
  const tail = Buffer.from(`"},"spec":${specs[0]}}`);
  for (const name of ['a', 'b', 'c']) {
    // The beginning of a character of three bytes, without its end.
    const body = Buffer.concat([Buffer.from(`{"metadata":{"name":"${name}`), Buffer.from([0xe6, 0x97]), tail]);
    expect(outcome(codec, body)).toEqual(outcome(createCodec(), body));
  }
});

test.each([
  ['{"name":"a"}', 'a'],
  ['{"b":{"name":"c"},"name" : "d"}', 'd'],
  ['{"name":{"name":"e"}}', undefined],
  ['{"name":7}', undefined],
  ['{"name":"', undefined],
])('memberString() of %s', (text, want) => {
  const place = memberString(text, 'name');
  expect(place && text.slice(place.from, place.to)).toBe(want);
});

test.each([
  ['{"spec":{"a":1}}', '{"a":1}'],
  ['{ "a" : {"spec":{}}, "spec" : {"b":"}"} , "c":1}', '{"b":"}"}'],
  ['{"a":"\\"spec\\":{}","spec":{"c":[{}]}}', '{"c":[{}]}'],
  ['{"spec":[{}]}', undefined],
  ['{"spec":7}', undefined],
  ['{"a":{"spec":{}}}', undefined],
  ['{"spec":{', undefined],
  ['{"spec":', undefined],
  ['{"spec"', undefined],
  ['', undefined],
])('memberObject() of %s', (text, want) => {
  const place = memberObject(text, 'spec');
  expect(place && text.slice(place.from, place.to)).toBe(want);
});
