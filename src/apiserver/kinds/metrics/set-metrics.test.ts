import { afterEach, beforeEach, expect, test } from 'vitest';
import { deploymentType } from '../../../api/resource-types.ts';
import { isNotFound } from '../../../machinery/runtime/index.ts';
import { type ControlPlane, configMap, deployment, pod, startControlPlane } from '../../../testkit/index.ts';
import { configMapType, podType } from '../../../testkit/types.ts';

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane();
});
afterEach(() => plane.stop());

interface Values {
  readonly kind: string;
  readonly items: readonly Record<string, unknown>[];
}
const custom = (path: string, version = 'v1beta2') =>
  plane.client.request<Values>('GET', `/apis/custom.metrics.k8s.io/${version}/namespaces/default/${path}`);
const external = (path: string) =>
  plane.client.request<Values>('GET', `/apis/external.metrics.k8s.io/v1beta1/namespaces/default/${path}`);

async function measuredPod(name: string, tasks: string, phase = 'Running'): Promise<void> {
  const created = await plane.client.create(podType, {
    ...pod({ name }),
    metadata: {
      name,
      namespace: 'default',
      labels: { app: name.split('-')[0] ?? '' },
      annotations: { 'metrics.quorate.dev/tasks': tasks },
    },
  });
  await plane.client.updateStatus(podType, { ...created, status: { phase } });
}

test('custom metrics of pods are what their annotations say, of those that run and are selected', async () => {
  await measuredPod('a-1', '3');
  await measuredPod('a-2', '500m');
  await measuredPod('a-3', 'many');
  await measuredPod('a-4', '9', 'Pending');
  await measuredPod('b-1', '7');
  const { kind, items } = await custom('pods/*/tasks?labelSelector=app%3Da');
  expect([kind, items.map(({ value }) => value)]).toEqual(['MetricValueList', ['3', '500m']]);
  expect(items[0]).toMatchObject({
    describedObject: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'a-1' },
    metric: { name: 'tasks', selector: null },
  });
  expect((await custom('pods/b-1/tasks', 'v1beta1')).items).toMatchObject([{ metricName: 'tasks', value: '7' }]);
  expect((await custom('pods/*/tasks?metricLabelSelector=queue%3Dx')).items).toEqual([]);
  await expect(custom('pods/a-3/tasks')).rejects.toThrow('the server could not find the metric tasks for pods a-3');
});

test('custom metrics are of objects of any kind, and of the namespace', async () => {
  const annotations = { 'metrics.quorate.dev/queue': '12' };
  const web = deployment({ name: 'web', replicas: 0 });
  await plane.client.create(deploymentType, { ...web, metadata: { ...web.metadata, annotations } });
  expect((await custom('deployments.apps/web/queue')).items).toMatchObject([
    { describedObject: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'web' }, value: '12' },
  ]);
  await plane.client.request('PATCH', '/api/v1/namespaces/default', { metadata: { annotations } }, MERGE);
  expect((await custom('metrics/queue')).items).toMatchObject([
    { describedObject: { kind: 'Namespace', name: 'default' }, value: '12' },
  ]);
  await expect(custom('widgets.example.com/web/queue')).rejects.toSatisfy(isNotFound);
  const path = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/deployments.apps/web/queue';
  await expect(plane.client.request('DELETE', path)).rejects.toMatchObject({ code: 405 });
});
const MERGE = { 'content-type': 'application/merge-patch+json' };

test('external metrics are the data of labelled ConfigMaps, with their other labels', async () => {
  for (const queue of ['a', 'b']) {
    const labels = { 'metrics.quorate.dev/external': 'true', queue };
    const map = configMap({ name: queue });
    await plane.client.create(configMapType, {
      ...map,
      metadata: { ...map.metadata, labels },
      data: { length: queue === 'a' ? '30' : '4', note: 'x' },
    });
  }
  await plane.client.create(configMapType, { ...configMap({ name: 'c' }), data: { length: '100' } });
  expect((await external('length')).items).toMatchObject([
    { metricName: 'length', metricLabels: { queue: 'a' }, value: '30' },
    { metricName: 'length', metricLabels: { queue: 'b' }, value: '4' },
  ]);
  expect((await external('length?labelSelector=queue%3Db')).items).toMatchObject([{ value: '4' }]);
  expect((await external('note')).items).toEqual([]);
  await expect(external('length?labelSelector=%21%21')).rejects.toMatchObject({ code: 400 });
});

test('discovery tells of both groups', async () => {
  const { groups } = await plane.client.request<{ groups: { name: string; versions: { version: string }[] }[] }>(
    'GET',
    '/apis',
  );
  const versions = (name: string) =>
    groups.find((group) => group.name === name)?.versions.map(({ version }) => version);
  expect(versions('custom.metrics.k8s.io')).toEqual(['v1beta2', 'v1beta1']);
  expect(versions('external.metrics.k8s.io')).toEqual(['v1beta1']);
  const path = '/apis/external.metrics.k8s.io/v1beta1';
  expect(await plane.client.request('GET', path)).toMatchObject({ kind: 'APIResourceList', resources: [] });
});
