import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import {
  deploymentType,
  namespaceType,
  podType,
  replicaSetType,
  serviceAccountType,
} from '../../src/api/resource-types.ts';
import { runComponents } from '../../src/app/run-components.ts';
import { createDeploymentController } from '../../src/controllers/kubernetes/deployment/index.ts';
import { createReplicaSetController } from '../../src/controllers/kubernetes/replicaset/index.ts';
import { type Client, silentLogger, systemClock, type Transport } from '../../src/machinery/runtime/index.ts';
import { deployment, pod, replicaSet } from '../../src/testkit/objects.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkTransport } from '../kubernetes/network-client.ts';

/** Our ReplicaSet and Deployment controllers in place of the controller manager, on the real API server. */
describe('replica controllers on a real API server', () => {
  let plane: RealControlPlane;
  let client: Client;
  let stop = (): void => {};
  const namespace = 'replicas';

  beforeAll(async () => {
    plane = await startRealControlPlane({ components: [] });
    const transport: Transport = createNetworkTransport(plane);
    const host = { transportFor: () => transport, clock: systemClock, log: silentLogger };
    const components = runComponents(host, [createReplicaSetController(), createDeploymentController()]);
    client = components.client;
    stop = () => components.stop();
    await client.create(namespaceType, { metadata: { name: namespace } });
    await client.create(serviceAccountType, { metadata: { name: 'default', namespace } });
  });
  afterAll(async () => {
    stop();
    await plane?.stop();
  });

  const soon = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 120_000, interval: 100 });
  const at = (name: string) => ({ namespace, name });
  const pods = async (app: string): Promise<Pod[]> =>
    (await client.list(podType, { namespace, labelSelector: `app=${app}` })).items;
  const sets = async (app: string): Promise<ReplicaSet[]> =>
    (await client.list(replicaSetType, { namespace, labelSelector: `app=${app}` })).items;

  /** Reports every pending pod as Ready, as a kubelet would. */
  async function bringUp(app: string): Promise<void> {
    for (const { metadata, status } of await pods(app)) {
      if (status?.phase !== 'Pending') continue;
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }];
      const patch = { type: 'strategic', body: { status: { phase: 'Running', conditions } } } as const;
      await client.patch(podType, at(metadata.name ?? ''), patch, { subresource: 'status' });
    }
  }

  test('a Deployment rolls out, rolls on and rolls back', async () => {
    const made = deployment({ name: 'web', namespace, replicas: 3 });
    await client.create(deploymentType, made);
    const progress = async () => {
      await bringUp('web');
      const { metadata, spec, status } = await client.get(deploymentType, at('web'));
      return {
        image: spec?.template.spec?.containers[0]?.image,
        revision: metadata.annotations?.['deployment.kubernetes.io/revision'],
        updated: status?.updatedReplicas,
        available: status?.availableReplicas,
        total: status?.replicas,
        // The counts are of the generation observed: without it, those of the rollout before look like this one's.
        observed: status?.observedGeneration === metadata.generation,
      };
    };
    const done = (image: string, revision: string) => ({
      image,
      revision,
      updated: 3,
      available: 3,
      total: 3,
      observed: true,
    });
    const first = 'registry.k8s.io/pause:3.10';
    await soon(progress).toEqual(done(first, '1'));
    const containers = [{ name: 'main', image: 'next' }];
    const template = { spec: { template: { spec: { containers } } } };
    await client.patch(deploymentType, at('web'), { type: 'strategic', body: template });
    await soon(progress).toEqual(done('next', '2'));
    const annotations = { 'deprecated.deployment.rollback.to': '1' };
    await client.patch(deploymentType, at('web'), { type: 'merge', body: { metadata: { annotations } } });
    await soon(progress).toEqual(done(first, '3'));
    expect(new Set((await sets('web')).map(({ spec }) => spec?.replicas))).toEqual(new Set([0, 3]));
  });

  test('a ReplicaSet adopts what matches and releases what no longer does', async () => {
    await client.create(podType, pod({ name: 'orphan', namespace, labels: { app: 'own' } }));
    const owner = await client.create(replicaSetType, replicaSet({ name: 'own', namespace, replicas: 1 }));
    const ownersOf = async () =>
      (await client.get(podType, at('orphan'))).metadata.ownerReferences?.map(({ uid }) => uid) ?? [];
    await soon(ownersOf).toEqual([owner.metadata.uid]);
    expect(await pods('own')).toHaveLength(1);
    await client.patch(podType, at('orphan'), { type: 'merge', body: { metadata: { labels: { app: 'gone' } } } });
    await soon(ownersOf).toEqual([]);
    await soon(async () => (await pods('own')).length).toBe(1);
    await client.patch(replicaSetType, at('own'), { type: 'merge', body: { spec: { replicas: 0 } } });
    await soon(async () => (await pods('own')).length).toBe(0);
  });
});
