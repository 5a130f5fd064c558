/** Poses scenes to a real kube-scheduler. */
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import { namespaceType, nodeType, podType } from '../../src/api/resource-types.ts';
import { podGroupType, type SchedulingVersion } from '../../src/api/scheduling/index.ts';
import { ApiError, type Client } from '../../src/machinery/runtime/index.ts';
import { groupServing, type GroupMinor } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import { Dice } from './dice.ts';
import { keysOf } from './draw-cluster.ts';
import { PRIORITY_CLASS } from './draw-group.ts';
import { PodBoard } from './pod-board.ts';
import { DEVICES, GROUP_NAME, remaining, type Scene } from './scene.ts';

export interface RealAnswer {
  readonly fits: 'Yes' | 'No' | 'NoAnswer';
  /** Where asked pods went, and what the scheduler says of the others. */
  readonly pods: Readonly<Record<string, string>>;
}

export interface RealScheduler {
  /** `order` decides in which sequence the asked pods are made; see `inOrder`. `pinned` members may go to one node each only. */
  ask(
    scene: Scene,
    options: { order: number; patient?: boolean; pinned?: ReadonlyMap<string, string> },
  ): Promise<RealAnswer>;
  stop(): Promise<void>;
}

/** Refused for so long, and nobody placed meanwhile, is refused. */
const SAME_MS = 15_000;

/** The node on which a probe pod shows that the scheduler has seen everything made before it. */
const PROBE_LABEL = 'quorate.test/probe';

export async function startRealScheduler(minor: GroupMinor): Promise<RealScheduler> {
  const { featureGates, version } = groupServing(minor);
  const plane = await startRealControlPlane({
    minor,
    components: ['kube-scheduler'],
    featureGates: `${featureGates},TopologyAwareWorkloadScheduling=true`,
    runtimeConfig: `scheduling.k8s.io/${version}=true`,
    flags: {
      'kube-apiserver': [
        '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection,RuntimeClass',
        '--max-requests-inflight=2000',
        '--max-mutating-requests-inflight=1000',
      ],
      'kube-scheduler': ['--kube-api-qps=2000', '--kube-api-burst=4000'],
      etcd: ['--unsafe-no-fsync'],
    },
  });
  const client = createNetworkClient(plane, 'quorate-test');
  await client.create(builtinType('PriorityClass', 'scheduling.k8s.io'), {
    metadata: { name: PRIORITY_CLASS },
    value: 0,
    preemptionPolicy: 'Never',
  } as KubeObject);
  const board = new PodBoard(client);
  await board.follow();
  return new Posing(plane, client, board, version);
}

class Posing implements RealScheduler {
  readonly #plane: RealControlPlane;
  readonly #client: Pick<Client, 'create' | 'delete' | 'deleteCollection'>;
  readonly #board: PodBoard;
  readonly #version: SchedulingVersion;
  #asked = 0;

  constructor(plane: RealControlPlane, client: Client, board: PodBoard, version: SchedulingVersion) {
    this.#plane = plane;
    this.#client = persistent(client);
    this.#board = board;
    this.#version = version;
  }

  async stop(): Promise<void> {
    this.#board.stop();
    await this.#plane.stop();
  }

  async ask(
    scene: Scene,
    { order, patient = false, pinned }: { order: number; patient?: boolean; pinned?: ReadonlyMap<string, string> },
  ): Promise<RealAnswer> {
    try {
      await this.#build(scene);
      await this.#probe(scene.id, 'seen');
      const pods = inOrder(scene.asked, order);
      for (const pod of pods) {
        await this.#client.create(podType, withClaim(pinned === undefined ? pod : pin(pod, pinned)));
      }
      return await this.#settle(scene, patient);
    } finally {
      await this.#clear(scene);
    }
  }

  async #build(scene: Scene): Promise<void> {
    const { asked, classes, claims, devices, group, id, slices, volumes } = scene;
    const { nodes, placed } = remaining(scene);
    await this.#client.create(namespaceType, { metadata: { name: id } });
    const make = (kind: string, objects: readonly KubeObject[], apiGroup = ''): Promise<void> =>
      this.#createAll(builtinType(kind, apiGroup), objects);
    await make('PersistentVolume', volumes);
    await make('PersistentVolumeClaim', claims);
    await make('DeviceClass', classes, 'resource.k8s.io');
    await make('ResourceSlice', slices, 'resource.k8s.io');
    // What kube-controller-manager would make of the template.
    const made = devices === undefined ? [] : asked.map((pod) => ({ metadata: claimOf(pod), spec: devices }));
    await make('ResourceClaim', made, 'resource.k8s.io');
    if (group !== undefined) {
      const { minCount, policy, topologyKey } = group;
      await this.#client.create(
        podGroupType(this.#version) as ResourceType,
        {
          metadata: { name: GROUP_NAME, namespace: id },
          spec: {
            schedulingPolicy: policy === 'gang' ? { gang: { minCount } } : { basic: {} },
            ...(topologyKey !== undefined && { schedulingConstraints: { topology: [{ key: topologyKey }] } }),
          },
        } as KubeObject,
      );
    }
    await this.#createAll(nodeType, nodes);
    await this.#createAll(
      podType,
      placed.map(({ metadata, spec }) => ({ metadata: { ...metadata, deletionTimestamp: undefined }, spec }) as Pod),
    );
    // Without a kubelet nobody ends them: they stay as they are, on their way out.
    for (const { metadata } of placed) {
      if (metadata.deletionTimestamp === undefined) continue;
      await this.#client.delete(podType, { namespace: id, name: metadata.name ?? '' }, { gracePeriodSeconds: 600 });
    }
    // Made last: when a pod is on it, the scheduler knows all nodes before it.
    await this.#client.create(nodeType, {
      metadata: { name: `${id}-probe`, labels: { [PROBE_LABEL]: id } },
      status: {
        allocatable: { cpu: '1', memory: '1Gi', pods: '110' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  }

  async #createAll(type: ResourceType, objects: readonly KubeObject[]): Promise<void> {
    await Promise.all(objects.map((object) => this.#client.create(type, object)));
  }

  /** Waits until the scheduler has come as far as this moment. */
  async #probe(id: string, name: string): Promise<void> {
    this.#asked += 1;
    const probe = `probe-${name}-${this.#asked}`;
    await this.#client.create(podType, {
      metadata: { name: probe, namespace: id },
      spec: { containers: [{ name: 'main', image: 'main' }], nodeSelector: { [PROBE_LABEL]: id } },
    });
    await this.#board.until(id, (pods) => pods.get(probe)?.node !== undefined, 60_000);
  }

  /** Until enough are bound, or all others were refused and nothing happens any more. */
  async #settle({ asked, id, need }: Scene, patient: boolean): Promise<RealAnswer> {
    const names = asked.map(({ metadata }) => metadata.name ?? '');
    const deadline = Date.now() + (patient ? 60_000 : 30_000);
    const quiet = patient ? 5_000 : 1_800;
    const bound = (pods: ReadonlyMap<string, { node?: string | undefined }>): number =>
      names.filter((name) => pods.get(name)?.node !== undefined).length;
    const refused = (pods: ReadonlyMap<string, { node?: string | undefined; refusal?: string | undefined }>): boolean =>
      names.every((name) => pods.get(name)?.node !== undefined || pods.get(name)?.refusal !== undefined);
    let places = 0;
    let placedAt = Date.now();
    for (;;) {
      const left = deadline - Date.now();
      const standing = this.#board.podsOf(id);
      if (bound(standing) !== places) [places, placedAt] = [bound(standing), Date.now()];
      if (left <= 0) {
        // A group that may go to several domains is refused in other words each time: that is a no all the same.
        const fits = refused(standing) && Date.now() - placedAt >= SAME_MS ? 'No' : 'NoAnswer';
        return { fits, pods: this.#tell(id, names) };
      }
      const done = await this.#board.until(id, (pods) => bound(pods) >= need || refused(pods), left);
      const pods = this.#board.podsOf(id);
      if (!done) return { fits: 'NoAnswer', pods: this.#tell(id, names) };
      if (bound(pods) >= need) return { fits: 'Yes', pods: this.#tell(id, names) };
      const stamp = this.#board.changedAt(id, names);
      // A pod that could go somewhere since another was placed is tried again after a second.
      const more = await this.#board.until(
        id,
        (now) => bound(now) >= need || this.#board.changedAt(id, names) !== stamp,
        quiet,
      );
      if (more) continue;
      await this.#probe(id, 'quiet');
      if (this.#board.changedAt(id, names) === stamp) return { fits: 'No', pods: this.#tell(id, names) };
    }
  }

  #tell(id: string, names: readonly string[]): Record<string, string> {
    const pods = this.#board.podsOf(id);
    return Object.fromEntries(
      names.map((name) => [name, pods.get(name)?.node ?? pods.get(name)?.refusal ?? 'not looked at']),
    );
  }

  async #clear({ classes, id, slices, volumes }: Scene): Promise<void> {
    const keys = keysOf(id);
    await this.#client.deleteCollection(podType, { namespace: id, gracePeriodSeconds: 0 });
    await this.#client.deleteCollection(podGroupType(this.#version) as ResourceType, { namespace: id });
    await this.#client.deleteCollection(nodeType, { labelSelector: `${keys.scene}=${id}` });
    await this.#client.delete(nodeType, { name: `${id}-probe` });
    const remove = async (kind: string, objects: readonly KubeObject[], group = ''): Promise<void> => {
      for (const { metadata } of objects) {
        await this.#client.delete(builtinType(kind, group), { name: metadata.name ?? '' });
      }
    };
    await remove('PersistentVolume', volumes);
    await remove('DeviceClass', classes, 'resource.k8s.io');
    await remove('ResourceSlice', slices, 'resource.k8s.io');
    this.#board.forget(id);
  }
}

function pin(pod: Pod, where: ReadonlyMap<string, string>): Pod {
  const node = where.get(pod.metadata.name ?? '');
  if (node === undefined || pod.spec === undefined) return pod;
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const field = { key: 'metadata.name', operator: 'In', values: [node] };
  const pinned = (terms ?? [{}]).map((term) => ({ ...term, matchFields: [...(term.matchFields ?? []), field] }));
  return {
    ...pod,
    spec: {
      ...pod.spec,
      affinity: {
        ...pod.spec.affinity,
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: pinned } },
      },
    },
  };
}

const claimOf = ({ metadata: { name = '', namespace } }: Pod) => ({ name: `${name}-${DEVICES}`, namespace });

/** The pod with the claim that was made for it instead of the template. */
function withClaim(pod: Pod): Pod {
  if (pod.spec?.resourceClaims === undefined) return pod;
  const resourceClaims = [{ name: DEVICES, resourceClaimName: claimOf(pod).name }];
  return { ...pod, spec: { ...pod.spec, resourceClaims } };
}

/** The small ones first, the large ones first, or in any order. */
function inOrder(pods: readonly Pod[], order: number): Pod[] {
  const size = ({ spec }: Pod): number => Number.parseInt(spec?.containers[0]?.resources?.requests?.['cpu'] ?? '0', 10);
  const shuffled = new Dice(order).shuffled(pods);
  const sign = order % 4 === 1 ? 1 : order % 4 === 2 ? -1 : 0;
  return shuffled.sort((a, b) => sign * (size(a) - size(b)));
}

const ATTEMPTS = 10;

/** A busy API server answers late, or not at all: what it may not have done is asked for again. */
function persistent(client: Client): Pick<Client, 'create' | 'delete' | 'deleteCollection'> {
  const again = async <T>(work: () => Promise<T>, isDone: (error: ApiError) => boolean): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (attempt > 1 && error instanceof ApiError && isDone(error)) return undefined as T;
        if (attempt >= ATTEMPTS || (error instanceof ApiError && error.code < 429)) throw error;
      }
    }
  };
  return {
    create: (type, object, options) =>
      again(
        () => client.create(type, object, options),
        ({ code }) => code === 409,
      ),
    delete: (type, key, options) =>
      again(
        () => client.delete(type, key, options),
        ({ code }) => code === 404,
      ),
    deleteCollection: (type, options) =>
      again(
        () => client.deleteCollection(type, options),
        () => false,
      ),
  };
}
