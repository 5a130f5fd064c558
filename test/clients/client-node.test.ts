import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { startHost } from './host.ts';

let host: EmbeddedHost;
let api: CoreV1Api;
let config: KubeConfig;

beforeAll(async () => {
  host = await startHost({ nodes: 0 });
  config = new KubeConfig();
  config.loadFromFile(host.kubeconfig);
  api = config.makeApiClient(CoreV1Api);
}, 300_000);

afterAll(async () => host?.stop());

const configMap = (name: string, value: string): V1ConfigMap => ({ metadata: { name }, data: { value } });

test('an informer of client-node ends up with exactly what the server has', async () => {
  const namespace = 'default';
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const informer = makeInformer(config, path, () => api.listNamespacedConfigMap({ namespace }));
  let adds = 0;
  informer.on('add', () => (adds += 1));
  await informer.start();
  const names = Array.from({ length: 60 }, (_, index) => `c-${index}`);
  await Promise.all(names.map((name) => api.createNamespacedConfigMap({ namespace, body: configMap(name, '0') })));
  for (const name of names.slice(0, 20)) await api.deleteNamespacedConfigMap({ namespace, name });
  await Promise.all(
    names.slice(20).map((name) => api.replaceNamespacedConfigMap({ namespace, name, body: configMap(name, '1') })),
  );
  const settled = (): boolean => {
    const seen = informer.list(namespace).filter(({ metadata }) => metadata?.name?.startsWith('c-'));
    return seen.length === 40 && seen.every(({ data }) => data?.['value'] === '1');
  };
  await expect.poll(settled, { timeout: 120_000 }).toBe(true);
  expect(adds).toBeGreaterThanOrEqual(60);
  await informer.stop();
}, 300_000);

test('errors of the server arrive with their Status', async () => {
  const missing = api.readNamespacedConfigMap({ namespace: 'default', name: 'nowhere' });
  await expect(missing).rejects.toMatchObject({ code: 404, body: expect.stringContaining('NotFound') as string });
});
