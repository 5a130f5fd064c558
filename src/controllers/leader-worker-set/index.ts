import { controllerOf } from '../../api/core/owner.ts';
import {
  fromKruise,
  type KruiseLeaderWorkerSet,
  kruiseLeaderWorkerSetType,
  type LeaderWorkerSet,
  leaderWorkerSetType,
  LWS,
} from '../../api/lws/types.ts';
import { type KubeObject, keyOf, type ObjectKey, type ResourceType } from '../../api/resource.ts';
import { podType, serviceType, statefulSetType } from '../../api/resource-types.ts';
import {
  type ControllerContext,
  type RunningController,
  runController,
  type StartController,
} from '../../machinery/runtime/index.ts';
import { indexByController } from '../pod-control/index.ts';
import { podGroupType, workloadType } from '../workload-groups/index.ts';
import { reconcileLeaderWorkerSet } from './reconcile.ts';

export { decideGang } from './gang.ts';

/** Keeps LeaderWorkerSets: both spellings, through the same code. */
export const startLeaderWorkerSetController: StartController = (context): RunningController => {
  const canonical = context.informers.of(leaderWorkerSetType);
  const kruise = context.informers.of(kruiseLeaderWorkerSetType);
  return {
    name: 'leader-worker-set',
    queues: [
      start(context, {
        name: 'leader-worker-set',
        type: leaderWorkerSetType,
        informer: canonical,
        get: (key) => canonical.get(key),
        writeStatus: async (lws, status) => {
          await context.client.updateStatus(leaderWorkerSetType, { ...lws, status });
        },
      }),
      start(context, {
        name: 'leader-worker-set-kruise',
        type: kruiseLeaderWorkerSetType as ResourceType<LeaderWorkerSet>,
        informer: kruise,
        get: (key) => {
          const found = kruise.get(key);
          return found === undefined ? undefined : fromKruise(found);
        },
        writeStatus: async (lws, status) => {
          const original = kruise.get({ namespace: lws.metadata.namespace, name: lws.metadata.name ?? '' });
          if (original !== undefined) {
            await context.client.updateStatus<KruiseLeaderWorkerSet>(kruiseLeaderWorkerSetType, {
              ...original,
              status,
            });
          }
        },
      }),
    ],
  };
};

interface Spelling {
  readonly name: string;
  readonly type: ResourceType<LeaderWorkerSet>;
  readonly informer: {
    whenSynced(): Promise<void>;
    addHandler(handler: {
      added(o: KubeObject): void;
      updated(o: KubeObject): void;
      deleted(o: KubeObject): void;
    }): unknown;
  };
  readonly get: (key: ObjectKey) => LeaderWorkerSet | undefined;
  readonly writeStatus: (lws: LeaderWorkerSet, status: LeaderWorkerSet['status']) => Promise<void>;
}

function start(context: ControllerContext, spelling: Spelling) {
  const { client, clock, informers } = context;
  const pods = informers.of(podType);
  const statefulSets = informers.of(statefulSetType);
  const services = informers.of(serviceType);
  const workloads = informers.of(workloadType);
  const podGroups = informers.of(podGroupType);
  const setOf = ({ metadata }: KubeObject): string[] => {
    const name = metadata.labels?.[LWS.name];
    return name === undefined ? [] : [`${metadata.namespace}/${name}`];
  };
  pods.addIndex('lws', setOf);
  podGroups.addIndex('lws', setOf);
  indexByController(workloads);
  // The leaders' own StatefulSet carries the label too, but belongs to the set and not to a leader.
  statefulSets.addIndex('lws', (set) => (controllerOf(set)?.kind === 'Pod' ? setOf(set) : []));

  const events = context.eventsFor('leaderworkerset');
  const deps = { client, clock, events, pods, statefulSets, services, workloads, podGroups, ...spelling };
  const { queue } = runController({
    name: spelling.name,
    context,
    ready: async () => {
      const informed = [spelling.informer, pods, statefulSets, services, workloads, podGroups];
      await Promise.all(informed.map((informer) => informer.whenSynced()));
    },
    reconcile: (key) => reconcileLeaderWorkerSet(deps, key),
  });
  const wake = (object: KubeObject): void => {
    for (const key of setOf(object)) queue.add(key);
  };
  spelling.informer.addHandler({
    added: (lws) => queue.add(keyOf(lws)),
    updated: (lws) => queue.add(keyOf(lws)),
    deleted: () => {},
  });
  for (const informer of [pods, statefulSets, podGroups]) {
    informer.addHandler({ added: wake, updated: wake, deleted: wake });
  }
  return queue;
}
