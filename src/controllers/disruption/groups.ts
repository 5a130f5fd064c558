import { builtinType } from '../../api/registry.ts';
import type { KubeObject } from '../../api/resource.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import { jobType, statefulSetType } from '../../api/resource-types.ts';
import { type DisruptionIndex, readGroupSource, readPodGroup, readWorkload } from '../../decisions/disruption/index.ts';
import { type ControllerContext, isNotFound, sleep } from '../../machinery/runtime/index.ts';

const LOOK_AGAIN_MS = 30_000;

/** Best first: only the oldest Workload says how many replicas a group has, only the newer PodGroups carry a policy. */
const WORKLOAD_VERSIONS = ['v1alpha1', 'v1beta1', 'v1alpha2'];
const POD_GROUP_VERSIONS = ['v1beta1', 'v1alpha2', 'v1alpha1'];

export interface GroupsOptions {
  readonly context: ControllerContext;
  readonly index: DisruptionIndex;
  /** A Workload or PodGroup of the namespace came, changed or went. */
  readonly changed: (namespace: string) => void;
}

export interface FollowedGroups {
  /** False as long as there may be groups that have not been read. */
  readonly known: boolean;
  /** Resolves when it has been found out, or could not be. */
  readonly firstTry: Promise<void>;
}

/**
 * Follows Workloads and PodGroups where the cluster serves them, and looks again now and then where it does not yet.
 */
export function followGroups({ changed, context, index }: GroupsOptions): FollowedGroups {
  let tried = (): void => {};
  const state = { known: false, firstTry: new Promise<void>((resolve) => (tried = resolve)) };
  const { clock, informers, log, signal } = context;

  function follow(kind: 'Workload' | 'PodGroup', version: string, group: string): Promise<void> {
    const informer = informers.of({ ...builtinType(kind, SCHEDULING_GROUP, version), group });
    const put = (object: KubeObject, gone: boolean): void => {
      const { name = '', namespace = '' } = object.metadata;
      if (kind === 'Workload') index.setWorkload(namespace, name, gone ? undefined : readWorkload(object));
      else index.setPodGroup(namespace, name, gone ? undefined : readPodGroup(object));
      changed(namespace);
    };
    informer.addHandler({
      added: (object) => put(object, false),
      updated: (object) => put(object, false),
      deleted: (object) => put(object, true),
    });
    return informer.whenSynced();
  }

  async function run(): Promise<void> {
    const wanted = new Map<'Workload' | 'PodGroup', readonly string[]>([
      ['Workload', WORKLOAD_VERSIONS],
      ['PodGroup', POD_GROUP_VERSIONS],
    ]);
    while (wanted.size > 0) {
      try {
        const served = await servedVersions(context, SCHEDULING_GROUP);
        const ours = await servedVersions(context, OWN_SCHEDULING_GROUP);
        const syncing: Promise<void>[] = [];
        for (const [kind, versions] of wanted) {
          // Kubernetes' own kinds come before those that definitions of ours serve in their place.
          const version = versions.find((one) => served.get(one)?.has(kind));
          const own = version === undefined ? versions.find((one) => ours.get(one)?.has(kind)) : undefined;
          if (version === undefined && own === undefined) continue;
          wanted.delete(kind);
          syncing.push(
            version === undefined
              ? follow(kind, own as string, OWN_SCHEDULING_GROUP)
              : follow(kind, version, SCHEDULING_GROUP),
          );
        }
        await Promise.all(syncing);
        if (!state.known || syncing.length > 0) {
          state.known = true;
          for (const { namespace } of index.budgets()) changed(namespace);
        }
      } catch (error) {
        log.warn({ error: String(error) }, 'cannot tell whether the cluster has Workloads');
      }
      tried();
      if (wanted.size > 0) await sleep(clock, LOOK_AGAIN_MS, signal);
    }
  }
  for (const type of [statefulSetType, jobType]) {
    const put = (object: KubeObject, gone: boolean): void => {
      const read = readGroupSource(object);
      if (read === undefined) return;
      const { namespace = '' } = object.metadata;
      index.setSource(namespace, read.key, gone ? undefined : read.source);
      changed(namespace);
    };
    informers.of<KubeObject>(type).addHandler({
      added: (object) => put(object, false),
      updated: (object, old) => {
        if (object.metadata.generation !== old.metadata.generation || isMarked(object)) put(object, false);
      },
      deleted: (object) => put(object, true),
    });
  }
  run().catch(() => {});
  return state;
}

/** Kinds by version of an API group; empty where the cluster has none of it. */
async function servedVersions({ client }: ControllerContext, name: string): Promise<Map<string, Set<string>>> {
  const served = new Map<string, Set<string>>();
  try {
    const group = await client.request<{ versions?: { version: string }[] }>('GET', `/apis/${name}`);
    for (const { version } of group.versions ?? []) {
      const list = await client.request<{ resources?: { kind: string }[] }>('GET', `/apis/${name}/${version}`);
      served.set(version, new Set(list.resources?.map(({ kind }) => kind)));
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return served;
}

/** Its groups stand in annotations, whose changes no generation counts. */
const isMarked = ({ kind }: KubeObject): boolean => kind === 'StatefulSet';
