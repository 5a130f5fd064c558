import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Metrics } from '../../../machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../testkit/index.ts';

interface Case {
  readonly path: string;
  readonly object: { readonly kind: string; readonly metadata: { readonly name: string } };
  /** What kube-apiserver 1.36 said of it. */
  readonly warnings: readonly string[];
}

const cases = parseAllDocuments(readFileSync(new URL('./warned.fixture.yaml', import.meta.url), 'utf8')).map(
  (document) => document.toJS() as Case,
);

let plane: ControlPlane;
const metrics = new Metrics();
beforeAll(async () => {
  plane = await startControlPlane({ metrics });
});
afterAll(() => plane.stop());

async function warningsOf(method: string, path: string, body?: object): Promise<string[]> {
  const response = await plane.transport({
    method,
    path,
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const bytes = response.body as Uint8Array;
  if (response.status >= 300) throw new Error(Buffer.from(bytes).toString());
  const header = response.headers['warning'] ?? '';
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}

for (const { object, path, warnings } of cases) {
  test(`1.8: ${object.kind} ${object.metadata.name} is taken with the warnings of kube-apiserver`, async () => {
    expect(await warningsOf('POST', `${path}?dryRun=All`, object)).toEqual(warnings);
  });
}

test('1.8: an update of a template warns where the template may have changed, one of a pod never', async () => {
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' }, containers: [{ name: 'c', image: 'i' }] },
  };
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  expect(await warningsOf('POST', path, { metadata: { name: 'web' }, spec })).toHaveLength(1);
  const patch = (body: object, part = '') => warningsOf('PATCH', `${path}/web${part}`, body);
  expect(await patch({ metadata: { labels: { x: 'y' } } })).toEqual([]);
  expect(await patch({ spec: { replicas: 2 } })).toHaveLength(1);
  expect(await patch({ status: { replicas: 2 } }, '/status')).toEqual([]);
  const pods = '/api/v1/namespaces/default/pods';
  const pod = { metadata: { name: 'p' }, spec: template.spec };
  expect(await warningsOf('POST', pods, pod)).toHaveLength(1);
  expect(await warningsOf('PATCH', `${pods}/p`, { metadata: { labels: { x: 'y' } } })).toEqual([]);
});

test('1.8: who asks for a version that is deprecated is told, with each verb, and it is counted', async () => {
  const text = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';
  const path = '/api/v1/namespaces/default/endpoints';
  expect(await warningsOf('POST', path, { metadata: { name: 'e' } })).toEqual([text]);
  expect(await warningsOf('GET', path)).toEqual([text]);
  expect(await warningsOf('GET', '/apis/networking.k8s.io/v1beta1/servicecidrs')).toEqual([
    'networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+',
  ]);
  expect(await warningsOf('GET', '/apis/networking.k8s.io/v1/servicecidrs')).toEqual([]);
  const page = await metrics.registry.metrics();
  expect(page).toContain(
    'apiserver_requested_deprecated_apis{group="networking.k8s.io",version="v1beta1",resource="servicecidrs",subresource="",removed_release="1.37"} 1',
  );
});
