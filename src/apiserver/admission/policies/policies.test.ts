import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Client, createClient, ManualClock } from '../../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../../storage/index.ts';
import { builtinAdmission } from '../../server/builtin-admission.ts';
import { createCodec } from '../../codec/index.ts';
import { inProcessTransport } from '../../server/in-process.ts';
import { builtinResources } from '../../kinds/resources.ts';
import { type ApiServer, createApiServer } from '../../server/server.ts';

let server: ApiServer;
let client: Client;

beforeEach(async () => {
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock: new ManualClock(),
    codec: createCodec(),
    admission: (context) => builtinAdmission(context, { controllers: false }),
  });
  client = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await client.request('POST', '/api/v1/namespaces', { metadata: { name: 'team', labels: { env: 'test' } } });
});
afterEach(() => server.close());

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MATCH = {
  resourceRules: [
    { operations: ['CREATE', 'UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] },
  ],
};

async function policy(kind: 'validating' | 'mutating', spec: object, binding: object = {}): Promise<void> {
  await client.request('POST', `${GROUP}/${kind}admissionpolicies`, {
    metadata: { name: 'p' },
    spec: { matchConstraints: MATCH, ...spec },
  });
  await client.request('POST', `${GROUP}/${kind}admissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', ...(kind === 'validating' && { validationActions: ['Deny'] }), ...binding },
  });
}

const deploy = (replicas: number, name = 'd') =>
  client.request<{ spec: { replicas: number }; metadata: object }>(
    'POST',
    '/apis/apps/v1/namespaces/team/deployments',
    {
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  );

test('a validating policy refuses what breaks its expression', async () => {
  await policy('validating', {
    variables: [{ name: 'replicas', expression: 'object.spec.replicas' }],
    validations: [
      { expression: 'variables.replicas > 1', messageExpression: "'wants more than ' + string(variables.replicas)" },
      { expression: "namespaceObject.metadata.labels.env == 'test'" },
    ],
  });
  await expect(deploy(1)).rejects.toMatchObject({
    code: 422,
    reason: 'Invalid',
    message:
      "deployments.apps \"d\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: wants more than 1",
  });
  await deploy(2);
});

test('a message that cannot be made falls back, and a failing expression counts by the failure policy', async () => {
  await policy('validating', {
    validations: [{ expression: 'object.spec.replicas > 1', messageExpression: "'got ' + object.spec.replicas" }],
  });
  await expect(deploy(1)).rejects.toMatchObject({
    message: expect.stringContaining('denied request: failed expression: object.spec.replicas > 1'),
  });
  const missing = [{ op: 'replace', path: '/spec/validations/0/expression', value: 'object.spec.none.deeper > 1' }];
  const json = { 'content-type': 'application/json-patch+json' };
  await client.request('PATCH', `${GROUP}/validatingadmissionpolicies/p`, missing, json);
  await expect(deploy(2)).rejects.toMatchObject({ message: expect.stringContaining('resulted in error') });
  const ignore = [{ op: 'replace', path: '/spec/failurePolicy', value: 'Ignore' }];
  await client.request('PATCH', `${GROUP}/validatingadmissionpolicies/p`, ignore, json);
  await deploy(2);
});

test('a policy can take its limits from an object, and only warn', async () => {
  await client.request('POST', '/api/v1/namespaces/team/configmaps', {
    metadata: { name: 'limits' },
    data: { max: '3' },
  });
  await policy(
    'validating',
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: 'object.spec.replicas <= int(params.data.max)', reason: 'Forbidden' }],
    },
    { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
  );
  await deploy(3);
  await expect(deploy(4, 'e')).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });
});

test('a mutating policy changes the object by an apply configuration or a patch', async () => {
  await policy('mutating', {
    reinvocationPolicy: 'Never',
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: {
          expression:
            'Object{metadata: Object.metadata{annotations: {"by": "policy"}}, spec: Object.spec{replicas: 1337}}',
        },
      },
      {
        patchType: 'JSONPatch',
        jsonPatch: {
          expression: '[JSONPatch{op: "add", path: "/metadata/annotations/n", value: string(object.spec.replicas)}]',
        },
      },
    ],
  });
  expect(await deploy(1)).toMatchObject({
    spec: { replicas: 1337, template: { spec: { containers: [{ name: 'c' }] } } },
    metadata: { annotations: { by: 'policy', n: '1337' } },
  });
});

test('a policy with an expression that does not compile is refused', async () => {
  await expect(policy('validating', { validations: [{ expression: 'object.' }] })).rejects.toMatchObject({
    code: 422,
    status: { details: { causes: [{ field: 'spec.validations[0].expression' }] } },
  });
});
