import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import { isNotFound } from '../../../machinery/runtime/index.ts';
import { POWER, createSimulatedNodes } from '../../../nodes/index.ts';
import { type ControlPlane, pod, startControlPlane } from '../../../testkit/index.ts';
import { podGcController } from '../pod-gc/index.ts';
import { taintEvictionController } from '../taint-eviction/index.ts';
import { createNodeLifecycleController } from './index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const SECOND = 1000;
async function threeNodes(): Promise<ControlPlane> {
  plane = await startControlPlane({
    controllers: [
      createSimulatedNodes({ count: 3 }),
      createNodeLifecycleController(),
      taintEvictionController,
      podGcController,
    ],
  });
  await plane.settle();
  return plane;
}
const key = (name: string) => ({ namespace: 'default', name });
const patient = (name: string, seconds: number): Pod =>
  pod({
    name,
    spec: {
      nodeName: 'node-0',
      tolerations: ['not-ready', 'unreachable'].map((reason) => ({
        key: `node.kubernetes.io/${reason}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: seconds,
      })),
    },
  });
const setPower = ({ client }: ControlPlane, value: string | null) =>
  client.patch(
    nodeType,
    { name: 'node-0' },
    { type: 'merge', body: { metadata: { annotations: { [POWER]: value } } } },
  );
const taintsOf = async ({ client }: ControlPlane): Promise<string[]> =>
  ((await client.get(nodeType, { name: 'node-0' })).spec?.taints ?? []).map(
    ({ effect, key: name }) => `${name.slice(19)}:${effect}`,
  );
const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((condition) => condition.type === type);

test('a node that lost power turns Unknown, is tainted, and its pods are unready, then evicted', async () => {
  const running = await threeNodes();
  const { client, clock } = running;
  await client.create(podType, patient('a', 300));
  await clock.advance(5 * SECOND);
  await setPower(running, 'off');
  await clock.advance(45 * SECOND);
  expect(await taintsOf(running)).toEqual([]);
  await clock.advance(20 * SECOND);
  const node = await client.get(nodeType, { name: 'node-0' });
  expect(node.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
  });
  expect(await taintsOf(running)).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
  expect(conditionOf(await client.get(podType, key('a')), 'Ready')?.status).toBe('False');

  await clock.advance(310 * SECOND);
  const evicted = await client.get(podType, key('a'));
  expect(evicted.metadata.deletionTimestamp).toBeDefined();
  expect(conditionOf(evicted, 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'DeletionByTaintManager' });
});

test('a node that comes back in time keeps its pods', async () => {
  const running = await threeNodes();
  const { client, clock } = running;
  await client.create(podType, patient('a', 300));
  await clock.advance(5 * SECOND);
  await setPower(running, 'off');
  await clock.advance(120 * SECOND);
  await setPower(running, null);
  await clock.advance(600 * SECOND);
  expect(await taintsOf(running)).toEqual([]);
  const kept = await client.get(podType, key('a'));
  expect(kept.metadata.deletionTimestamp).toBeUndefined();
  expect(conditionOf(kept, 'Ready')?.status).toBe('True');
});

test('a NoExecute taint evicts pods that do not tolerate it, and spares those it is lifted from in time', async () => {
  const running = await threeNodes();
  const { client, clock } = running;
  await client.create(podType, pod({ name: 'intolerant', spec: { nodeName: 'node-0' } }));
  const tolerations = [{ key: 'evict', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];
  await client.create(podType, pod({ name: 'patient', spec: { nodeName: 'node-0', tolerations } }));
  await clock.advance(5 * SECOND);
  const taint = (taints: object[]) =>
    client.patch(nodeType, { name: 'node-0' }, { type: 'merge', body: { spec: { taints } } });
  await taint([{ key: 'evict', value: 'now', effect: 'NoExecute' }]);
  await clock.advance(5 * SECOND);
  await expect(client.get(podType, key('intolerant'))).rejects.toSatisfy(isNotFound);
  await taint([]);
  await clock.advance(120 * SECOND);
  expect((await client.get(podType, key('patient'))).metadata.deletionTimestamp).toBeUndefined();
});

test('pods of a node that was deleted are removed after the quarantine', async () => {
  const { client, clock } = await threeNodes();
  await client.create(podType, pod({ name: 'a', spec: { nodeName: 'node-0' } }));
  await clock.advance(5 * SECOND);
  await client.delete(nodeType, { name: 'node-0' });
  await clock.advance(30 * SECOND);
  expect((await client.get(podType, key('a'))).status?.phase).toBe('Running');
  await clock.advance(60 * SECOND);
  await expect(client.get(podType, key('a'))).rejects.toSatisfy(isNotFound);
});
