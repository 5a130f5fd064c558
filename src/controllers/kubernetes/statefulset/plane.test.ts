import { afterEach, expect, test } from 'vitest';
import type { StatefulSet, StatefulSetSpec } from '../../../api/generated/apps-v1.ts';
import {
  controllerRevisionType,
  persistentVolumeClaimType,
  podType,
  statefulSetType,
} from '../../../api/resource-types.ts';
import { createSimulatedNodes } from '../../../nodes/index.ts';
import { type ControlPlane, startControlPlane } from '../../../testkit/index.ts';
import { statefulSetController } from './index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const SECOND = 1000;
async function start(): Promise<ControlPlane> {
  plane = await startControlPlane({
    controllers: [createSimulatedNodes({ count: 1 }), statefulSetController],
  });
  return plane;
}
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { nodeName: 'node-0', containers: [{ name: 'main', image }] },
});
const web = (spec: Partial<StatefulSetSpec> = {}): StatefulSet => ({
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    serviceName: 'web',
    template: template('web:1'),
    ...spec,
  },
});
const key = { namespace: 'default', name: 'web' };
const patch = ({ client }: ControlPlane, spec: object) =>
  client.patch(statefulSetType, key, { type: 'merge', body: { spec } });
const images = async ({ client }: ControlPlane): Promise<string[]> =>
  (await client.list(podType, { namespace: 'default' })).items.map(
    ({ metadata, spec }) => `${metadata.name}=${spec?.containers[0]?.image}`,
  );

test('a StatefulSet starts its pods in order, each with its identity', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(statefulSetType, web());
  // No simulated pod starts within this time.
  await clock.advance(40);
  expect((await client.list(podType, { namespace: 'default' })).items).toHaveLength(1);
  await clock.advance(5 * SECOND);
  const { items } = await client.list(podType, { namespace: 'default' });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['web-0', 'web-1', 'web-2']);
  expect(items[1]?.spec).toMatchObject({ hostname: 'web-1', subdomain: 'web' });
  expect(items[1]?.metadata.labels).toMatchObject({
    'statefulset.kubernetes.io/pod-name': 'web-1',
    'apps.kubernetes.io/pod-index': '1',
  });
  const { status } = await client.get(statefulSetType, key);
  expect(status).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3, currentReplicas: 3 });
  expect(status?.currentRevision).toBe(status?.updateRevision);
});

test('a StatefulSet rolls out from the highest ordinal, stops at the partition, and rolls back', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(statefulSetType, web());
  await clock.advance(5 * SECOND);
  await patch(running, {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
    template: template('web:2'),
  });
  await clock.advance(10 * SECOND);
  expect(await images(running)).toEqual(['web-0=web:1', 'web-1=web:1', 'web-2=web:2']);
  const canary = await client.get(statefulSetType, key);
  expect(canary.status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });

  await client.delete(podType, { namespace: 'default', name: 'web-0' });
  await clock.advance(5 * SECOND);
  expect((await images(running))[0]).toBe('web-0=web:1');

  await patch(running, { updateStrategy: { rollingUpdate: { partition: 0 } } });
  await clock.advance(20 * SECOND);
  expect(await images(running)).toEqual(['web-0=web:2', 'web-1=web:2', 'web-2=web:2']);
  await patch(running, { template: template('web:1') });
  await clock.advance(20 * SECOND);
  expect(await images(running)).toEqual(['web-0=web:1', 'web-1=web:1', 'web-2=web:1']);
  const revisions = (await client.list(controllerRevisionType, { namespace: 'default' })).items;
  expect(new Set(revisions.map(({ revision }) => revision))).toEqual(new Set([2, 3]));
});

test('a StatefulSet scales down from the top and keeps or drops claims as its policy says', async () => {
  const running = await start();
  const { client, clock } = running;
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Retain', whenScaled: 'Delete' };
  await client.create(statefulSetType, web({ volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy }));
  await clock.advance(5 * SECOND);
  const claims = async () =>
    (await client.list(persistentVolumeClaimType, { namespace: 'default' })).items.map(({ metadata }) => [
      metadata.name,
      ...(metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`),
    ]);
  expect(await claims()).toEqual([['data-web-0'], ['data-web-1'], ['data-web-2']]);
  await patch(running, { replicas: 2 });
  await clock.advance(5 * SECOND);
  expect(await claims()).toEqual([['data-web-0'], ['data-web-1'], ['data-web-2', 'Pod web-2']]);
  expect((await client.list(podType, { namespace: 'default' })).items).toHaveLength(2);
});

test('a StatefulSet replaces a pod that failed', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(statefulSetType, web({ replicas: 1 }));
  await clock.advance(2 * SECOND);
  const pod = { namespace: 'default', name: 'web-0' };
  const before = await client.get(podType, pod);
  const failed = { type: 'merge', body: { status: { phase: 'Failed' } } } as const;
  await client.patch(podType, pod, failed, { subresource: 'status' });
  await clock.advance(5 * SECOND);
  const after = await client.get(podType, pod);
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(after.status?.phase).toBe('Running');
});
