import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ControlPlane, pod, startControlPlane } from '../../testkit/index.ts';
import { podType } from '../../testkit/types.ts';

let plane: ControlPlane;
const key = { namespace: 'default', name: 'p' };

beforeEach(async () => {
  plane = await startControlPlane();
  await plane.client.create(podType, pod({ name: 'p', spec: { nodeName: 'n1' } }));
});
afterEach(() => plane.stop());

test('ephemeral containers can be added through their subresource and then stay', async () => {
  const add = (name: string) =>
    plane.client.patch(
      podType,
      key,
      { type: 'strategic', body: { spec: { ephemeralContainers: [{ name, image: 'busybox:1' }] } } },
      { subresource: 'ephemeralcontainers' },
    );
  const changed = await add('debug');
  expect(changed.spec?.ephemeralContainers?.map(({ name }) => name)).toEqual(['debug']);
  expect(changed.metadata?.generation).toBe(2);
  const removal = plane.client.patch(
    podType,
    key,
    { type: 'merge', body: { spec: { ephemeralContainers: null } } },
    { subresource: 'ephemeralcontainers' },
  );
  await expect(removal).rejects.toThrow('existing ephemeral containers may not be removed or changed');
});

test('resize changes the resources of containers and nothing else', async () => {
  const resized = await plane.client.patch(
    podType,
    key,
    {
      type: 'strategic',
      body: { spec: { hostNetwork: true, containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }] } },
    },
    { subresource: 'resize' },
  );
  expect(resized.spec?.containers[0]?.resources).toEqual({ requests: { cpu: '2' } });
  expect(resized.spec?.hostNetwork).toBeUndefined();
});

test('23.4: what leads into a container says when none runs', async () => {
  const path = '/api/v1/namespaces/default/pods/p';
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
  const notRunning: Readonly<Record<string, object>> = {
    exec: { code: 404, message: 'unable to upgrade connection: container not found ("main")' },
    attach: { code: 404, message: 'unable to upgrade connection: container not found ("main")' },
    portforward: {
      code: 400,
      message: 'unable to forward port because pod is not running. Current status=Pending',
    },
  };
  for (const [part, refusal] of Object.entries(notRunning)) {
    await expect(plane.client.request('GET', `${path}/${part}`)).rejects.toThrow('Upgrade request required');
    await expect(plane.client.request('GET', `${path}/${part}`, undefined, upgrade)).rejects.toMatchObject(refusal);
  }
  await expect(plane.client.request('GET', `${path}/proxy/`)).rejects.toThrow('nothing runs behind a simulated node');
});

test('23.4: logs tell the life of a simulated container', async () => {
  const path = '/api/v1/namespaces/default/pods/p/log';
  await expect(plane.client.request('GET', path)).rejects.toThrow('is waiting to start');
  await expect(plane.client.request('GET', `${path}?container=other`)).rejects.toThrow('container other is not valid');
  const started = { startedAt: '2026-01-01T00:00:00Z' };
  const show = async (state: object): Promise<void> => {
    const body = {
      status: { containerStatuses: [{ name: 'main', image: 'x', imageID: '', ready: true, restartCount: 0, state }] },
    };
    await plane.client.patch(podType, key, { type: 'merge', body }, { subresource: 'status' });
  };
  await show({ running: started });
  expect(await plane.client.request('GET', path)).toBe(
    '2026-01-01T00:00:00Z container main on simulated node n1 started\n',
  );
  await show({ running: null, terminated: { ...started, finishedAt: '2026-01-01T00:01:00Z', exitCode: 3 } });
  expect(await plane.client.request('GET', `${path}?tailLines=1`)).toBe(
    '2026-01-01T00:01:00Z container main on simulated node n1 ended with exit code 3\n',
  );
});
