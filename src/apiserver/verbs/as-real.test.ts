/** Requests on which the fuzzer found other status codes than kube-apiserver 1.36 gives; its codes are the measure. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
  await send({ method: 'POST', path: MAPS, body: '{"metadata":{"name":"a"},"data":{"k":"v"}}' });
  await send({ method: 'POST', path: DEPLOYMENTS, body: JSON.stringify(deployment) });
});
afterAll(() => plane?.stop());

const MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';
const SCALE = `${DEPLOYMENTS}/web/scale`;
const YAML = 'application/yaml';
const APPLY = 'application/apply-patch+yaml';
const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const labels = { app: 'web' };
const deployment = {
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Buffer;
  readonly type?: string;
  readonly accept?: string;
}

async function send({ accept = '*/*', body, method, path, type = 'application/json' }: Sent) {
  const gone = new AbortController();
  const response = await plane.server.handle({
    method,
    url: path,
    headers: { ...(body !== undefined && { 'content-type': type }), accept },
    body: body === undefined ? undefined : Buffer.from(body),
    signal: gone.signal,
    peer: { user: { username: 'admin', groups: ['system:masters'] } },
  });
  gone.abort();
  if (typeof response.body === 'function') return { status: response.status, text: '' };
  const bytes = response.body instanceof Uint8Array ? response.body : Buffer.concat(response.body);
  return { status: response.status, text: Buffer.from(bytes).toString('utf8') };
}

const map = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;
const scale = (replicas: number): string =>
  `apiVersion: autoscaling/v1\nkind: Scale\nmetadata:\n  name: web\nspec:\n  replicas: ${replicas}\n`;

const cases: readonly (Sent & { readonly name: string; readonly want: number; readonly says?: string })[] = [
  { name: 'a limit beyond 64 bits', method: 'GET', path: `${MAPS}?limit=99999999999999999999`, want: 400 },
  { name: 'a list whose timeout is no number', method: 'GET', path: `${MAPS}?timeoutSeconds=x`, want: 400 },
  { name: 'a watch in YAML', method: 'GET', path: `${MAPS}?watch=1`, accept: YAML, want: 406 },
  {
    name: 'kinds of the cluster by their namespace, which is empty',
    method: 'GET',
    path: `${CLASSES}?fieldSelector=metadata.namespace%3Dx`,
    want: 200,
  },
  {
    name: 'nodes by their namespace: they have a list of fields of their own',
    method: 'GET',
    path: '/api/v1/nodes?fieldSelector=metadata.namespace%3Dx',
    want: 400,
  },
  {
    name: 'a namespace in an object of the cluster is passed over',
    method: 'POST',
    path: CLASSES,
    body: '{"metadata":{"name":"a","namespace":"x"},"handler":"runc"}',
    want: 201,
  },
  { name: 'nothing as JSON is an object without a name', method: 'POST', path: MAPS, body: 'null', want: 422 },
  { name: 'nothing as YAML', method: 'POST', path: MAPS, body: '', type: YAML, want: 422 },
  {
    name: 'YAML that is no UTF-8',
    method: 'POST',
    path: MAPS,
    body: Buffer.concat([Buffer.from(map('bytes')), Buffer.from([0x23, 0xff, 0x0a])]),
    type: YAML,
    want: 400,
  },
  {
    name: 'YAML whose key is a list',
    method: 'POST',
    path: MAPS,
    body: `${map('keys')}\n? [a, b]\n: c\n`,
    type: YAML,
    want: 400,
  },
  {
    name: 'text in YAML that is written as bytes',
    method: 'POST',
    path: MAPS,
    body: 'apiVersion: !!binary djE=\nkind: ConfigMap\nmetadata: {name: binary}\n',
    type: YAML,
    want: 201,
  },
  { name: 'a JSON patch of nothing', method: 'PATCH', path: `${MAPS}/a`, body: 'null', type: JSON_PATCH, want: 200 },
  {
    name: 'a JSON patch of an operation that is nothing',
    method: 'PATCH',
    path: `${MAPS}/a`,
    body: '[null]',
    type: JSON_PATCH,
    want: 422,
  },
  {
    name: 'a JSON patch that puts a list in the place of metadata',
    method: 'PATCH',
    path: `${MAPS}/a`,
    body: '[{"op":"replace","path":"/metadata","value":[]}]',
    type: JSON_PATCH,
    want: 422,
  },
  { name: 'a merge patch of nothing', method: 'PATCH', path: `${MAPS}/a`, body: 'null', type: MERGE, want: 400 },
  {
    name: 'a patch that takes the kind away',
    method: 'PATCH',
    path: `${MAPS}/a`,
    body: '[{"op":"remove","path":"/kind"}]',
    type: JSON_PATCH,
    want: 200,
  },
  {
    name: 'a merge patch to another kind',
    method: 'PATCH',
    path: `${MAPS}/a`,
    body: '{"kind":"Secret"}',
    type: MERGE,
    want: 422,
  },
  {
    name: 'a merge patch to another kind of no version',
    method: 'PATCH',
    path: `${MAPS}/a`,
    body: '{"apiVersion":"","kind":"x"}',
    type: MERGE,
    want: 422,
  },
  {
    name: 'another kind in a strategic merge patch, which is no field',
    method: 'PATCH',
    path: `${MAPS}/a`,
    body: '{"apiVersion":"x","kind":"Secret","data":{"k":"w"}}',
    type: STRATEGIC,
    want: 200,
  },
  {
    name: 'an apply without a name',
    method: 'PATCH',
    path: `${MAPS}/b?fieldManager=me`,
    body: 'apiVersion: v1\nkind: ConfigMap\n',
    type: APPLY,
    want: 400,
  },
  {
    name: 'an apply without a name to what is there',
    method: 'PATCH',
    path: `${MAPS}/a?fieldManager=me`,
    body: 'apiVersion: v1\nkind: ConfigMap\n',
    type: APPLY,
    want: 200,
  },
  {
    name: 'an apply whose metadata is text',
    method: 'PATCH',
    path: `${MAPS}/b?fieldManager=me`,
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: text\n',
    type: APPLY,
    want: 400,
  },
  {
    name: 'an apply of something new with a version that is none',
    method: 'PATCH',
    path: `${MAPS}/b?fieldManager=me`,
    body: `${map('b')}  resourceVersion: "-1"\n`,
    type: APPLY,
    want: 400,
  },
  {
    name: 'an apply of something new whose version is an object (an apply that does not fit its schema)',
    method: 'PATCH',
    path: `${MAPS}/b?fieldManager=me`,
    body: `${map('b')}  resourceVersion: {toString: 100Ei}\n`,
    type: APPLY,
    want: 500,
    says: 'failed to create typed patch object',
  },
  {
    name: 'a scale without a name',
    method: 'PUT',
    path: SCALE,
    body: '{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":2}}',
    want: 400,
  },
  {
    name: 'a scale patched to another name',
    method: 'PATCH',
    path: SCALE,
    body: '{"metadata":{"name":"other"}}',
    type: MERGE,
    want: 400,
  },
  {
    name: 'nonsense applied to the scale of nothing',
    method: 'PATCH',
    path: `${DEPLOYMENTS}/none/scale?fieldManager=me`,
    body: 'nonsense',
    type: APPLY,
    want: 404,
  },
  {
    name: 'nonsense applied to the status of nothing',
    method: 'PATCH',
    path: `${DEPLOYMENTS}/none/status?fieldManager=me`,
    body: 'nonsense',
    type: APPLY,
    want: 404,
  },
  {
    name: 'a limit range without a name',
    method: 'POST',
    path: '/api/v1/namespaces/default/limitranges',
    body: '{}',
    want: 201,
  },
  {
    name: 'a PUT of something new that has a uid already',
    method: 'PUT',
    path: '/apis/coordination.k8s.io/v1/namespaces/default/leases/new',
    body: '{"metadata":{"name":"new","uid":"x"}}',
    want: 409,
  },
  {
    name: 'a delete whose options are of no version that there can be',
    method: 'DELETE',
    path: `${MAPS}/none`,
    body: '{"apiVersion":"a/b/c","kind":""}',
    want: 400,
    says: 'unexpected GroupVersion string: a/b/c',
  },
  {
    name: 'a scale patched by force',
    method: 'PATCH',
    path: `${SCALE}?force=false`,
    body: '{"spec":{"replicas":1}}',
    type: MERGE,
    want: 422,
  },
  {
    name: 'a scale without a name, put to nothing',
    method: 'PUT',
    path: `${DEPLOYMENTS}/none/scale`,
    body: '{"spec":{"replicas":2},"metadata":{}}',
    want: 400,
    says: 'name must be provided',
  },
  { name: 'a scale applied by nobody', method: 'PATCH', path: SCALE, body: scale(2), type: APPLY, want: 422 },
  {
    name: 'a delete whose field validation means nothing',
    method: 'DELETE',
    path: `${MAPS}/none?fieldValidation=x`,
    want: 404,
  },
  { name: 'a delete whose dry run means nothing', method: 'DELETE', path: `${MAPS}/none?dryRun=x`, want: 422 },
  {
    name: 'a delete with options in its body: those of the query are not read',
    method: 'DELETE',
    path: `${MAPS}/none?dryRun=x`,
    body: '{"apiVersion":"v1","kind":"DeleteOptions"}',
    want: 404,
  },
  {
    name: 'a field that the kind does not have, beside options that no list has',
    method: 'GET',
    path: `${MAPS}?fieldSelector=spec.nothing%3D1&sendInitialEvents=x`,
    want: 422,
  },
  {
    name: 'a selector that cannot be read, beside options that no list has',
    method: 'GET',
    path: `${MAPS}?labelSelector=(&sendInitialEvents=x`,
    want: 400,
  },
  { name: 'the versions of a group, by whatever method', method: 'POST', path: '/apis/apps', want: 200 },
  { name: 'the version of the server in YAML', method: 'GET', path: '/version', accept: YAML, want: 406 },
  { name: 'the resources of a version as a table', method: 'GET', path: '/api/v1', accept: TABLE, want: 406 },
  {
    name: 'an old watch of a name that nothing can have',
    method: 'GET',
    path: '/api/v1/watch/namespaces/default/configmaps/..?timeoutSeconds=1',
    want: 200,
  },
  {
    name: 'an applied name that is not that of the path, and a conflict',
    method: 'PATCH',
    path: `${MAPS}/a?fieldManager=other`,
    body: `${map('b')}data:\n  k: of another\n`,
    type: APPLY,
    want: 409,
  },
  {
    name: 'an applied name that is not that of the path',
    method: 'PATCH',
    path: `${MAPS}/a?fieldManager=other`,
    body: map('b'),
    type: APPLY,
    want: 400,
    says: 'does not match the name on the URL',
  },
  {
    name: 'applied managed fields of nothing',
    method: 'PATCH',
    path: `${MAPS}/a?fieldManager=other`,
    body: `${map('a')}  managedFields: [null]\n`,
    type: APPLY,
    want: 200,
  },
  {
    name: 'a scale patched to something that is none',
    method: 'PATCH',
    path: SCALE,
    body: '{"kind":{"name":"a"},"metadata":"Scale"}',
    type: MERGE,
    want: 422,
  },
  { name: 'a scale of a revision that is none', method: 'GET', path: `${SCALE}?resourceVersion=-1`, want: 400 },
  {
    name: 'a delete with nothing but the head of protobuf',
    method: 'DELETE',
    path: `${MAPS}/none`,
    body: Buffer.from('k8s\0'),
    type: 'application/vnd.kubernetes.protobuf',
    want: 400,
    says: 'empty body',
  },
];

test.each(cases)('17.12: $name is answered with $want', async ({ name: _name, says = '', want, ...sent }) => {
  const { status, text } = await send(sent);
  expect([status, text]).toEqual([want, expect.stringContaining(says)]);
});

test('17.12: a list asked for as one object is refused before anything is deleted', async () => {
  expect((await send({ method: 'DELETE', path: MAPS, accept: PARTIAL })).status).toBe(406);
  expect((await send({ method: 'GET', path: `${MAPS}/a` })).status).toBe(200);
});

test('a dry run asked for in the query deletes nothing, whatever the body says', async () => {
  const body = '{"apiVersion":"v1","kind":"DeleteOptions"}';
  expect((await send({ method: 'DELETE', path: `${MAPS}/a?dryRun=All`, body })).status).toBe(200);
  expect((await send({ method: 'GET', path: `${MAPS}/a` })).status).toBe(200);
});

test('17.12: replicas applied through scale conflict with whoever owns them, and are owned afterwards', async () => {
  const apply = (replicas: number, query: string) =>
    send({ method: 'PATCH', path: `${SCALE}?${query}`, body: scale(replicas), type: APPLY });
  const refused = await apply(3, 'fieldManager=first');
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('.spec.replicas')]);
  expect((await apply(3, 'fieldManager=first&force=true')).status).toBe(200);
  expect((await apply(4, 'fieldManager=second')).status).toBe(409);
  expect((await apply(4, 'fieldManager=first')).status).toBe(200);
  const { text } = await send({ method: 'GET', path: `${DEPLOYMENTS}/web` });
  const { metadata, spec } = JSON.parse(text) as {
    metadata: { managedFields: { manager: string; subresource?: string }[] };
    spec: { replicas: number };
  };
  expect(spec.replicas).toBe(4);
  expect(metadata.managedFields).toContainEqual(expect.objectContaining({ manager: 'first', subresource: 'scale' }));
});

test('17.12: the data of a revision are owned as a whole', async () => {
  const path = '/apis/apps/v1/namespaces/default/controllerrevisions';
  const made = await send({ method: 'POST', path, body: '{"metadata":{"name":"r"},"revision":1,"data":{"n":1}}' });
  expect(made.status).toBe(201);
  const body = 'apiVersion: apps/v1\nkind: ControllerRevision\nmetadata:\n  name: r\nrevision: 1\ndata:\n  a: 1\n';
  const applied = await send({ method: 'PATCH', path: `${path}/r?fieldManager=other`, body, type: APPLY });
  expect([applied.status, applied.text]).toEqual([409, expect.stringContaining('.data')]);
});
