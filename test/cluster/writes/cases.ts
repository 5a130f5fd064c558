import type { Step } from './exchange.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const services = '/api/v1/namespaces/default/services';
const maps = '/api/v1/namespaces/default/configmaps';

const deployment = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'a', image: 'i:1', ports: [{ containerPort: 80 }] }] },
    },
    ...spec,
  },
});

const containers = (...list: object[]): object => ({ spec: { template: { spec: { containers: list } } } });
const map = (name: string, rest: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...rest,
});
const budget = (name: string, spec: object): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec,
});

const post = (path: string, body: unknown, query = ''): Step => ({ method: 'POST', path: path + query, body });
const put = (path: string, body: unknown): Step => ({ method: 'PUT', path, body });
const patch = (type: string, path: string, body: unknown): Step => ({ method: 'PATCH', path, type, body });
const apply = (path: string, manager: string, body: unknown, more = ''): Step =>
  patch(APPLY, `${path}?fieldManager=${manager}${more}`, body);

const inOwnWords = (step: Step): Step => ({ ...step, ownWords: true });

const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 10, multipleOf: 1 },
                  mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
                  host: { type: 'string', pattern: '^[a-z]+$', maxLength: 5, minLength: 2 },
                  when: { type: 'string', format: 'date-time' },
                  port: { 'x-kubernetes-int-or-string': true },
                  tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  parts: {
                    type: 'array',
                    maxItems: 3,
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
                    },
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                  },
                  extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 2 },
                  one: {
                    type: 'object',
                    properties: { x: { type: 'string' }, y: { type: 'string' } },
                    oneOf: [{ required: ['x'] }, { required: ['y'] }],
                  },
                },
              },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};
const widget = (name: string, spec: object, rest: object = {}): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
  ...rest,
});

/** Sequences of requests that a server of ours and a real one must answer alike. */
export const CASES: readonly (readonly [name: string, ...steps: Step[]])[] = [
  ['a create is owned by its writer', post(deployments, deployment('create'))],
  [
    'strategic merge of containers, their ports and new ones',
    post(deployments, deployment('smp')),
    patch(STRATEGIC, `${deployments}/smp`, containers({ name: 'a', image: 'i:2', env: [{ name: 'K', value: 'V' }] })),
    patch(STRATEGIC, `${deployments}/smp`, containers({ name: 'b', image: 'j' })),
    patch(
      STRATEGIC,
      `${deployments}/smp`,
      containers({ name: 'a', ports: [{ containerPort: 81 }, { containerPort: 80, name: 'web' }] }),
    ),
    patch(STRATEGIC, `${deployments}/smp`, {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
            containers: [{ name: 'b', image: 'j:2' }],
          },
        },
      },
    }),
    patch(STRATEGIC, `${deployments}/smp`, containers({ name: 'a', $patch: 'delete' })),
    patch(STRATEGIC, `${deployments}/smp`, containers({ name: 'c', image: 'k' }, { $patch: 'replace' })),
    patch(STRATEGIC, `${deployments}/smp`, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
    patch(STRATEGIC, `${deployments}/smp`, { metadata: { labels: { a: '1', b: '2' }, finalizers: ['x.io/a'] } }),
    patch(STRATEGIC, `${deployments}/smp`, {
      metadata: { labels: { $patch: 'replace', c: '3' }, finalizers: ['x.io/b'] },
    }),
    patch(STRATEGIC, `${deployments}/smp`, { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.io/a'] } }),
    patch(STRATEGIC, `${deployments}/smp`, { metadata: { labels: null, finalizers: null } }),
    patch(STRATEGIC, `${deployments}/smp`, {
      spec: { template: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } } },
    }),
    patch(STRATEGIC, `${deployments}/smp`, {
      spec: { template: { spec: { tolerations: [{ key: 'b', operator: 'Exists' }] } } },
    }),
    patch(STRATEGIC, `${deployments}/smp`, containers({ image: 'nameless' })),
    patch(STRATEGIC, `${deployments}/smp`, { spec: { $patch: 'explode' } }),
    patch(STRATEGIC, `${deployments}/smp`, { spec: { strategy: { $retainKeys: 'type' } } }),
    patch(STRATEGIC, `${deployments}/smp`, {}),
  ],
  [
    'a budget selector is replaced by strategic merge',
    post(budgets, budget('smp', { minAvailable: 1, selector: { matchLabels: { a: '1' } } })),
    patch(STRATEGIC, `${budgets}/smp`, { spec: { selector: { matchLabels: { b: '2' } } } }),
    patch(MERGE, `${budgets}/smp`, { spec: { minAvailable: '50%', selector: { matchLabels: { c: '3' } } } }),
  ],
  [
    'service ports merge by port, and by port and protocol under apply',
    post(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'svc' },
      spec: {
        clusterIP: 'None',
        clusterIPs: ['None'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        selector: { a: 'b' },
        ports: [{ name: 'a', port: 80 }],
      },
    }),
    patch(STRATEGIC, `${services}/svc`, { spec: { ports: [{ name: 'b', port: 81 }] } }),
    apply(`${services}/svc`, 'm2', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'svc' },
      spec: { ports: [{ name: 'c', port: 82, protocol: 'UDP' }] },
    }),
  ],
  [
    'merge patches',
    post(maps, map('merge', { data: { a: '1', b: '2' } })),
    patch(MERGE, `${maps}/merge`, { data: { a: null, c: '3' } }),
    patch(MERGE, `${maps}/merge`, { metadata: { annotations: { x: 'y' } }, data: { c: '4' } }),
    inOwnWords(patch(MERGE, `${maps}/merge`, [])),
    patch(MERGE, `${maps}/merge`, '{"data":'),
    inOwnWords(patch(MERGE, `${maps}/merge`, { data: { d: 5 } })),
    inOwnWords(patch(MERGE, `${maps}/merge?fieldValidation=Strict`, { data: { d: '5' }, bogus: true })),
    patch(MERGE, `${maps}/merge`, { bogus: true }),
  ],
  [
    'JSON patches',
    post(maps, map('json', { data: { a: '1', b: '2' } })),
    patch(JSON_PATCH, `${maps}/json`, [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: '9' },
      { op: 'add', path: '/data/c', value: '3' },
      { op: 'remove', path: '/data/b' },
      { op: 'copy', from: '/data/a', path: '/data/d' },
      { op: 'move', from: '/data/c', path: '/data/e' },
    ]),
    inOwnWords(patch(JSON_PATCH, `${maps}/json`, [{ op: 'test', path: '/data/a', value: 'other' }])),
    inOwnWords(patch(JSON_PATCH, `${maps}/json`, [{ op: 'remove', path: '/data/zzz' }])),
    inOwnWords(patch(JSON_PATCH, `${maps}/json`, { op: 'remove' })),
    inOwnWords(patch(JSON_PATCH, `${maps}/json`, [{ op: 'explode', path: '/data' }])),
  ],
  [
    'apply: ownership, conflict, force, sharing, removal',
    apply(`${deployments}/ssa`, 'm1', deployment('ssa')),
    apply(`${deployments}/ssa`, 'm1', deployment('ssa')),
    apply(`${deployments}/ssa`, 'm2', deployment('ssa', { replicas: 5 })),
    apply(`${deployments}/ssa`, 'm2', deployment('ssa', { replicas: 5, paused: true }), '&force=true'),
    apply(`${deployments}/ssa`, 'm1', deployment('ssa', { replicas: 5 }, { labels: { own: 'm1' } })),
    patch(MERGE, `${deployments}/ssa`, { metadata: { labels: { merged: 'x' } }, spec: { replicas: 7 } }),
    apply(`${deployments}/ssa`, 'm1', deployment('ssa', { replicas: 7 })),
    patch(MERGE, `${deployments}/ssa/scale`, { spec: { replicas: 8 } }),
    apply(`${deployments}/ssa`, 'm3', deployment('ssa', { replicas: 1, minReadySeconds: 3 })),
    apply(`${deployments}/ssa`, 'm3', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ssa', annotations: { a: 'b' } },
    }),
    apply(`${deployments}/ssa`, 'm3', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'ssa' } }),
    apply(`${deployments}/ssa`, 'm3', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ssa' },
      spec: { bogus: 1 },
    }),
    apply(`${deployments}/ssa`, 'm3', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ssa' },
      spec: { replicas: 'x' },
    }),
    apply(`${deployments}/ssa`, 'm3', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ssa', managedFields: [] },
    }),
    apply(
      `${deployments}/ssa`,
      'm3',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ssa\nspec:\n  paused: true\n  paused: false\n',
      '&fieldValidation=Strict&force=true',
    ),
    { ...apply(`${deployments}/ssa`, '', deployment('ssa')), path: `${deployments}/ssa` },
    patch(APPLY, `${deployments}/ssa/status?fieldManager=s`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ssa' },
      status: { replicas: 3 },
    }),
  ],
  [
    'apply over an object nobody tracks',
    post(maps, map('reset', { data: { a: '1', b: '2' } })),
    patch(MERGE, `${maps}/reset`, { metadata: { managedFields: [{}] } }),
    apply(`${maps}/reset`, 'm', map('reset', { data: { a: '9' } })),
    apply(`${maps}/reset`, 'm', map('reset', { data: { a: '1', c: '3' } })),
  ],
  [
    'unknown, repeated and misfitting fields',
    post(deployments, deployment('strict', { bogus: 1 }), '?fieldValidation=Strict'),
    post(deployments, deployment('warned', { bogus: 1 }), '?fieldValidation=Warn'),
    post(deployments, deployment('ignored', { bogus: 1 }), '?fieldValidation=Ignore'),
    post(
      deployments,
      `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"dup","name":"dup","foo":1},"spec":{"paused":true,"paused":true}}`,
      '?fieldValidation=Strict',
    ),
    post(deployments, deployment('typed', { replicas: 'three' })),
    post(deployments, deployment('typed', { replicas: 1.5 })),
    post(deployments, deployment('typed', { template: [] })),
    post(deployments, deployment('typed', {}, { labels: { a: 1 } })),
    inOwnWords(post(maps, '{"apiVersion":"v1","kind":"ConfigMap"')),
    inOwnWords(post(maps, '[]')),
    post(maps, ''),
    inOwnWords(post(maps, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } })),
    inOwnWords(post(maps, { apiVersion: 'v9', kind: 'ConfigMap', metadata: { name: 'x' } })),
    inOwnWords({ method: 'POST', path: maps, type: 'text/plain', body: 'x' }),
  ],
  [
    'custom resources: schema, defaults, ownership',
    post(widgets, widget('w', { size: 1, parts: [{ name: 'a' }] })),
    apply(`${widgets}/w`, 'm1', widget('w', { size: 1, parts: [{ name: 'b', count: 2 }], tags: ['x'] })),
    apply(`${widgets}/w`, 'm2', widget('w', { size: 2 })),
    apply(`${widgets}/w`, 'm2', widget('w', { size: 2, tags: ['y'], extra: { free: { form: [1] } } }), '&force=true'),
    apply(`${widgets}/w`, 'm1', widget('w', { parts: [] })),
    apply(`${widgets}/w`, 'm1', widget('w', { bogus: 1 })),
    patch(MERGE, `${widgets}/w`, { spec: { mode: 'B', host: 'abc' } }),
    inOwnWords(patch(STRATEGIC, `${widgets}/w`, {})),
    patch(MERGE, `${widgets}/w/status`, { status: { phase: 'Up' }, spec: { size: 9 } }),
    patch(MERGE, `${widgets}/w`, { spec: { bogus: 1 } }),
    inOwnWords(patch(MERGE, `${widgets}/w?fieldValidation=Strict`, { spec: { bogus: 1 }, metadata: { foo: 'x' } })),
    inOwnWords(put(`${widgets}/w`, widget('w', { size: 1 }))),
  ],
  [
    'custom resources that break their schema',
    post(widgets, widget('bad', {})),
    post(widgets, widget('bad', { size: 0, mode: 'X', host: 'ABCDEFGH', when: 'soon', port: true })),
    post(widgets, widget('bad', { size: 1, tags: ['a', 'a'], parts: [{ name: 'x' }, { name: 'x' }] })),
    post(widgets, widget('bad', { size: 1, parts: [{}, { name: 'a' }, { name: 'b' }, { name: 'c' }] })),
    post(widgets, widget('bad', { size: 'x', labels: { a: '1', b: '2', c: '3' } })),
    post(widgets, widget('bad', { size: 1, one: {} })),
    post(widgets, widget('bad', { size: 1, one: { x: 'a', y: 'b' } })),
    post(widgets, widget('bad', { size: 1, host: 'a', mode: null, labels: { a: 1 } })),
    post(widgets, widget('bad', { size: 1 }, { bogus: { a: 1 } }), '?fieldValidation=Strict'),
  ],
];

export const DEFINITION: Step = post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
export const WIDGETS_PATH = widgets;
