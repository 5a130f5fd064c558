import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { podType } from '../../../api/resource-types.ts';
import { readGroupLink } from '../../../decisions/disruption/index.ts';
import { groupIdOf } from '../../../decisions/gang/index.ts';
import {
  type Client,
  type Clock,
  type Controller,
  defineController,
  type Informer,
  settled,
  type Wake,
  watch,
} from '../../../machinery/runtime/index.ts';
import type { OwnController } from '../own-controller.ts';
import { followGroupObjects, type GroupInformers } from './group-objects.ts';
import { BY_GROUP, reconcilePodGroup } from './reconcile.ts';

export interface PodGroupControllerOptions {
  /** No scheduler here knows groups: this controller says when one is scheduled. Default false. */
  readonly writesCondition?: boolean | undefined;
}

const NAME = 'pod-group';
/** The pods of a group change together; one write for all of them is enough. */
const QUIET_MS = 100;

interface Deps {
  readonly client: Client;
  readonly clock: Clock;
  /** Indexed by group, see `BY_GROUP`. */
  readonly pods: Informer<Pod>;
  readonly writesCondition: boolean;
  /** Undefined where no PodGroups are served. */
  readonly objects: Promise<GroupInformers | undefined>;
}

/** PodGroup objects: protection while pods of theirs run, and how many of them have a node. */
export function createPodGroupController({ writesCondition = false }: PodGroupControllerOptions = {}): Controller {
  return defineController({
    name: NAME,
    deps({ client, clock, informers, log, signal }, queueOf): Deps {
      const pods = informers.of(podType);
      pods.addIndex(BY_GROUP, groupOf);
      const from = { client, clock, informers, log, signal };
      const objects = followGroupObjects({ ...from, queue: queueOf(NAME), newest: writesCondition });
      informers.finding('PodGroups', objects);
      return { client, clock, pods, writesCondition, objects };
    },
    watches: ({ pods }) => [
      watch(pods, {
        added: wakesOf,
        updated(pod, old) {
          const moved = pod.spec?.nodeName !== old.spec?.nodeName || isPodFinished(pod) !== isPodFinished(old);
          return moved || pod.metadata.uid !== old.metadata.uid ? wakesOf(pod) : undefined;
        },
        deleted: wakesOf,
      }),
    ],
    ready: ({ objects }) => objects,
    async reconcile({ objects, ...deps }, key) {
      const found = await objects;
      return found === undefined ? settled : reconcilePodGroup({ ...deps, ...found }, key);
    },
  });
}

const wakesOf = (pod: Pod): Wake[] => groupOf(pod).map((key) => ({ key, afterMs: QUIET_MS }));

/** Keys of the PodGroup a pod names; groups inside a Workload have no object. */
function groupOf(pod: Pod): string[] {
  const link = readGroupLink(pod);
  if (link?.source !== 'SchedulingGroup' && link?.source !== 'WorkloadRefPodGroup') return [];
  return [groupIdOf(pod.metadata.namespace ?? '', link)];
}

/** On a cluster that serves PodGroups its own controller does this. */
export const podGroup: OwnController = { hosts: { embedded: 'always' }, create: () => createPodGroupController() };
