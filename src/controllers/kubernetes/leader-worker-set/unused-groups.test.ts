import { expect, test } from 'vitest';
import { controllerReference } from '../../../api/core/owner.ts';
import { type LeaderWorkerSet, leaderWorkerSetType, LWS } from '../../../api/lws/types.ts';
import { podType } from '../../../api/resource-types.ts';
import type { ControllerContext } from '../../../machinery/runtime/index.ts';
import { startControlPlane } from '../../../testkit/index.ts';
import { indexByController } from '../../shared/pod-control/index.ts';
import { podGroupType, workloadType } from '../../shared/workload-groups/index.ts';
import { ensureGangs } from './ensure-gangs.ts';

test('ensureGangs() keeps the group of a leader that it has not seen yet, and removes what nobody names', async () => {
  let context: ControllerContext | undefined;
  const probe = {
    name: 'probe',
    start: (given: ControllerContext) => {
      context = given;
      return { name: 'probe', queues: [] };
    },
  };
  const plane = await startControlPlane({ controllers: [probe] });
  try {
    const { client } = plane;
    const { eventsFor, informers } = context as ControllerContext;
    const set = (await client.create(leaderWorkerSetType, {
      metadata: { name: 'llm', namespace: 'default' },
      spec: { scheduling: {}, leaderWorkerTemplate: { workerTemplate: { spec: { containers: [{ name: 'c' }] } } } },
    } as LeaderWorkerSet)) as LeaderWorkerSet;
    const labels = (index: string) => ({ [LWS.name]: 'llm', [LWS.groupIndex]: index });
    const group = (name: string, index: string) => ({
      metadata: {
        name,
        namespace: 'default',
        labels: labels(index),
        ownerReferences: [controllerReference(leaderWorkerSetType, set)],
      },
      spec: { schedulingPolicy: { gang: { minCount: 1 } } },
    });
    await client.create(podGroupType, group('of-a-leader', '0'));
    await client.create(podGroupType, group('of-nobody', '1'));
    await client.create(podType, {
      // A worker is left as it is made; a leader would be given a group of its own.
      metadata: {
        name: 'llm-0-1',
        namespace: 'default',
        labels: { ...labels('0'), [LWS.workerIndex]: '1' },
        annotations: { [LWS.workloadName]: 'llm' },
      },
      spec: {
        containers: [{ name: 'c', image: 'example.com/app' }],
        schedulingGroup: { podGroupName: 'of-a-leader' },
      },
    });
    const podGroups = informers.of(podGroupType);
    const workloads = informers.of(workloadType);
    podGroups.addIndex('lws', ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[LWS.name]}`]);
    indexByController(workloads);
    await Promise.all([podGroups.whenSynced(), workloads.whenSynced()]);
    await plane.settle();
    const deps = { client, events: eventsFor('test'), type: leaderWorkerSetType, workloads, podGroups };

    await ensureGangs(deps, set, { groups: [], pods: [] });
    const left = (await client.list(podGroupType)).items.filter(({ metadata }) => !metadata.deletionTimestamp);
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['of-a-leader']);
  } finally {
    await plane.stop();
  }
});
