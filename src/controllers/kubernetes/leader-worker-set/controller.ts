import { controllerOf } from '../../../api/core/owner.ts';
import {
  fromKruise,
  kruiseLeaderWorkerSetType,
  type LeaderWorkerSet,
  leaderWorkerSetType,
  LWS,
} from '../../../api/lws/types.ts';
import { keyOf, type KubeObject, type ObjectKey, type ResourceType } from '../../../api/resource.ts';
import {
  controllerRevisionType,
  nodeType,
  podType,
  serviceType,
  statefulSetType,
} from '../../../api/resource-types.ts';
import {
  type Controller,
  type ControllerContext,
  defineController,
  type Watchable,
  watch,
} from '../../../machinery/runtime/index.ts';
import { indexByController } from '../../shared/pod-control/index.ts';
import { podGroupType, workloadType } from '../../shared/workload-groups/index.ts';
import { type LeaderWorkerSetDeps, reconcileLeaderWorkerSet } from './reconcile.ts';

/** Keeps LeaderWorkerSets. Their two spellings go through the same code, each in a controller of its own. */
export const leaderWorkerSetController = controllerOfSpelling('leader-worker-set', canonicalSpelling);
export const kruiseLeaderWorkerSetController = controllerOfSpelling('leader-worker-set-kruise', kruiseSpelling);

/** One way to write a LeaderWorkerSet; the reconciler knows only the canonical form. */
interface Spelling {
  readonly type: ResourceType<LeaderWorkerSet>;
  readonly sets: Watchable;
  readonly get: (key: ObjectKey) => LeaderWorkerSet | undefined;
  readonly writeStatus: (lws: LeaderWorkerSet, status: LeaderWorkerSet['status']) => Promise<void>;
}

function controllerOfSpelling(name: string, spell: (context: ControllerContext) => Spelling): Controller {
  return defineController<LeaderWorkerSetDeps & Spelling>({
    name,
    deps: (context) => ({ ...gatherDeps(context), ...spell(context) }),
    watches: ({ podGroups, pods, services, sets, statefulSets }) => [
      watch(sets, { added: keyOf, updated: keyOf }),
      ...[pods, statefulSets, podGroups, services].map((informer) => watch<KubeObject>(informer, setOf)),
    ],
    reconcile: reconcileLeaderWorkerSet,
  });
}

/** The key of the set that an object belongs to. */
function setOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[LWS.name];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}

function gatherDeps(context: ControllerContext): Omit<LeaderWorkerSetDeps, keyof Spelling> {
  const { client, clock, informers } = context;
  const pods = informers.of(podType);
  const statefulSets = informers.of(statefulSetType);
  const workloads = informers.of(workloadType);
  const podGroups = informers.of(podGroupType);
  pods.addIndex('lws', setOf);
  podGroups.addIndex('lws', setOf);
  indexByController(workloads);
  const revisions = informers.of(controllerRevisionType);
  revisions.addIndex('lws', setOf);
  // The leaders' own StatefulSet carries the label too, but belongs to the set and not to a leader.
  statefulSets.addIndex('lws', (set) => (controllerOf(set)?.kind === 'Pod' ? setOf(set) : []));
  const events = context.eventsFor('leaderworkerset');
  return {
    client,
    clock,
    events,
    pods,
    statefulSets,
    services: informers.of(serviceType),
    nodes: informers.of(nodeType),
    revisions,
    workloads,
    podGroups,
  };
}

function canonicalSpelling({ client, informers }: ControllerContext): Spelling {
  const sets = informers.of(leaderWorkerSetType);
  return {
    type: leaderWorkerSetType,
    sets,
    get: (key) => sets.get(key),
    async writeStatus(lws, status) {
      await client.updateStatus(leaderWorkerSetType, { ...lws, status });
    },
  };
}

function kruiseSpelling({ client, informers }: ControllerContext): Spelling {
  const sets = informers.of(kruiseLeaderWorkerSetType);
  return {
    type: kruiseLeaderWorkerSetType as ResourceType<LeaderWorkerSet>,
    sets,
    get(key) {
      const found = sets.get(key);
      return found === undefined ? undefined : fromKruise(found);
    },
    async writeStatus({ metadata }, status) {
      const original = sets.get({ namespace: metadata.namespace, name: metadata.name ?? '' });
      if (original !== undefined) await client.updateStatus(kruiseLeaderWorkerSetType, { ...original, status });
    },
  };
}
