/** Issue 17, point 11: inputs whose cost once had no bound. */
import { type Answer, type Attack, type AttackedServer, send, type Sent } from '../harness/index.ts';
import * as bodies from './bodies.ts';
import { CONFIG_MAPS, configMap, DEFINITIONS, definition, MEGABYTE, PODS, pod, times } from './bodies.ts';

/** The status and the beginning of what the server says. */
function brief({ status, text }: Answer): string {
  const message = /"message":"((?:[^"\\]|\\.){0,90})/.exec(text)?.[1];
  return message === undefined || message === '' ? String(status) : `${status} ${message}`;
}

const ask = async (server: AttackedServer, request: Sent): Promise<string> => brief(await send(server.access, request));

const post = (path: string, body: string | Uint8Array, headers?: Record<string, string>): Sent => ({
  method: 'POST',
  path,
  body,
  ...(headers && { headers }),
});
const patch = (path: string, body: string, headers: Record<string, string>): Sent => ({
  method: 'PATCH',
  path,
  body,
  headers,
});

/** One request. */
const one = (name: string, request: () => Sent): Attack => ({
  name: `17.11 ${name}`,
  run: (server) => ask(server, request()),
});

/** One request to an object that is made before. */
const onMade = (name: string, made: () => Sent, request: () => Sent): Attack => ({
  name: `17.11 ${name}`,
  async prepare(server) {
    const { status, text } = await send(server.access, made());
    if (status >= 300 && status !== 409) throw new Error(`Cannot prepare ${name}: ${status} ${text.slice(0, 300)}`);
  },
  run: (server) => ask(server, request()),
});

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const billionLaughs = (levels: number, width: number): string =>
  [
    `l0: &l0 [${times(width, () => 'x').join(',')}]`,
    ...times(levels, (at) => `l${at + 1}: &l${at + 1} [${times(width, () => `*l${at}`).join(',')}]`),
  ].join('\n');
const list = (items: object): object => ({ type: 'array', items });
const cube = 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))';

const jsonPatches: readonly Attack[] = [
  onMade(
    'JSON patch: 400 moves of a map of 20,000',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('moves', 20_000))),
    () => {
      const there = { op: 'move', from: '/data', path: '/binaryData' };
      const back = { op: 'move', from: '/binaryData', path: '/data' };
      return patch(
        `${CONFIG_MAPS}/moves`,
        JSON.stringify(times(400, (at) => (at % 2 ? back : there))),
        bodies.JSON_PATCH,
      );
    },
  ),
  onMade(
    'JSON patch: 10,000 insertions before a list of 500,000',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('inserts'))),
    () => {
      const first = { op: 'add', path: '/data', value: times(500_000, () => 0) };
      const rest = times(9999, () => ({ op: 'add', path: '/data/0', value: 0 }));
      return patch(`${CONFIG_MAPS}/inserts`, JSON.stringify([first, ...rest]), bodies.JSON_PATCH);
    },
  ),
  onMade(
    'JSON patch: 5,000 tests of a map of 20,000 against a copy of itself',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('tests', 20_000))),
    () => {
      const value = (configMap('tests', 20_000) as { data: object }).data;
      const tests = times(6, () => ({ op: 'test', path: '/data', value }));
      return patch(`${CONFIG_MAPS}/tests`, JSON.stringify(tests), bodies.JSON_PATCH);
    },
  ),
  onMade(
    'JSON patch: 10,000 copies of a map of 20,000',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('copies', 20_000))),
    () => {
      const copies = times(10_000, () => ({ op: 'copy', from: '/data', path: '/binaryData' }));
      return patch(`${CONFIG_MAPS}/copies`, JSON.stringify(copies), bodies.JSON_PATCH);
    },
  ),
];

const yaml: readonly Attack[] = [
  one('YAML: a list of 2 MB, an item a line', () =>
    post(CONFIG_MAPS, 'data:\n' + '- a\n'.repeat(500_000), bodies.YAML),
  ),
  one('YAML: a list of 2 MB in brackets', () => post(CONFIG_MAPS, `data: [${'a,'.repeat(MEGABYTE)}a]`, bodies.YAML)),
  one('YAML: 2 MB of empty maps', () => post(PODS, `spec: {containers: [${'{},'.repeat(700_000)}{}]}`, bodies.YAML)),
  one('YAML: billion laughs', () => post(CONFIG_MAPS, billionLaughs(9, 9), bodies.YAML)),
  one('YAML: aliases of a large list', () =>
    post(CONFIG_MAPS, `a: &a [${'x,'.repeat(100_000)}x]\nb: [${'*a,'.repeat(99)}*a]`, bodies.YAML),
  ),
  one('YAML: 300,000 anchors and aliases', () =>
    post(CONFIG_MAPS, `a: &a x\nb: [${'*a,'.repeat(300_000)}*a]`, bodies.YAML),
  ),
  one('YAML: a configuration of 1 MB as one text', () =>
    post(
      CONFIG_MAPS,
      `metadata: {generateName: y-}\ndata:\n  a: |\n${'    some line of text\n'.repeat(45_000)}`,
      bodies.YAML,
    ),
  ),
  one('YAML: deep nesting', () => post(CONFIG_MAPS, `${'{a: '.repeat(10_000)}1${'}'.repeat(10_000)}`, bodies.YAML)),
  one('YAML: indentation that never ends', () =>
    post(CONFIG_MAPS, times(1700, (at) => `${' '.repeat(at)}a:`).join('\n'), bodies.YAML),
  ),
  one('YAML: 2 MB of one quoted text', () => post(CONFIG_MAPS, `a: "${'\\n'.repeat(MEGABYTE)}"`, bodies.YAML)),
  one('YAML: 500,000 keys, all the same', () => post(CONFIG_MAPS, 'a: b\n'.repeat(500_000), bodies.YAML)),
];

const json: readonly Attack[] = [
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

const otherPatches: readonly Attack[] = [
  onMade(
    'strategic merge patch: 30,000 containers over 2,000',
    () => post('/apis/apps/v1/namespaces/default/deployments', JSON.stringify(deployment('strategic', 2000))),
    () =>
      patch(
        '/apis/apps/v1/namespaces/default/deployments/strategic',
        JSON.stringify({
          spec: { template: { spec: { containers: times(30_000, (at) => ({ name: `c${at}`, image: 'j' })) } } },
        }),
        bodies.STRATEGIC_PATCH,
      ),
  ),
  onMade(
    'strategic merge patch: an order of 60,000 names',
    () => post('/apis/apps/v1/namespaces/default/deployments', JSON.stringify(deployment('ordered', 1))),
    () =>
      patch(
        '/apis/apps/v1/namespaces/default/deployments/ordered',
        JSON.stringify({
          metadata: {
            finalizers: times(60_000, (at) => `e.x/${59_999 - at}`),
            '$setElementOrder/finalizers': times(60_000, (at) => `e.x/${at}`),
          },
        }),
        bodies.STRATEGIC_PATCH,
      ),
  ),
  one('apply: a config map of 40,000 entries', () =>
    patch(
      `${CONFIG_MAPS}/applied?fieldManager=a&force=true`,
      JSON.stringify(configMap('applied', 40_000)),
      bodies.APPLY_PATCH,
    ),
  ),
  one('apply: 40,000 entries again by another manager', () =>
    patch(`${CONFIG_MAPS}/applied?fieldManager=b`, JSON.stringify(configMap('applied', 40_000)), bodies.APPLY_PATCH),
  ),
  {
    name: '17.11 managed fields of 40 managers with 1,000 entries each',
    async run(server) {
      let last = '';
      for (const at of times(40, (index) => index)) {
        last = await ask(
          server,
          patch(
            `${CONFIG_MAPS}/shared?fieldManager=m${at}&force=true`,
            JSON.stringify(configMap('shared', 1000)),
            bodies.APPLY_PATCH,
          ),
        );
      }
      return last;
    },
  },
  onMade(
    'merge patch: 50,000 entries',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('merged', 1))),
    () =>
      patch(
        `${CONFIG_MAPS}/merged`,
        JSON.stringify({ data: (configMap('x', 50_000) as { data: object }).data }),
        bodies.MERGE_PATCH,
      ),
  ),
];

function deployment(name: string, containers: number): object {
  return {
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: times(containers, (at) => ({ name: `c${at}`, image: 'i' })) },
      },
    },
  };
}

const definitions: readonly Attack[] = [
  {
    name: '17.11 CEL: a rule of n³ over a list without a bound',
    async run(server) {
      const schema = { ...list({ type: 'integer' }), 'x-kubernetes-validations': [{ rule: cube }] };
      const made = await ask(server, post(DEFINITIONS, JSON.stringify(definition('cubes', schema))));
      const path = '/apis/example.com/v1/namespaces/default/cubes';
      await established(server, path);
      const body = {
        apiVersion: 'example.com/v1',
        kind: 'Cubes',
        metadata: { name: 'a' },
        spec: times(300, (at) => at),
      };
      return `${made} / ${await ask(server, post(path, JSON.stringify(body)))}`;
    },
  },
  {
    name: '17.11 CEL: a policy of n³ over a list',
    async run(server) {
      const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
      const expression = cube
        .replaceAll('self', 'object.metadata.finalizers')
        .replace('a + b + c >= 0', "a + b + c != 'x'");
      const policy = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'cube' },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
          },
          validations: [{ expression }],
        },
      };
      const binding = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'cube' },
        spec: { policyName: 'cube', validationActions: ['Deny'] },
      };
      const made = await ask(server, post(policies, JSON.stringify(policy)));
      await ask(
        server,
        post('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', JSON.stringify(binding)),
      );
      const secret = { metadata: { name: 'cube', finalizers: times(400, (at) => `e.x/${at}`) } };
      return `${made} / ${await ask(server, post('/api/v1/namespaces/default/secrets', JSON.stringify(secret)))}`;
    },
  },
  one('CEL: an expression nested 10,000 times', () => {
    const schema = {
      type: 'integer',
      'x-kubernetes-validations': [{ rule: `${'('.repeat(10_000)}true${')'.repeat(10_000)}` }],
    };
    return post(DEFINITIONS, JSON.stringify(definition('nested', schema)));
  }),
  one('CEL: an expression of 2 MB', () => {
    const schema = {
      type: 'integer',
      'x-kubernetes-validations': [{ rule: `${'self > 1 && '.repeat(150_000)} true` }],
    };
    return post(DEFINITIONS, JSON.stringify(definition('long', schema)));
  }),
  one('CRD: a schema of 30,000 properties', () => {
    const properties = Object.fromEntries(times(30_000, (at) => [`p${at}`, { type: 'string' }]));
    return post(DEFINITIONS, JSON.stringify(definition('wide', { type: 'object', properties })));
  }),
  one('CRD: 20,000 rules', () => {
    const rules = times(20_000, (at) => ({ rule: `self > ${at}` }));
    return post(
      DEFINITIONS,
      JSON.stringify(definition('rules', { type: 'integer', 'x-kubernetes-validations': rules })),
    );
  }),
  one('CRD: a schema 400 levels deep', () => {
    let schema: object = { type: 'string' };
    for (let level = 0; level < 400; level++) schema = { type: 'array', items: schema };
    return post(DEFINITIONS, JSON.stringify(definition('deep', schema)));
  }),
  {
    name: '17.11 CRD: a pattern that backtracks',
    async run(server) {
      const schema = { type: 'string', pattern: '^(a+)+$' };
      const made = await ask(server, post(DEFINITIONS, JSON.stringify(definition('backs', schema))));
      const path = '/apis/example.com/v1/namespaces/default/backs';
      await established(server, path);
      const body = {
        apiVersion: 'example.com/v1',
        kind: 'Backs',
        metadata: { name: 'a' },
        spec: `${'a'.repeat(100_000)}b`,
      };
      return `${made} / ${await ask(server, post(path, JSON.stringify(body)))}`;
    },
  },
  {
    name: '17.11 CRD: a pattern of 2,000 steps over 100,000 characters',
    async run(server) {
      const schema = { type: 'string', pattern: '(a|b|c|d|e|f|g|h){1,500}$' };
      const made = await ask(server, post(DEFINITIONS, JSON.stringify(definition('steps', schema))));
      const path = '/apis/example.com/v1/namespaces/default/steps';
      await established(server, path);
      const body = {
        apiVersion: 'example.com/v1',
        kind: 'Steps',
        metadata: { name: 'a' },
        spec: 'abcdefgh'.repeat(12_500),
      };
      return `${made} / ${await ask(server, post(path, JSON.stringify(body)))}`;
    },
  },
  one('CRD: a pattern that repeats repeats', () => {
    const schema = { type: 'string', pattern: '((a{0,100}){0,100}){0,100}' };
    return post(DEFINITIONS, JSON.stringify(definition('repeats', schema)));
  }),
  {
    name: '17.11 CRD: a set of 40,000',
    async run(server) {
      const schema = {
        ...list({ type: 'object', properties: { a: { type: 'string' } } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      };
      const made = await ask(server, post(DEFINITIONS, JSON.stringify(definition('sets', schema))));
      const path = '/apis/example.com/v1/namespaces/default/sets';
      await established(server, path);
      const body = {
        apiVersion: 'example.com/v1',
        kind: 'Sets',
        metadata: { name: 'a' },
        spec: times(40_000, (at) => ({ a: `${at}` })),
      };
      return `${made} / ${await ask(server, post(path, JSON.stringify(body)))}`;
    },
  },
];

/** Waits until a new kind is served, or for a little while when it never will be. */
async function established({ access }: AttackedServer, path: string): Promise<void> {
  for (let attempt = 0; attempt < 40; attempt++) {
    if ((await send(access, { method: 'GET', path })).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const owners = (count: number): object[] =>
  times(count, (at) => ({ apiVersion: 'unknown.example.com/v1', kind: 'Unknown', name: `o${at}`, uid: `0000-${at}` }));

const ownerReferences: readonly Attack[] = [
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

const reads: readonly Attack[] = [
  one('selector: as long as a URL may be', () => ({
    method: 'GET',
    path: `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(times(1500, (at) => `a${at}`).join(','))}`,
  })),
  one('field selector: as long as a URL may be', () => ({
    method: 'GET',
    path: `${CONFIG_MAPS}?fieldSelector=${encodeURIComponent(times(600, () => 'metadata.name=a').join(','))}`,
  })),
  one('continue: a token of 8 KB', () => ({
    method: 'GET',
    path: `${CONFIG_MAPS}?limit=1&continue=${'A'.repeat(8000)}`,
  })),
];

/**
 * Legal requests that cost what the real server pays as well. They are bounded and linear, and large writes let others
 * have their turn between their parts, but one part alone can take longer than 50 ms.
 */
const LONG: Readonly<Record<string, string>> = {
  '17.11 JSON patch: 400 moves of a map of 20,000': 'the result is compared and recorded as a whole',
  '17.11 JSON patch: 10,000 copies of a map of 20,000': 'copies are bounded by their number of values',
  '17.11 JSON: a key of 2 MB': 'the warning that names it is built from it',
  '17.11 JSON: a config map of 50,000 entries': 'the record of who set what is one walk over 50,000 fields',
  '17.11 JSON: 60,000 finalizers': 'each finalizer is validated, in one walk',
  '17.11 merge patch: 50,000 entries': 'the record of who set what is one walk over 50,000 fields',
  '17.11 CRD: a set of 40,000':
    'checking the schema, recording who set what and answering are one walk over 40,000 items each',
  '17.11 protobuf: a pod of 500,000 empty containers':
    'the first 10,000 are read until the list is too long; above 50 ms only where that code has not run before',
  '17.11 YAML: a list of 2 MB, an item a line': 'the thread that reads YAML is started, and counts as well',
  '17.11 YAML: aliases of a large list': 'the thread that reads YAML counts as well: this server waits for it',
  '17.11 apply: a config map of 40,000 entries': 'server-side apply compares 40,000 fields in one walk',
  '17.11 apply: 40,000 entries again by another manager': 'server-side apply compares 40,000 fields in one walk',
  '17.11 CEL: a policy of n³ over a list': 'an evaluation may cost what it may on the real server',
  '17.11 CRD: a schema of 30,000 properties': 'the schema is checked in one walk',
};

const all: readonly Attack[] = [
  { name: 'nothing at all, for comparison', run: async () => 'idle' },
  ...jsonPatches,
  ...yaml,
  ...json,
  ...otherPatches,
  ...definitions,
  ...reads,
  ...ownerReferences,
];

export const costAttacks: readonly Attack[] = all.map((attack) => {
  const knownLong = LONG[attack.name];
  return knownLong === undefined ? attack : { ...attack, knownLong };
});
