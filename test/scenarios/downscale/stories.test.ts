/** The four stories of the proposal, each with its picker as a process of its own. */
import { execFileSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import type { HorizontalPodAutoscaler, MetricSpec } from '../../../src/api/generated/autoscaling-v2.ts';
import {
  configMapType,
  deploymentType,
  horizontalPodAutoscalerType,
  podType,
  secretType,
} from '../../../src/api/resource-types.ts';
import { horizontalPodAutoscalerController } from '../../../src/controllers/kubernetes/horizontal-pod-autoscaler/index.ts';
import { deployment } from '../../../src/testkit/index.ts';
import { ExamplePicker } from './example-picker.ts';
import { startWorld, type World } from './world.ts';

let world: World | undefined;
let picker: ExamplePicker | undefined;
afterEach(async () => {
  await world?.stop();
  await picker?.stop();
  world = undefined;
  picker = undefined;
});

const MINUTE = 60_000;

async function start(file: string, environment: Record<string, string> = {}) {
  picker = await ExamplePicker.start(file, environment);
  world = await startWorld({ starts: [horizontalPodAutoscalerController] });
  return { picker, w: world };
}

/** A Deployment of Ready workers that ask for 100m of CPU each, and their names in order. */
async function workers(w: World, replicas: number, downscalePodPicker: ReturnType<ExamplePicker['field']>) {
  const containers = [{ name: 'main', image: 'worker', resources: { requests: { cpu: '100m' } } }];
  await w.client.create(
    deploymentType,
    deployment({ name: 'web', replicas, podSpec: { containers }, spec: { downscalePodPicker } }),
  );
  await w.settle();
  await w.bringAll();
  return (await w.alive()).sort();
}

/** What the pods of the simulation are seen to use. */
async function setCpu(w: World, cpu: string): Promise<void> {
  for (const name of await w.alive()) {
    const body = { metadata: { annotations: { 'nodes.quorate.dev/cpu': cpu } } };
    await w.client.patch(podType, { namespace: 'default', name }, { type: 'merge', body });
  }
  await w.settle();
}

const halfOfCpu: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};
const tenTasksEach: MetricSpec = {
  type: 'External',
  external: { metric: { name: 'queue_length' }, target: { type: 'AverageValue', averageValue: '10' } },
};

const autoscaler = (minReplicas: number, metric: MetricSpec): HorizontalPodAutoscaler => ({
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas,
    maxReplicas: 20,
    metrics: [metric],
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  },
});

/** Lets the autoscaler look once, and waits for what comes of it. */
async function autoscale(w: World, minReplicas: number, wanted: number, metric = halfOfCpu): Promise<void> {
  await w.advance(6 * MINUTE);
  await w.client.create(horizontalPodAutoscalerType, autoscaler(minReplicas, metric));
  await w.until(async () => (await w.alive()).length === wanted);
  await w.settle();
}

const hasPython = (() => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!hasPython)(
  'story 1: the queue of Airflow shrinks, its workers with it, and the least active go',
  async () => {
    const { picker: service, w } = await start('least_busy.py', { PICKER_TOKEN: 'tasks' });
    await w.client.create(secretType, {
      metadata: { name: 'picker', namespace: 'default' },
      data: { token: Buffer.from('tasks').toString('base64') },
    });
    const valueFrom = { secretKeyRef: { name: 'picker', key: 'token' } };
    const names = await workers(w, 6, service.field([{ name: 'Authorization', valueFrom }]));
    const tasks = [5, 0, 3, 9, 1, 7];
    for (const [index, name] of names.entries()) await service.report(name, { load: tasks[index] ?? 0 });
    await w.client.create(configMapType, {
      metadata: { name: 'airflow', namespace: 'default', labels: { 'metrics.quorate.dev/external': 'true' } },
      data: { queue_length: '30' },
    });
    await autoscale(w, 1, 3, tenTasksEach);
    expect((await w.alive()).sort()).toEqual([names[0], names[3], names[5]]);
    expect(
      (await w.client.get(horizontalPodAutoscalerType, { namespace: 'default', name: 'web' })).status,
    ).toMatchObject({
      currentReplicas: 6,
      desiredReplicas: 3,
      currentMetrics: [{ type: 'External', external: { current: { averageValue: '5' } } }],
    });
  },
);

test('story 2: an in-house scaler shrinks game shards, and the fewest players are hit', async () => {
  const { picker: service, w } = await start('least-busy.ts');
  const names = await workers(w, 4, service.field());
  const players = [12, 0, 4, 30];
  for (const [index, name] of names.entries()) await service.report(name, { load: players[index] ?? 0 });
  await w.scale(deploymentType, 'web', 2);
  await w.until(async () => (await w.alive()).length === 2);
  expect((await w.alive()).sort()).toEqual([names[0], names[3]]);
});

test('story 3: an autoscaler shrinks Spark workers to its minimum, and those with the fewest tasks go', async () => {
  const { picker: service, w } = await start('least-busy.ts');
  const names = await workers(w, 5, service.field());
  for (const [index, name] of names.entries()) await service.report(name, { load: index });
  await setCpu(w, '1m');
  await autoscale(w, 2, 2);
  expect((await w.alive()).sort()).toEqual(names.slice(3));
});

test('story 4: a website shrinks by its CPU and stays spread over its regions', async () => {
  const { picker: service, w } = await start('regional-spread.ts');
  const names = await workers(w, 6, service.field());
  const regions = ['eu', 'eu', 'eu', 'eu', 'us', 'ap'];
  for (const [index, name] of names.entries())
    await service.report(name, { region: regions[index] ?? '', load: index });
  await setCpu(w, '25m');
  await autoscale(w, 1, 3);
  expect((await w.alive()).sort()).toEqual(names.slice(3));
});
