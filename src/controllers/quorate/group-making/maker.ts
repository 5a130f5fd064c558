import { controllerOf, isControlledBy, type Owned } from '../../../api/core/owner.ts';
import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { CompositePodGroup } from '../../../api/generated/scheduling-v1alpha3.ts';
import type { PodGroup, Workload } from '../../../api/generated/scheduling-v1beta1.ts';
import { apiVersionOf, keyOf, type KubeObject, type ResourceType } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  compositePodGroupType,
  type GroupApi,
  podGroupType,
  SCHEDULING_GROUP,
  type SchedulingVersion,
  servedPodGroup,
  servedWorkload,
  workloadType,
} from '../../../api/scheduling/index.ts';
import { readGroupLink } from '../../../decisions/disruption/index.ts';
import {
  alsoOwnedBy,
  type EnsuredGroup,
  type GroupMaker,
  MADE_LABELS,
  type WantedGroup,
} from '../../../decisions/group-making/index.ts';
import {
  ApiError,
  type Client,
  type EventRecorder,
  type Informer,
  type Informers,
  isAlreadyExists,
} from '../../../machinery/runtime/index.ts';
import { indexByController, ownedBy } from '../../shared/pod-control/index.ts';

/** Kinds of groups that are made, as one server has them: Kubernetes' own in the newest version, or ours. */
export interface MadeKinds {
  readonly version: SchedulingVersion;
  readonly workload: ResourceType<Workload>;
  readonly podGroup: ResourceType<PodGroup>;
  readonly composite: ResourceType<CompositePodGroup> | undefined;
  readonly isNative: boolean;
}

/** Undefined where nothing is served that a pod could name. */
export function madeKinds({ composites, group, podGroups, workloads }: GroupApi): MadeKinds | undefined {
  const version = podGroups.find((one) => workloads.includes(one));
  // The first version has no policy in its PodGroups.
  if (version === undefined || version === 'v1alpha1') return undefined;
  return {
    version,
    workload: workloadType(version, group) as ResourceType<Workload>,
    podGroup: podGroupType(version, group) as ResourceType<PodGroup>,
    composite: composites ? (compositePodGroupType(group) as ResourceType<CompositePodGroup>) : undefined,
    isNative: group === SCHEDULING_GROUP,
  };
}

export interface MakerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly events: EventRecorder;
  readonly kinds: MadeKinds;
}

/** One list is enough to see whether pods run that are in no group. */
const MOST_MEMBERS = 500;

/** Makes Workloads and PodGroups for whoever asks; asked about one group several times at once, it is made once. */
export class ClusterGroupMaker implements GroupMaker {
  readonly kinds: MadeKinds;
  /** Both indexed by controller. */
  readonly workloads: Informer<Workload>;
  readonly podGroups: Informer<PodGroup>;
  readonly #client: Client;
  readonly #events: EventRecorder;
  readonly #making = new Map<string, Promise<EnsuredGroup>>();

  constructor({ client, events, informers, kinds }: MakerOptions) {
    this.kinds = kinds;
    this.#client = client;
    this.#events = events;
    this.workloads = informers.of(kinds.workload);
    this.podGroups = informers.of(kinds.podGroup);
    indexByController(this.workloads);
    indexByController(this.podGroups);
  }

  get abilities(): GroupMaker['abilities'] {
    return { mutableMinimum: this.kinds.version === 'v1beta1', composites: this.kinds.composite !== undefined };
  }

  get keepsField(): boolean {
    return this.kinds.isNative;
  }

  async ensure(wanted: WantedGroup, { dryRun = false } = {}): Promise<EnsuredGroup> {
    const key = keyOf(wanted.podGroup);
    const known = this.podGroups.get(wanted.podGroup.metadata as { namespace: string; name: string });
    if (known !== undefined) return judged(known, wanted);
    const running = this.#making.get(key);
    if (running !== undefined) return running;
    const made = this.#make(wanted, dryRun).finally(() => this.#making.delete(key));
    if (!dryRun) this.#making.set(key, made);
    return made;
  }

  async #make(wanted: WantedGroup, dryRun: boolean): Promise<EnsuredGroup> {
    const owner = controllerOf(wanted.podGroup);
    const theirs = ownedBy(this.podGroups, { metadata: { uid: owner?.uid } }).some((group) => !isMade(group));
    if (theirs) return { reason: 'MadeByOthers' };
    const name = wanted.podGroup.metadata.name ?? '';
    if (await this.#startedWithout(wanted)) return { reason: 'StartedWithout' };
    if (dryRun) return { reason: 'Ready', name };
    try {
      const workload = await this.#workload(wanted);
      if (!isControlledBy(workload, { metadata: { uid: controllerOf(wanted.workload)?.uid } })) {
        this.#tell(wanted, `Workload ${workload.metadata.name} exists and belongs to someone else`);
        return { reason: 'NameTaken' };
      }
      if (workload.metadata.deletionTimestamp) return { reason: 'Going', name: workload.metadata.name ?? '' };
      await this.#composite(wanted, workload);
      const group = alsoOwnedBy(wanted.podGroup, this.kinds.workload as ResourceType, workload);
      const made = await this.#createOrRead(this.kinds.podGroup, this.#spelled(group, servedPodGroup));
      return judged(made, wanted);
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 403, 422].includes(error.code)) throw error;
      this.#tell(wanted, `Groups cannot be made: ${error.message}`);
      return { reason: 'Refused', message: error.message };
    }
  }

  async #workload(wanted: WantedGroup): Promise<Workload> {
    const { name = '', namespace } = wanted.workload.metadata;
    const known = this.workloads.get({ namespace, name });
    if (known !== undefined) return known;
    const made = await this.#createOrRead(this.kinds.workload, this.#spelled(wanted.workload, servedWorkload));
    const text = `Created Workload ${name}`;
    this.#events.record(wanted.owner, 'Normal', 'WorkloadCreated', text);
    return made;
  }

  async #composite({ composite }: WantedGroup, workload: Workload): Promise<void> {
    const type = this.kinds.composite;
    if (composite === undefined || type === undefined) return;
    const owned = alsoOwnedBy(composite, this.kinds.workload as ResourceType, workload);
    await this.#createOrRead(type, { ...owned, apiVersion: apiVersionOf(type), kind: type.kind });
  }

  /** A gang that some of its pods are not in would wait for ever for the rest. */
  async #startedWithout({ members, podGroup }: WantedGroup): Promise<boolean> {
    if (members === undefined) return false;
    const { name, namespace } = podGroup.metadata;
    const { items } = await this.#client.list(podType, { namespace, labelSelector: members, limit: MOST_MEMBERS });
    return items.some(
      (pod) => !isPodFinished(pod) && !pod.metadata.deletionTimestamp && readGroupLink(pod)?.podGroup !== name,
    );
  }

  /** As the version that is served spells it. */
  #spelled<T extends Workload | PodGroup>(
    object: T,
    convert: (stored: never, version: SchedulingVersion) => unknown,
  ): T {
    const { podGroup, version } = this.kinds;
    const spelled = convert(object as never, version) as T;
    return { ...spelled, apiVersion: apiVersionOf({ group: podGroup.group, version }) };
  }

  async #createOrRead<T extends KubeObject>(type: ResourceType<T>, wanted: T): Promise<T> {
    try {
      return await this.#client.create(type, wanted);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const { name = '', namespace } = wanted.metadata;
      return this.#client.get(type, { namespace, name });
    }
  }

  #tell({ owner }: WantedGroup, text: string): void {
    this.#events.record(owner, 'Warning', 'NoGroup', `${text}: pods are placed one by one`);
  }
}

function judged(group: PodGroup, wanted: WantedGroup): EnsuredGroup {
  const name = group.metadata.name ?? '';
  if (group.metadata.deletionTimestamp) return { reason: 'Going', name };
  const uid = controllerOf(wanted.podGroup)?.uid;
  return isControlledBy(group, { metadata: { uid } }) ? { reason: 'Ready', name } : { reason: 'NameTaken' };
}

const [[LABEL, VALUE]] = Object.entries(MADE_LABELS) as [[string, string]];

/** Made by this operator, not by the owner's own controller. */
export const isMade = ({ metadata }: Owned): boolean => metadata.labels?.[LABEL] === VALUE;
