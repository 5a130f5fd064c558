import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeType, podType } from '../../src/api/resource-types.ts';
import { podGroupType, type SchedulingVersion } from '../../src/api/scheduling/index.ts';
import { type ClusterScheduler, startClusterScheduler } from '../../src/app/index.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { node, pod } from '../../src/testkit/index.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';

const hosts = [
  {
    minor: '1.36',
    version: 'v1alpha2',
    condition: 'PodGroupScheduled',
    gates: 'GenericWorkload=true,GangScheduling=true',
  },
  { minor: '1.37', version: 'v1beta1', condition: 'PodGroupInitiallyScheduled', gates: 'GenericWorkload=true' },
] as const;

const schedulerName = 'quorate-scheduler';

/** Our scheduler beside the real one: each binds only the pods that name it. */
for (const { condition, gates, minor, version } of hosts) {
  describe(`our scheduler on the real API server ${minor}`, () => {
    let plane: RealControlPlane;
    let client: Client;
    let scheduler: ClusterScheduler;

    beforeAll(async () => {
      plane = await startRealControlPlane({
        minor,
        components: ['kube-scheduler'],
        featureGates: gates,
        runtimeConfig: `scheduling.k8s.io/${version}=true`,
        flags: { 'kube-apiserver': ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'] },
      });
      client = createNetworkClient(plane, 'quorate-test');
      for (const name of ['a', 'b']) {
        await client.create(nodeType, node({ name, capacity: { cpu: '2', memory: '8Gi', pods: '10' } }));
      }
      scheduler = await startClusterScheduler({ kubeconfig: plane.kubeconfig, log: silentLogger });
    });
    afterAll(async () => {
      scheduler?.stop();
      await plane?.stop();
    });

    const soon = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 120_000, interval: 200 });
    const bound = async (prefix: string): Promise<string[]> => {
      const { items } = await client.list(podType, { namespace: 'default' });
      return items
        .filter(({ metadata, spec }) => metadata.name?.startsWith(prefix) && spec?.nodeName)
        .map(({ metadata }) => metadata.name ?? '')
        .sort();
    };
    const add = (name: string, over: object = {}) => {
      const containers = [{ name: 'main', image: 'main', resources: { requests: { cpu: '1' } } }];
      return client.create(podType, pod({ name, spec: { containers, schedulerName, ...over } }));
    };
    const remove = (name: string) => client.delete(podType, { namespace: 'default', name }, { gracePeriodSeconds: 0 });

    test('S4-01 S4-03 S4-04 gangs are bound whole or not at all, and the PodGroup says which', async () => {
      const type = podGroupType(version as SchedulingVersion);
      const gang = (name: string) => ({
        metadata: { name, namespace: 'default' },
        spec: { schedulingPolicy: { gang: { minCount: 3 } } },
      });
      const statusOf = async (name: string) => {
        const group = (await client.get(type, { namespace: 'default', name })) as {
          status?: { conditions?: { type: string; status: string; reason: string }[] };
        };
        const found = group.status?.conditions?.find((each) => each.type === condition);
        return found && `${found.status} ${found.reason}`;
      };
      for (const name of ['first', 'second']) {
        await client.create(type, gang(name));
        for (const index of [0, 1, 2]) await add(`${name}-${index}`, { schedulingGroup: { podGroupName: name } });
      }
      await soon(() => bound('first')).toEqual(['first-0', 'first-1', 'first-2']);
      await soon(() => statusOf('first')).toBe('True Scheduled');
      await soon(() => statusOf('second')).toBe('False Unschedulable');
      expect(await bound('second')).toEqual([]);
      for (const index of [0, 1, 2]) await remove(`first-${index}`);
      await soon(() => bound('second')).toEqual(['second-0', 'second-1', 'second-2']);
      for (const index of [0, 1, 2]) await remove(`second-${index}`);
    });

    test('pods of the other scheduler are left to it, and counted', async () => {
      await add('theirs', { schedulerName: 'default-scheduler' });
      await soon(() => bound('theirs')).toEqual(['theirs']);
      for (const index of [0, 1, 2, 3]) await add(`ours-${index}`);
      await soon(() => bound('ours')).toHaveLength(3);
      const waiting = async () => {
        const { items } = await client.list(podType, { namespace: 'default' });
        const pending = items.find(({ metadata, spec }) => metadata.name?.startsWith('ours') && !spec?.nodeName);
        return pending?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
      };
      await soon(waiting).toContain('0/2 nodes are available: 2 Insufficient cpu.');
    });
  });
}
