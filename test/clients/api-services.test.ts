import { createServer, type Server } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { createAuthority, issueServer } from '../../src/machinery/runtime/certificates.ts';
import { adminOf, startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const GROUP = 'wardle.example.com';
const VALIDITY = { now: Date.now(), days: 1 };

let host: EmbeddedHost;
let kubectl: Kubectl;
let other: Server;
let caBundle = '';
/** What the other server was asked, as it saw it. */
const seen: { url: string; method: string; peer: string | undefined; headers: IncomingMessage['headers'] }[] = [];
let discovery = 200;

const flunder = (name: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Flunder',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' },
});

/** An API server of one kind, as small as kubectl lets it be. */
function startOther(pair: { certificate: string; key: string }, authority: string): Promise<Server> {
  const server = createServer(
    { cert: pair.certificate, key: pair.key, ca: authority, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      const { headers, method = '', url = '' } = request;
      const peer = [(request.socket as TLSSocket).getPeerCertificate().subject.CN].flat()[0];
      seen.push({ url, method, peer, headers });
      const answer = (status: number, document: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      };
      const path = url.split('?')[0];
      if (path === `/apis/${GROUP}/v1`) {
        const verbs = ['get', 'list', 'watch', 'create'];
        const resources = [{ name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs }];
        answer(discovery, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources });
      } else if (url.includes('watch=true')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(`${JSON.stringify({ type: 'ADDED', object: flunder('late') })}\n`);
      } else if (path?.endsWith('/flunders')) {
        answer(200, {
          kind: 'FlunderList',
          apiVersion: `${GROUP}/v1`,
          metadata: { resourceVersion: '1' },
          items: [flunder('a')],
        });
      } else if (path?.endsWith('/flunders/away')) {
        response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end();
      } else answer(200, flunder('a'));
    },
  );
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  return new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(server)));
}

const condition = async (field: string) =>
  kubectl.out('get', 'apiservice', `v1.${GROUP}`, '-o', `jsonpath={.status.conditions[0].${field}}`);
const apply = (...objects: object[]) =>
  kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) });
const waitFor = (reason: string) =>
  kubectl.run([
    'wait',
    `--for=jsonpath={.status.conditions[0].reason}=${reason}`,
    `apiservice/v1.${GROUP}`,
    '--timeout=60s',
  ]);

beforeAll(async () => {
  host = await startHost({ nodes: 0 });
  kubectl = createKubectl(host.kubeconfig);
  const authority = await createAuthority('other-ca', VALIDITY);
  caBundle = Buffer.from(authority.certificate).toString('base64');
  const believed = await kubectl.out(
    'get',
    'configmap',
    '-n',
    'kube-system',
    'extension-apiserver-authentication',
    '-o',
    'jsonpath={.data.requestheader-client-ca-file}',
  );
  other = await startOther(await issueServer(authority, 'other', ['api.default.svc'], VALIDITY), believed);
}, 120_000);
afterAll(async () => {
  kubectl.close();
  other.closeAllConnections();
  other.close();
  await host.stop();
});

const apiService = () => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `v1.${GROUP}` },
  spec: {
    group: GROUP,
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    caBundle,
    service: { namespace: 'default', name: 'api' },
  },
});
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'api', namespace: 'default' },
  spec: { ports: [{ port: 443 }] },
};
const slice = () => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'api', namespace: 'default', labels: { 'kubernetes.io/service-name': 'api' } },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['127.0.0.1'] }],
  ports: [{ name: '', port: (other.address() as AddressInfo).port }],
});

it('lists what is built in as kube-apiserver does, and what definitions add', async () => {
  const line = await kubectl.out('get', 'apiservice', 'v1.apps', '--no-headers');
  expect(line).toMatch(/^v1\.apps\s+Local\s+True\s/);
  const spec = 'jsonpath={.spec.groupPriorityMinimum} {.spec.versionPriority} {.metadata.labels}';
  const label = '{"kube-aggregator.kubernetes.io/automanaged":"onstart"}';
  expect(await kubectl.out('get', 'apiservice', 'v2.autoscaling', '-o', spec)).toBe(`17500 30 ${label}`);
  expect(await kubectl.out('get', 'apiservice', 'v1.', '-o', spec)).toBe(`18000 1 ${label}`);
  const names = (await kubectl.out('get', 'apiservices', '-o', 'name')).split('\n');
  expect(names).toContain('apiservice.apiregistration.k8s.io/v1.flowcontrol.apiserver.k8s.io');
  expect(names).not.toContain('apiservice.apiregistration.k8s.io/v1.apiregistration.k8s.io');
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'xs.ex.com' },
    spec: {
      group: 'ex.com',
      scope: 'Namespaced',
      names: { plural: 'xs', kind: 'X' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  await apply(definition);
  await kubectl.run(['wait', '--for=create', 'apiservice/v1.ex.com', '--timeout=60s']);
  await kubectl.run(['delete', 'crd', 'xs.ex.com']);
  await kubectl.run(['wait', '--for=delete', 'apiservice/v1.ex.com', '--timeout=60s']);
});

it('says why the server of an APIService cannot be asked, with the reasons of Kubernetes', async () => {
  await apply(apiService());
  await waitFor('ServiceNotFound');
  expect(await condition('message')).toBe('service/api in "default" is not present');
  await apply({ ...service, spec: { ports: [{ port: 80 }] } });
  await waitFor('ServicePortError');
  await apply(service);
  await waitFor('EndpointsNotFound');
  await apply({ ...slice(), endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: false } }] });
  await waitFor('MissingEndpoints');
  await apply({ ...slice(), endpoints: [{ addresses: ['169.254.169.254'] }] });
  await waitFor('FailedDiscoveryCheck');
  expect(await condition('message')).toContain('169.254.169.254, which is never asked');
  const { stderr } = await kubectl.run(['get', '--raw', `/apis/${GROUP}/v1/flunders`], { fails: true });
  expect(stderr).toContain('the server is currently unable to handle the request');
  await apply(slice());
  await waitFor('Passed');
  expect(await kubectl.out('get', 'apiservice', `v1.${GROUP}`, '--no-headers')).toMatch(/default\/api\s+True/);
});

it('sends requests on with who asks, and without what they log in with', async () => {
  seen.length = 0;
  expect(await kubectl.out('get', 'flunders', '-o', 'name')).toBe(`flunder.${GROUP}/a`);
  expect(await kubectl.out('api-resources', '--api-group', GROUP, '-o', 'name')).toBe(`flunders.${GROUP}`);
  const list = seen.find(({ url }) => url.includes('/namespaces/default/flunders'));
  expect(list).toMatchObject({
    peer: 'front-proxy-client',
    headers: { 'x-remote-user': 'kubernetes-admin', host: expect.stringContaining('api.default.svc') },
  });
  expect(list?.headers['x-remote-group']).toContain('system:masters');
  await kubectl.run(['get', 'flunders', '--as=jane', '--as-group=system:masters', '-o', 'name']);
  const last = seen.findLast(({ url }) => url.includes('/flunders'));
  expect(last?.headers['x-remote-user']).toBe('jane');
  expect(Object.keys(last?.headers ?? {}).filter((name) => /impersonate|authorization|cookie/.test(name))).toEqual([]);
  const refused = await kubectl.run(['get', 'flunders', '--as=jane'], { fails: true });
  expect(refused.stderr).toContain('User "jane" cannot list resource "flunders"');
});

it('passes watches and upgraded connections through, and no redirects', async () => {
  const line = await kubectl.until(['get', 'flunders', '--watch-only', '-o', 'name'], (out) => out.includes('late'));
  expect(line).toContain(`flunder.${GROUP}/late`);
  const away = `/apis/${GROUP}/v1/namespaces/default/flunders/away`;
  const { stderr } = await kubectl.run(['get', '--raw', away], { fails: true });
  expect(stderr).toMatch(/redirect|502|unknown/);
});

it('hands over connections to other protocols, tells of what is served, and creates', async () => {
  const { ca, cert, key, port } = adminOf(host);
  const socket = connect({ host: '127.0.0.1', port, ca, cert, key });
  let answer = '';
  const path = `/apis/${GROUP}/v1/namespaces/default/flunders/a`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nover there`);
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
      if (answer.includes('over there')) resolve();
    });
  });
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n.*Upgrade: echo/s);
  const { paths } = JSON.parse(await kubectl.out('get', '--raw', '/openapi/v3')) as { paths: Record<string, object> };
  expect(paths).toHaveProperty([`apis/${GROUP}/v1`]);
  expect(await kubectl.out('get', '--raw', '/metrics')).toContain(
    `aggregator_unavailable_apiservice{name="v1.${GROUP}"} 0`,
  );
  const made = await kubectl.run(['create', '--validate=false', '-f', '-', '-o', 'name'], {
    stdin: JSON.stringify(flunder('b')),
  });
  expect(made.stdout.trim()).toBe(`flunder.${GROUP}/a`);
  expect(seen.findLast(({ method }) => method === 'POST')?.headers['content-length']).toMatch(/^\d{3}$/);
  const items = await host.client.request<{ items: object[] }>('GET', `/apis/${GROUP}/v1/flunders`);
  expect(items.items).toHaveLength(1);
});

it('says so when the server fails, and trusts no other certificate', async () => {
  discovery = 500;
  await apply({ ...apiService(), spec: { ...apiService().spec, versionPriority: 16 } });
  await waitFor('FailedDiscoveryCheck');
  expect(await condition('message')).toMatch(/^failing or missing response from https:.*bad status from .*: 500$/);
  discovery = 200;
  const wrong = await createAuthority('wrong-ca', VALIDITY);
  const spec = { ...apiService().spec, caBundle: Buffer.from(wrong.certificate).toString('base64') };
  await apply({ ...apiService(), spec });
  await kubectl.run([
    'wait',
    '--for=jsonpath={.status.conditions[0].status}=False',
    `apiservice/v1.${GROUP}`,
    '--timeout=60s',
  ]);
  expect(await condition('reason')).toBe('FailedDiscoveryCheck');
  const { caBundle: _ca, ...rest } = apiService().spec;
  await kubectl.run(['replace', '-f', '-'], {
    stdin: JSON.stringify({ ...apiService(), spec: { ...rest, insecureSkipTLSVerify: true } }),
  });
  await waitFor('Passed');
});

it('goes on serving metrics itself when the Service of an APIService leads to simulated pods', async () => {
  const spec = {
    ...apiService().spec,
    group: 'metrics.k8s.io',
    version: 'v1beta1',
    service: { namespace: 'default', name: 'm' },
  };
  await apply(
    {
      ...service,
      metadata: { name: 'm', namespace: 'default' },
      spec: { ports: [{ port: 443 }], selector: { app: 'm' } },
    },
    { ...apiService(), metadata: { name: 'v1beta1.metrics.k8s.io' }, spec },
  );
  const why = '--for=jsonpath={.status.conditions[0].reason}=FailedDiscoveryCheck';
  await kubectl.run(['wait', why, 'apiservice/v1beta1.metrics.k8s.io', '--timeout=60s']);
  const answer = await kubectl.out('get', '--raw', '/apis/metrics.k8s.io/v1beta1/pods');
  expect(JSON.parse(answer)).toMatchObject({ kind: 'PodMetricsList' });
  expect(await kubectl.out('api-resources', '--api-group', 'metrics.k8s.io', '-o', 'name')).toContain(
    'pods.metrics.k8s.io',
  );
});

it.each([
  [{ metadata: { name: 'wrong' } }, 'must be `spec.version+"."+spec.group`'],
  [{ spec: { versionPriority: 1001 } }, 'must be positive and less than 1000'],
  [{ spec: { insecureSkipTLSVerify: true } }, 'may not be true if caBundle is present'],
  [{ spec: { service: { namespace: 'default' } } }, 'spec.service.name: Required value'],
])('refuses %j', async (change: { metadata?: object; spec?: object }, message) => {
  const whole = apiService();
  const object = { ...whole, ...change, spec: { ...whole.spec, ...change.spec } };
  const { stderr } = await kubectl.run(['create', '--dry-run=server', '-f', '-'], {
    stdin: JSON.stringify(object),
    fails: true,
  });
  expect(stderr).toContain(message);
});
