/** Objects in JSON and protobuf with very much of something. */
import type { Attack } from '../harness/index.ts';
import * as bodies from './bodies.ts';
import { CONFIG_MAPS, configMap, MEGABYTE, PODS, pod, times } from './bodies.ts';
import { one, post } from './request.ts';

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

export const objects: readonly Attack[] = [
  one('JSON: deep nesting', () => post(CONFIG_MAPS, deep(10_000))),
  one('JSON: a pod of 900,000 empty containers', () =>
    post(PODS, JSON.stringify(pod('empty', { containers: times(900_000, () => ({})) }))),
  ),
  one('JSON: a pod of 500,000 null containers', () =>
    post(PODS, JSON.stringify(pod('nulls', { containers: times(500_000, () => null) }))),
  ),
  one('JSON: 150,000 unknown fields', () =>
    post(
      CONFIG_MAPS,
      JSON.stringify({
        metadata: { generateName: 'u-' },
        ...Object.fromEntries(times(150_000, (at) => [`u${at}`, 1])),
      }),
    ),
  ),
  one('JSON: 300,000 duplicate keys', () =>
    post(CONFIG_MAPS, `{"metadata":{"generateName":"d-"},${'"data":{},'.repeat(300_000)}"data":{}}`),
  ),
  one('JSON: duplicate keys far down under long names', () =>
    post(CONFIG_MAPS, `{"${'k'.repeat(100_000)}":{${times(100_000, (at) => `"u${at}":1`).join(',')},"u1":2}}`),
  ),
  one('JSON: a key of 2 MB', () =>
    post(CONFIG_MAPS, JSON.stringify({ metadata: { name: 'x' }, ['k'.repeat(2 * MEGABYTE)]: 1 })),
  ),
  one('JSON: a number of 2 MB', () =>
    post(CONFIG_MAPS, `{"metadata":{"name":"n"},"data":${'9'.repeat(2 * MEGABYTE)}}`),
  ),
  one('JSON: a quantity of 1 MB', () =>
    post(
      PODS,
      JSON.stringify(
        pod('q', { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '9'.repeat(MEGABYTE) } } }] }),
      ),
    ),
  ),
  one('JSON: a string of 2 MB of quotes', () =>
    post(CONFIG_MAPS, JSON.stringify({ data: { a: '"'.repeat(MEGABYTE) } })),
  ),
  one('JSON: a config map of 50,000 entries', () =>
    post(CONFIG_MAPS, JSON.stringify({ ...configMap('x', 50_000), metadata: { generateName: 'e-' } })),
  ),
  one('JSON: 100,000 labels', () =>
    post(
      CONFIG_MAPS,
      JSON.stringify({
        metadata: { generateName: 'l-', labels: Object.fromEntries(times(100_000, (at) => [`l${at}`, 'v'])) },
      }),
    ),
  ),
  one('JSON: 60,000 finalizers', () =>
    post(
      CONFIG_MAPS,
      JSON.stringify({ metadata: { generateName: 'f-', finalizers: times(60_000, (at) => `e.x/${at}`) } }),
    ),
  ),
  one('JSON: a budget whose selector has 100,000 values', () =>
    post(
      '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
      JSON.stringify({
        metadata: { generateName: 'b-' },
        spec: {
          minAvailable: 1,
          selector: { matchExpressions: [{ key: 'a', operator: 'In', values: times(100_000, (at) => `v${at}`) }] },
        },
      }),
    ),
  ),
  one('JSON: a pod of 20,000 volumes and environment variables', () =>
    post(
      PODS,
      JSON.stringify(
        pod('many', {
          containers: [{ name: 'c', image: 'i', env: times(20_000, (at) => ({ name: `E${at}`, value: 'v' })) }],
          volumes: times(20_000, (at) => ({ name: `v${at}`, emptyDir: {} })),
        }),
      ),
    ),
  ),
  one('protobuf: a pod of 500,000 empty containers', () =>
    post(PODS, bodies.podOfEmptyContainers('proto', 500_000), bodies.PROTOBUF),
  ),
];

const owners = (count: number): object[] =>
  times(count, (at) => ({ apiVersion: 'unknown.example.com/v1', kind: 'Unknown', name: `o${at}`, uid: `0000-${at}` }));

export const ownerReferences: readonly Attack[] = [
  one('owners: 1,000 of an unknown kind', () =>
    post(CONFIG_MAPS, JSON.stringify({ metadata: { name: 'owned', ownerReferences: owners(1000) } })),
  ),
  {
    name: '17.11 owners: 1,000 of an unknown kind, after a restart',
    prepare: (server) => server.restart(),
    run: async () => 'started',
  },
  one('owners: 12,000 in one object', () =>
    post(CONFIG_MAPS, JSON.stringify({ metadata: { name: 'many-owners', ownerReferences: owners(12_000) } })),
  ),
];
