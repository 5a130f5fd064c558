import { type Client, existing, type Informers, type Logger } from '../machinery/runtime/index.ts';
import {
  compositePodGroupType,
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
import type { CompositePodGroup } from '../api/generated/scheduling-v1alpha3.ts';
import type { TreeObjects } from '../decisions/gang/index.ts';

export function discoverGroups(client: Client): Promise<GroupApi> {
  return discoverGroupApi((path) => existing(client.request('GET', path)));
}

export interface GroupChange {
  readonly kind: 'CompositePodGroup' | 'PodGroup' | 'Workload';
  readonly namespace: string;
  readonly name: string;
}

/** Groups as the cluster has them, whatever version it speaks, in the stored form. */
export class GroupObjectStore {
  readonly #podGroups = new Map<string, StoredPodGroup>();
  readonly #workloads = new Map<string, StoredWorkload>();
  readonly #composites = new Map<string, CompositePodGroup>();
  /** By parent, what says it belongs to it. */
  readonly #groupsIn = new Map<string, Set<string>>();
  readonly #compositesIn = new Map<string, Set<string>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  podGroup(namespace: string, name: string): StoredPodGroup | undefined {
    return this.#podGroups.get(`${namespace}/${name}`);
  }

  in(namespace: string): TreeObjects {
    const at = (name: string): string => `${namespace}/${name}`;
    return {
      podGroup: (name) => this.#podGroups.get(at(name)),
      workload: (name) => this.#workloads.get(at(name)),
      composite: (name) => this.#composites.get(at(name)),
      childrenOf: (name) => ({
        groups: pick(this.#groupsIn.get(at(name)), this.#podGroups),
        composites: pick(this.#compositesIn.get(at(name)), this.#composites),
      }),
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
      const seen = (object: KubeObject, gone: boolean, quiet = false): void => {
        const { name = '', namespace = '' } = object.metadata;
        put(`${namespace}/${name}`, gone ? undefined : object);
        if (!quiet) onChange({ kind, namespace, name });
      };
      informer.addHandler({
        added: (object) => seen(object, false),
        updated: (object, old) => {
          // How a composite fares is written here; only what it asks for changes the tree.
          const { generation, uid } = object.metadata;
          const isStatus = generation === old.metadata.generation && uid === old.metadata.uid;
          seen(object, false, kind === 'CompositePodGroup' && isStatus);
        },
        deleted: (object) => seen(object, true),
      });
      synced.push(informer.whenSynced());
    };
    const [podGroups] = api.podGroups;
    const [workloads] = api.workloads;
    if (api.composites) {
      watch('CompositePodGroup', compositePodGroupType(api.group), (key, object) =>
        place({ objects: this.#composites, within: this.#compositesIn }, key, object as CompositePodGroup | undefined),
      );
    }
    if (podGroups !== undefined) {
      watch('PodGroup', podGroupType(podGroups, api.group), (key, object) =>
        place(
          { objects: this.#podGroups, within: this.#groupsIn },
          key,
          object && storedPodGroup(object as never, podGroups),
        ),
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

interface Placed {
  readonly metadata: { readonly namespace?: string | undefined };
  readonly spec?: { readonly parentCompositePodGroupName?: string | undefined } | undefined;
}

/** Keeps an object, and with it who belongs to which composite. */
function place<T extends Placed>(
  { objects, within }: { objects: Map<string, T>; within: Map<string, Set<string>> },
  key: string,
  object: T | undefined,
): void {
  const parentOf = (one: T | undefined): string | undefined =>
    one?.spec?.parentCompositePodGroupName && `${one.metadata.namespace ?? ''}/${one.spec.parentCompositePodGroupName}`;
  const before = parentOf(objects.get(key));
  if (before !== undefined) within.get(before)?.delete(key);
  set(objects, key, object);
  const after = parentOf(object);
  if (after !== undefined) within.set(after, (within.get(after) ?? new Set()).add(key));
}

function pick<T>(keys: Iterable<string> | undefined, objects: ReadonlyMap<string, T>): T[] {
  return [...(keys ?? [])].map((key) => objects.get(key)).filter((one) => one !== undefined);
}

function set<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
