import { isNotFound, type Client, type Informers, type Logger } from '../machinery/runtime/index.ts';
import {
  discoverGroupApi,
  type GroupApi,
  podGroupType,
  type StoredPodGroup,
  type StoredWorkload,
  storedPodGroup,
  storedWorkload,
  workloadType,
} from '../api/scheduling/index.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import type { GroupObjects } from '../decisions/gang/index.ts';

export function discoverGroups(client: Client): Promise<GroupApi> {
  return discoverGroupApi(async (path) => {
    try {
      return await client.request('GET', path);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
}

export interface GroupChange {
  readonly kind: 'PodGroup' | 'Workload';
  readonly namespace: string;
  readonly name: string;
}

/** Groups as the cluster has them, whatever version it speaks, in the stored form. */
export class GroupObjectStore {
  readonly #podGroups = new Map<string, StoredPodGroup>();
  readonly #workloads = new Map<string, StoredWorkload>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  podGroup(namespace: string, name: string): StoredPodGroup | undefined {
    return this.#podGroups.get(`${namespace}/${name}`);
  }

  in(namespace: string): GroupObjects {
    return {
      podGroup: (name) => this.#podGroups.get(`${namespace}/${name}`),
      workload: (name) => this.#workloads.get(`${namespace}/${name}`),
    };
  }

  /** Follows what the cluster serves; resolves when the first lists are in. */
  async follow(informers: Informers, api: GroupApi, onChange: (change: GroupChange) => void): Promise<void> {
    const synced: Promise<void>[] = [];
    const watch = (
      kind: GroupChange['kind'],
      type: ResourceType,
      put: (key: string, object: KubeObject | undefined) => void,
    ): void => {
      const informer = informers.of(type);
      const seen = (object: KubeObject, gone: boolean): void => {
        const { name = '', namespace = '' } = object.metadata;
        put(`${namespace}/${name}`, gone ? undefined : object);
        onChange({ kind, namespace, name });
      };
      informer.addHandler({
        added: (object) => seen(object, false),
        updated: (object) => seen(object, false),
        deleted: (object) => seen(object, true),
      });
      synced.push(informer.whenSynced());
    };
    const [podGroups] = api.podGroups;
    const [workloads] = api.workloads;
    if (podGroups !== undefined) {
      watch('PodGroup', podGroupType(podGroups, api.group), (key, object) =>
        set(this.#podGroups, key, object && storedPodGroup(object as never, podGroups)),
      );
    }
    if (workloads !== undefined) {
      watch('Workload', workloadType(workloads, api.group), (key, object) =>
        set(this.#workloads, key, object && storedWorkload(object as never, workloads)),
      );
    }
    if (podGroups === undefined && workloads === undefined) {
      this.#log.info({}, 'the cluster serves no groups; pods are scheduled one by one');
    }
    await Promise.all(synced);
  }
}

function set<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
