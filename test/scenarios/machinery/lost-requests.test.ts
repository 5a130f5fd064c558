/** What controllers do when requests of theirs fail: nothing may stay undone once requests go through again. */
import { afterEach, expect, test } from 'vitest';
import { systemAdmin, inProcessTransport } from '../../../src/apiserver/index.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { runComponents } from '../../../src/app/run-components.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { createPodGroupController } from '../../../src/controllers/quorate/pod-group/index.ts';
import {
  type Controller,
  settle,
  silentLogger,
  type Transport,
  type TransportRequest,
} from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, pod, podDisruptionBudget, startControlPlane } from '../../../src/testkit/index.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A plane, and a controller whose requests are lost while `isLost` says so. */
async function withLossy(
  controller: Controller,
  isLost: (request: TransportRequest) => boolean,
): Promise<ControlPlane> {
  const plane = await startControlPlane();
  stops.push(() => plane.stop());
  const direct = inProcessTransport(plane.server.handle, systemAdmin);
  const lossy: Transport = (request) =>
    isLost(request) ? Promise.reject(new Error('the connection was reset')) : direct(request);
  const host = { transportFor: () => lossy, clock: plane.clock, log: silentLogger, random: () => 0.5 };
  const components = runComponents(host, [controller]);
  stops.push(() => components.stop());
  await settle();
  return plane;
}

const key = { namespace: 'default', name: 'budget' };

test('a budget whose status could not be written several times in a row is counted again without any event', async () => {
  let lost = 0;
  let losing = true;
  const isWrite = ({ method, path }: TransportRequest): boolean =>
    method !== 'GET' && path.includes('/poddisruptionbudgets/budget/status');
  // Of two writes the first is lost: the count fails, and what says so gets through, again and again.
  const { client, clock } = await withLossy(createDisruptionController({}), (request) => {
    if (!losing || !isWrite(request)) return false;
    lost += 1;
    return lost % 2 === 1;
  });
  const labels = { app: 'a' };
  await client.create(podType, pod({ name: 'p', labels, spec: { nodeName: 'n' } }));
  await client.create(
    podDisruptionBudgetType,
    podDisruptionBudget({ spec: { minAvailable: 0, selector: { matchLabels: labels } } }),
  );
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.patch(
    podType,
    { ...key, name: 'p' },
    { type: 'merge', body: { status: ready } },
    { subresource: 'status' },
  );
  await settle();
  expect(lost).toBeGreaterThanOrEqual(3);
  losing = false;
  await clock.advance(120_000);
  const { status } = await client.get(podDisruptionBudgetType, key);
  expect(status).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 1 });
});

test('a PodGroup controller that starts while the API server is away works once it is back', async () => {
  let away = true;
  const { client, clock } = await withLossy(createPodGroupController(), () => away);
  const path = '/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups';
  const gang = { schedulingPolicy: { gang: { minCount: 1 } } };
  await client.request('POST', path, { metadata: { name: 'g' }, spec: gang });
  const member = { schedulingGroup: { podGroupName: 'g' }, nodeName: 'n' };
  await client.create(podType, pod({ name: 'p', spec: member }));
  away = false;
  await clock.advance(30_000);
  const group = await client.request<{ metadata: { finalizers?: string[] } }>('GET', `${path}/g`);
  expect(group.metadata.finalizers ?? []).not.toEqual([]);
});
