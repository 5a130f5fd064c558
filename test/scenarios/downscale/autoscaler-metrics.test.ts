/** Autoscalers that follow a queue or the work of their pods, on the metrics that users set. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HorizontalPodAutoscaler, MetricSpec } from '../../../src/api/generated/autoscaling-v2.ts';
import {
  configMapType,
  deploymentType,
  horizontalPodAutoscalerType,
  podType,
} from '../../../src/api/resource-types.ts';
import { horizontalPodAutoscalerController } from '../../../src/controllers/kubernetes/horizontal-pod-autoscaler/index.ts';
import { deployment } from '../../../src/testkit/index.ts';
import { startWorld, type World } from './world.ts';

let w: World;
beforeEach(async () => {
  w = await startWorld({ starts: [horizontalPodAutoscalerController] });
});
afterEach(() => w.stop());

const key = { namespace: 'default', name: 'web' };
const queueLength = (target: object): MetricSpec => ({
  type: 'External',
  external: {
    metric: { name: 'queue_length', selector: { matchLabels: { queue: 'default' } } },
    target: target as { type: string },
  },
});

async function workers(replicas: number): Promise<void> {
  await w.client.create(deploymentType, deployment({ ...key, replicas }));
  await w.settle();
  await w.bringAll();
  await w.settle();
}

async function autoscale(metrics: MetricSpec[], behavior: object = {}): Promise<void> {
  await w.client.create(horizontalPodAutoscalerType, {
    metadata: key,
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics,
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 }, ...behavior },
    },
  });
  await w.settle();
}

const size = async () => (await w.client.get(deploymentType, key)).spec?.replicas;
const status = async () => (await w.client.get(horizontalPodAutoscalerType, key)).status;
const condition = (all: HorizontalPodAutoscaler['status'], type: string) =>
  all?.conditions?.find((candidate) => candidate.type === type);

const told = async (reason: string) =>
  (await w.events('web')).flatMap((event) => (event.reason === reason ? [event.message] : []));

const setQueue = async (length: string): Promise<void> => {
  await w.client.patch(
    configMapType,
    { ...key, name: 'queue' },
    { type: 'merge', body: { data: { queue_length: length } } },
  );
};

test('External: the length of a queue sizes its workers, up by policy and down again', async () => {
  await workers(2);
  const labels = { 'metrics.quorate.dev/external': 'true', queue: 'default' };
  await w.client.create(configMapType, { metadata: { ...key, name: 'queue', labels }, data: { queue_length: '60' } });
  const scaleUp = { policies: [{ type: 'Pods', value: 3, periodSeconds: 15 }] };
  await autoscale([queueLength({ type: 'AverageValue', averageValue: '10' })], { scaleUp });
  expect(await size()).toBe(5);
  const limited = await status();
  expect(condition(limited, 'ScalingLimited')).toMatchObject({ status: 'True', reason: 'ScaleUpLimit' });
  expect(condition(limited, 'ScalingActive')).toMatchObject({ status: 'True', reason: 'ValidMetricFound' });
  expect(limited?.currentMetrics).toEqual([
    {
      type: 'External',
      external: {
        metric: { name: 'queue_length', selector: { matchLabels: { queue: 'default' } } },
        current: { averageValue: '30' },
      },
    },
  ]);
  expect(await told('SuccessfulRescale')).toEqual([
    'New size: 5; reason: external metric queue_length(&LabelSelector{MatchLabels:map[string]string{queue: default,},' +
      'MatchExpressions:[]LabelSelectorRequirement{},}) above target',
  ]);
  await w.bringAll();
  await w.advance(15_000);
  expect(await size()).toBe(6);
  await w.bringAll();
  await setQueue('15');
  await w.advance(15_000);
  expect(await size()).toBe(2);
});

test('Pods: what each pod has to do sizes the Deployment, and unmeasured pods hold it back', async () => {
  await workers(4);
  for (const [at, name] of (await w.alive()).entries()) {
    if (at === 3) continue;
    const body = { metadata: { annotations: { 'metrics.quorate.dev/tasks': '1' } } };
    await w.client.patch(podType, { namespace: 'default', name }, { type: 'merge', body });
  }
  await w.settle();
  const target = { type: 'AverageValue', averageValue: '2' };
  await autoscale([{ type: 'Pods', pods: { metric: { name: 'tasks' }, target } }]);
  // The fourth is taken to have two tasks: (1 + 1 + 1 + 2) / 2 per pod.
  expect(await size()).toBe(3);
  expect((await status())?.currentMetrics).toEqual([
    { type: 'Pods', pods: { metric: { name: 'tasks' }, current: { averageValue: '1' } } },
  ]);
});

test('Object: the measure of another object sizes the Deployment, by ratio or by share', async () => {
  await workers(2);
  const annotations = { 'metrics.quorate.dev/backlog': '90' };
  await w.client.create(configMapType, { metadata: { ...key, name: 'broker', annotations } });
  const describedObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'broker' };
  const object = { describedObject, metric: { name: 'backlog' }, target: { type: 'Value', value: '30' } };
  await autoscale([{ type: 'Object', object }]);
  expect(await size()).toBe(6);
  expect((await status())?.currentMetrics).toEqual([
    { type: 'Object', object: { describedObject, metric: { name: 'backlog' }, current: { value: '90' } } },
  ]);
  expect(await told('SuccessfulRescale')).toEqual(['New size: 6; reason: ConfigMap metric backlog above target']);
});

test('a metric that nobody set is told in events and condition; it vetoes a downscale, but not growth', async () => {
  await workers(4);
  const missing: MetricSpec = {
    type: 'Pods',
    pods: { metric: { name: 'tasks' }, target: { type: 'AverageValue', averageValue: '2' } },
  };
  const labels = { 'metrics.quorate.dev/external': 'true', queue: 'default' };
  await w.client.create(configMapType, { metadata: { ...key, name: 'queue', labels }, data: { queue_length: '10' } });
  await autoscale([missing, queueLength({ type: 'AverageValue', averageValue: '10' })]);
  expect(await size()).toBe(4);
  const why = 'unable to get metric tasks: no metrics returned from custom metrics API';
  expect(condition(await status(), 'ScalingActive')).toMatchObject({
    status: 'False',
    reason: 'FailedGetPodsMetric',
    message: `the HPA was unable to compute the replica count: ${why}`,
  });
  expect(await told('FailedGetPodsMetric')).toEqual([why]);
  expect(await told('FailedComputeMetricsReplicas')).toEqual([
    `invalid metrics (1 invalid out of 2), first error is: failed to get pods metric value: ${why}`,
  ]);
  expect((await status())?.currentMetrics?.map(({ type }) => type)).toEqual(['', 'External']);
  await setQueue('100');
  await w.advance(15_000);
  expect(await size()).toBe(8);
  expect(condition(await status(), 'ScalingActive')).toMatchObject({ status: 'True', reason: 'ValidMetricFound' });
});

test('two autoscalers that hold the same pods both stand still and say so, until one is gone', async () => {
  await workers(2);
  const labels = { 'metrics.quorate.dev/external': 'true', queue: 'default' };
  await w.client.create(configMapType, { metadata: { ...key, name: 'queue', labels }, data: { queue_length: '20' } });
  await autoscale([queueLength({ type: 'AverageValue', averageValue: '10' })]);
  const { spec } = await w.client.get(horizontalPodAutoscalerType, key);
  await w.client.create(horizontalPodAutoscalerType, { metadata: { ...key, name: 'second' }, spec });
  await w.settle();
  await setQueue('80');
  await w.advance(15_000);
  expect(await size()).toBe(2);
  const message = 'pods by selector app=web are controlled by multiple HPAs: [{web default} {second default}]';
  expect(condition(await status(), 'ScalingActive')).toMatchObject({
    status: 'False',
    reason: 'AmbiguousSelector',
    message,
  });
  expect(await told('AmbiguousSelector')).toEqual([message]);
  await w.client.delete(horizontalPodAutoscalerType, { ...key, name: 'second' });
  await w.settle();
  await w.advance(15_000);
  expect(await size()).toBe(6);
});

test('a tolerance of its own decides whether a small change is worth a move', async () => {
  await workers(4);
  const labels = { 'metrics.quorate.dev/external': 'true', queue: 'default' };
  await w.client.create(configMapType, { metadata: { ...key, name: 'queue', labels }, data: { queue_length: '42' } });
  await autoscale([queueLength({ type: 'AverageValue', averageValue: '10' })], { scaleUp: { tolerance: '0' } });
  expect(await size()).toBe(5);
});

test('targets that a source cannot have are refused with their path', async () => {
  const refused = async (metric: MetricSpec): Promise<string> =>
    autoscale([metric]).then(
      () => 'created',
      (error: Error) => error.message,
    );
  const value = { type: 'Value', value: '3' };
  expect(await refused({ type: 'Pods', pods: { metric: { name: 'm' }, target: value } })).toContain(
    'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
  );
  expect(await refused(queueLength({ ...value, averageValue: '1' }))).toContain(
    'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
  );
  const describedObject = { kind: '', name: 'x' };
  expect(
    await refused({ type: 'Object', object: { describedObject, metric: { name: 'm' }, target: value } }),
  ).toContain('spec.metrics[0].object.describedObject.kind: Required value');
});
