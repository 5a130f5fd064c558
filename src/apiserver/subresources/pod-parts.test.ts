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

test('what leads into a container answers at once with a Status', async () => {
  const path = '/api/v1/namespaces/default/pods/p';
  await expect(plane.client.request('GET', `${path}/log`)).rejects.toThrow('node n1 is simulated and keeps no logs');
  await expect(plane.client.request('GET', `${path}/exec`)).rejects.toThrow('Upgrade request required');
  await expect(plane.client.request('GET', `${path}/proxy/`)).rejects.toThrow('nothing runs behind a simulated node');
});
