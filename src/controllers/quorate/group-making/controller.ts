import { controllerOf } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { fromKruise, kruiseLeaderWorkerSetType, leaderWorkerSetType, LWS } from '../../../api/lws/types.ts';
import { READ, rule } from '../../../api/policy-rule.ts';
import { keyOf, type KubeObject, type ObjectKey, type ResourceType } from '../../../api/resource.ts';
import { jobType, podType } from '../../../api/resource-types.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../../api/scheduling/stored.ts';
import { readGroupLink } from '../../../decisions/disruption/index.ts';
import {
  type Controller,
  defineController,
  type Loop,
  type Informers,
  settled,
  watch,
} from '../../../machinery/runtime/index.ts';
import type { ControllerHost, OwnController } from '../own-controller.ts';
import type { ClusterGroupMaker } from './maker.ts';
import type { OwnerLookup, SetOwner } from './owners.ts';
import { type TendDeps, tendJob, tendSet } from './tend.ts';

type Deps = TendDeps & { readonly informers: Informers };

/** Tends groups that were made as pods came; that itself is the webhook's, which sees every pod before it is there. */
export function createGroupMakingController(maker: ClusterGroupMaker, lookup: OwnerLookup): Controller {
  const spellings: SetSpelling[] = [
    { type: leaderWorkerSetType as ResourceType, read: (set: KubeObject) => set as SetOwner['object'] },
    { type: kruiseLeaderWorkerSetType as ResourceType, read: (set: KubeObject) => fromKruise(set as never) },
  ].filter(({ type }) => lookup.served.some(({ group }) => group === type.group));
  return defineController<Deps>({
    name: 'group-making',
    deps({ client, informers }) {
      const pods = informers.of(podType);
      pods.addIndex('lws', setOf);
      pods.addIndex('group', groupOf);
      return { client, lookup, maker, pods, informers };
    },
    watches: ({ informers }) => [
      watch(informers.of(jobType), { added: keyOf, updated: keyOf }),
      watch(maker.podGroups, { deleted: (group) => ownerOf(group, 'Job') }),
    ],
    async reconcile(deps, key) {
      const job = deps.informers.of(jobType).get(key);
      return job === undefined ? settled : tendJob(deps, job);
    },
    loops: spellings.map((spelling) => loopOf(spelling, maker)),
  });
}

export interface GroupMakingHost extends ControllerHost {
  /** Undefined where nobody serves Workloads and PodGroups. */
  readonly groupMaking?: { readonly maker: ClusterGroupMaker; readonly lookup: OwnerLookup } | undefined;
}

/** The embedded host makes groups in its own controllers of Jobs and LeaderWorkerSets. */
export const groupMaking: OwnController<GroupMakingHost> = {
  hosts: { operator: 'GroupCreation' },
  feature: 'groupCreation',
  rights: [
    rule(
      [SCHEDULING_GROUP, OWN_SCHEDULING_GROUP],
      ['workloads', 'podgroups', 'compositepodgroups'],
      ['create', 'update', 'delete'],
    ),
    rule(['jobset.x-k8s.io'], ['jobsets'], READ),
    // Groups hold their owner back in foreground deletion, which some clusters let only those set who may do this.
    rule(['batch'], ['jobs/finalizers'], ['update']),
    rule(['jobset.x-k8s.io'], ['jobsets/finalizers'], ['update']),
    rule(['leaderworkerset.x-k8s.io', 'apps.kruise.io'], ['leaderworkersets/finalizers'], ['update']),
  ],
  create: ({ groupMaking: made }) => made && createGroupMakingController(made.maker, made.lookup),
};

interface SetSpelling {
  readonly type: ResourceType;
  readonly read: (set: KubeObject) => SetOwner['object'];
}

function loopOf({ read, type }: SetSpelling, maker: ClusterGroupMaker): Loop<Deps> {
  return {
    name: `group-making-${type.group}`,
    watches: ({ informers, pods }) => [
      watch(informers.of(type), { added: keyOf, updated: keyOf }),
      watch<Pod>(pods, setOf),
      watch(maker.podGroups, { deleted: setOf }),
    ],
    async reconcile(deps, key: ObjectKey) {
      const found = deps.informers.of(type).get(key);
      return found === undefined ? settled : tendSet(deps, { type, object: read(found) });
    },
  };
}

const setOf = ({ metadata }: KubeObject): string[] => {
  const name = metadata.labels?.[LWS.name];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
};

function groupOf(pod: Pod): string[] {
  const name = readGroupLink(pod)?.podGroup;
  return name ? [`${pod.metadata.namespace}/${name}`] : [];
}

function ownerOf(object: KubeObject, kind: string): string[] {
  const owner = controllerOf(object as Pod);
  return owner?.kind === kind ? [`${object.metadata.namespace}/${owner.name}`] : [];
}
