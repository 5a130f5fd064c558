/** Definitions of kinds and policies that make every later request dear. */
import { type Attack, type AttackedServer, send } from '../harness/index.ts';
import { DEFINITIONS, definition, times } from './bodies.ts';
import { ask, one, post } from './request.ts';

const list = (items: object): object => ({ type: 'array', items });
const cube = 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))';

export const definitions: readonly Attack[] = [
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
