import { keyOf, type KubeObject, type ResourceType } from '../../../api/resource.ts';
import {
  discoverGroupApi,
  type GroupApi,
  podGroupType,
  type SchedulingVersion,
  type StoredPodGroup,
  storedPodGroup,
  storedWorkload,
  workloadType,
} from '../../../api/scheduling/index.ts';
import { findTerms, type TermsAnswer } from '../../../decisions/gang/index.ts';
import {
  type Client,
  type Clock,
  existing,
  type Informer,
  type Informers,
  type Logger,
  sleep,
  type WorkQueue,
} from '../../../machinery/runtime/index.ts';

/** PodGroups and Workloads, in the versions that the cluster serves. */
export interface GroupInformers {
  /** The version in which the status of PodGroups is written. */
  readonly version: SchedulingVersion;
  readonly groups: Informer<KubeObject>;
  /** What a group asks of the scheduler, or what is missing of it; undefined when that has not been seen yet. */
  readonly termsOf: (group: StoredPodGroup) => TermsAnswer | undefined;
}

export interface GroupObjectsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly informers: Informers;
  /** Gets the keys of groups that came or changed. */
  readonly queue: WorkQueue;
  /** The newest version is written instead of the oldest. */
  readonly newest: boolean;
}

/** Finds out what is served and follows it; undefined where there are no PodGroups. */
export async function followGroupObjects(options: GroupObjectsOptions): Promise<GroupInformers | undefined> {
  const { informers, queue } = options;
  const api = await discoverGroups(options);
  if (api === undefined) return undefined;
  // Only the oldest version counts members, only the newer ones show the policy.
  const [newest] = api.podGroups;
  const version = options.newest ? newest : api.podGroups.at(-1);
  if (version === undefined || newest === undefined) return undefined;
  const groups = informers.of<KubeObject>(podGroupType(version, api.group) as ResourceType);
  const wake = (group: KubeObject): void => queue.add(keyOf(group));
  groups.addHandler({ added: wake, updated: wake });
  // What a group asks for is said in full only by the newest version.
  const described = informers.of<KubeObject>(podGroupType(newest, api.group) as ResourceType);
  if (newest !== version) described.addHandler({ added: wake });

  const [workloadVersion] = api.workloads;
  const workloads =
    workloadVersion === undefined
      ? undefined
      : informers.of<KubeObject>(workloadType(workloadVersion, api.group) as ResourceType);
  if (workloads !== undefined) wakeByWorkload(workloads, { groups, version, wake });
  await Promise.all([groups.whenSynced(), described.whenSynced(), workloads?.whenSynced()]);
  return {
    version,
    groups,
    termsOf({ metadata: { name = '', namespace, uid } }) {
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

const DISCOVERY_RETRY_MS = 5000;

/** Asks until the API server answers; undefined when the controller ends before that. */
async function discoverGroups({ client, clock, log, signal }: GroupObjectsOptions): Promise<GroupApi | undefined> {
  while (!signal.aborted) {
    try {
      return await discoverGroupApi((path) => existing(client.request('GET', path)));
    } catch (error) {
      log.warn({ error: String(error) }, 'cannot find out which groups the cluster serves; trying again');
      await sleep(clock, DISCOVERY_RETRY_MS, signal).catch(() => {});
    }
  }
  return undefined;
}

interface Following {
  readonly groups: Informer<KubeObject>;
  readonly version: SchedulingVersion;
  readonly wake: (group: KubeObject) => void;
}

/** A Workload that comes, changes or goes concerns the groups that name it. */
function wakeByWorkload(workloads: Informer<KubeObject>, { groups, version, wake }: Following): void {
  const wakeGroups = ({ metadata }: KubeObject): void => {
    for (const group of groups.list(metadata.namespace)) {
      const { spec } = storedPodGroup(group as never, version);
      if (spec.workloadRef?.workloadName === metadata.name) wake(group);
    }
  };
  workloads.addHandler({
    added: (workload, initial) => {
      if (!initial) wakeGroups(workload);
    },
    updated: (workload, old) => {
      if (workload.metadata.generation !== old.metadata.generation) wakeGroups(workload);
    },
    deleted: wakeGroups,
  });
}
