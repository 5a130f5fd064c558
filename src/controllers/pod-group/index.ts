import { isPodFinished } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { keyOf, type KubeObject } from '../../api/resource.ts';
import { podType } from '../../api/resource-types.ts';
import {
  discoverGroupApi,
  podGroupType,
  storedPodGroup,
  type SchedulingVersion,
  storedWorkload,
  workloadType,
} from '../../api/scheduling/index.ts';
import { readGroupLink } from '../../decisions/disruption/index.ts';
import { findTerms, groupIdOf } from '../../decisions/gang/index.ts';
import {
  type ControllerContext,
  type Informer,
  isNotFound,
  type RunningController,
  runController,
  type StartController,
} from '../../machinery/runtime/index.ts';
import { BY_GROUP, type PodGroupDeps, reconcilePodGroup } from './reconcile.ts';

export interface PodGroupControllerOptions {
  /** No scheduler here knows groups: this controller says when one is scheduled. Default false. */
  readonly writesCondition?: boolean | undefined;
}

/** The pods of a group change together; one write for all of them is enough. */
const QUIET_MS = 100;

/** PodGroup objects: protection while pods of theirs run, and how many of them have a node. */
export function createPodGroupController({ writesCondition = false }: PodGroupControllerOptions = {}): StartController {
  return (context): RunningController => {
    const pods = context.informers.of(podType);
    pods.addIndex(BY_GROUP, groupOf);
    let deps: PodGroupDeps | undefined;
    const { queue } = runController({
      name: 'pod-group',
      context,
      ready: async () => {
        deps = await prepare(context, { pods, writesCondition, onGroup: (key) => queue.add(key) });
        if (deps === undefined) return;
        const wake = (pod: Pod): void => groupOf(pod).forEach((key) => queue.addAfter(key, QUIET_MS));
        pods.addHandler({
          added: wake,
          updated: (pod, old) => {
            const moved = pod.spec?.nodeName !== old.spec?.nodeName || isPodFinished(pod) !== isPodFinished(old);
            if (moved || pod.metadata.uid !== old.metadata.uid) wake(pod);
          },
          deleted: wake,
        });
        await pods.whenSynced();
      },
      reconcile: async (key) => (deps === undefined ? {} : reconcilePodGroup(deps, key)),
    });
    return { name: 'pod-group', queues: [queue] };
  };
}

/** Keys of the PodGroup a pod names; groups inside a Workload have no object. */
function groupOf(pod: Pod): string[] {
  const link = readGroupLink(pod);
  if (link?.source !== 'SchedulingGroup' && link?.source !== 'WorkloadRefPodGroup') return [];
  return [groupIdOf(pod.metadata.namespace ?? '', link)];
}

interface Preparation {
  readonly pods: Informer<Pod>;
  readonly writesCondition: boolean;
  readonly onGroup: (key: string) => void;
}

async function prepare(context: ControllerContext, options: Preparation): Promise<PodGroupDeps | undefined> {
  const { client, clock, informers } = context;
  const api = await discoverGroupApi(async (path) => {
    try {
      return await client.request('GET', path);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
  // Only the oldest version counts members, only the newer ones show the policy.
  const version: SchedulingVersion | undefined = options.writesCondition ? api.podGroups[0] : api.podGroups.at(-1);
  if (version === undefined) return undefined;
  const groups = informers.of(podGroupType(version, api.group));
  groups.addHandler({
    added: (group) => options.onGroup(keyOf(group)),
    updated: (group) => options.onGroup(keyOf(group)),
  });
  // What a group asks for is said in full only by the newest version.
  const newest = api.podGroups[0] ?? version;
  const described = informers.of(podGroupType(newest, api.group));
  if (newest !== version) described.addHandler({ added: (group) => options.onGroup(keyOf(group)) });
  const [workloadVersion] = api.workloads;
  const workloads = workloadVersion === undefined ? undefined : informers.of(workloadType(workloadVersion, api.group));
  const wakeGroups = ({ metadata }: KubeObject): void => {
    for (const group of groups.list()) {
      const { spec } = storedPodGroup(group as never, version);
      if (group.metadata.namespace === metadata.namespace && spec.workloadRef?.workloadName === metadata.name) {
        options.onGroup(keyOf(group));
      }
    }
  };
  workloads?.addHandler({
    added: (workload, initial) => {
      if (!initial) wakeGroups(workload);
    },
    updated: (workload, old) => {
      if (workload.metadata.generation !== old.metadata.generation) wakeGroups(workload);
    },
    deleted: wakeGroups,
  });
  await Promise.all([groups.whenSynced(), described.whenSynced(), workloads?.whenSynced()]);
  return {
    client,
    clock,
    version,
    groups,
    pods: options.pods,
    writesCondition: options.writesCondition,
    termsOf: ({ metadata }) => {
      const { name = '', namespace, uid } = metadata;
      const full = described.get({ namespace, name });
      if (full === undefined || full.metadata.uid !== uid) return undefined;
      const link = { source: 'SchedulingGroup', workload: '', podGroup: name, replicaKey: '' } as const;
      return findTerms(link, {
        podGroup: () => storedPodGroup(full as never, newest),
        workload: (wanted) => {
          const found = workloads?.get({ namespace, name: wanted });
          return found === undefined || workloadVersion === undefined
            ? undefined
            : storedWorkload(found as never, workloadVersion);
        },
      });
    },
  };
}
