import { expect, test } from 'vitest';
import { builtinType } from '../../../api/registry.ts';
import { configMapType } from '../../../api/resource-types.ts';
import { type Client, isNotFound } from '../../../machinery/runtime/index.ts';
import { startControlPlane } from '../../../testkit/index.ts';
import { garbageCollector } from './index.ts';

const OWNERS = 500;

/** The same client, and how often it was asked what the server serves. */
function counted(client: Client): { client: Client; discoveries: () => number } {
  let discoveries = 0;
  const request: Client['request'] = (method, path, ...rest) => {
    if (path === '/apis') discoveries++;
    return client.request(method, path, ...rest);
  };
  const get = (target: Client, name: string): unknown => {
    const member: unknown = Reflect.get(target, name);
    return typeof member === 'function' ? (member.bind(target) as unknown) : member;
  };
  const proxy = new Proxy(client, {
    get: (target, name) => (name === 'request' ? request : get(target, String(name))),
  });
  return { client: proxy, discoveries: () => discoveries };
}

test('17.11: many owners of an unknown kind are one question to discovery, and wait until the kind is known', async () => {
  let discoveries = (): number => 0;
  const plane = await startControlPlane({
    controllers: [
      {
        name: 'counted',
        start(context) {
          const watched = counted(context.client);
          discoveries = watched.discoveries;
          return garbageCollector.start({ ...context, client: watched.client });
        },
      },
    ],
  });
  try {
    const ownerReferences = Array.from({ length: OWNERS }, (_, at) => ({
      apiVersion: 'later.example.com/v1',
      kind: 'Later',
      name: `o${at}`,
      uid: `uid-${at}`,
    }));
    const key = { namespace: 'default', name: 'owned' };
    await plane.client.create(configMapType, { metadata: { ...key, ownerReferences } });
    await plane.settle();
    expect(discoveries()).toBeLessThanOrEqual(2);
    await plane.client.get(configMapType, key);

    const names = { plural: 'laters', singular: 'later', kind: 'Later', listKind: 'LaterList' };
    const schema = { openAPIV3Schema: { type: 'object' } };
    await plane.client.create(builtinType('CustomResourceDefinition', 'apiextensions.k8s.io'), {
      metadata: { name: 'laters.later.example.com' },
      spec: {
        group: 'later.example.com',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    } as never);
    // All owners turn out to be gone.
    const isGone = async (): Promise<boolean> => {
      await plane.clock.advance(1000);
      await plane.settle();
      return plane.client.get(configMapType, key).then(
        () => false,
        (error: unknown) => isNotFound(error),
      );
    };
    await expect.poll(isGone, { timeout: 60_000 }).toBe(true);
  } finally {
    await plane.stop();
  }
});
