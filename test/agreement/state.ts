/** Draws clusters: groups of every shape, budgets of both kinds in every spelling, pods in every state. */
import { POD_UNAVAILABLE_BUDGETS } from '../../src/api/kruise/types.ts';
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import { jobType, podDisruptionBudgetType, statefulSetType } from '../../src/api/resource-types.ts';
import {
  POD_GROUP_TYPES,
  podGroupType,
  type SchedulingVersion,
  WORKLOAD_TYPES,
} from '../../src/api/scheduling/index.ts';
import { type Random, seededRandom } from '../../src/machinery/values/index.ts';

export interface Placed {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

export type PodState = 'Ready' | 'Unready' | 'Pending' | 'Succeeded';

export interface DrawnPod {
  readonly name: string;
  readonly object: KubeObject;
  readonly state: PodState;
}

export interface DrawnState {
  readonly seed: number;
  /** Groups, sources and budgets, in the order in which to make them. */
  readonly objects: readonly Placed[];
  readonly pods: readonly DrawnPod[];
  /** Evictions to carry out before anybody is asked. */
  readonly evicted: readonly string[];
  /** Groups to delete before anybody is asked: references break. */
  readonly removed: readonly Placed[];
  readonly cordoned: readonly string[];
}

export interface DrawOptions {
  readonly namespace: string;
  readonly nodes: readonly string[];
  /** Pods may carry `workloadRef`, which only the embedded host keeps. */
  readonly workloadRefs: boolean;
  /** The version in which PodGroups are made. */
  readonly groupVersion: SchedulingVersion;
}

const LWS = 'leaderworkerset.sigs.k8s.io';
const JOBSET = 'jobset.sigs.k8s.io';

type Shape = 'Workload' | 'PodGroup' | 'LeaderWorkerSet' | 'JobSet' | 'Label' | 'Alone';

export function drawState(seed: number, options: DrawOptions): DrawnState {
  const random = seededRandom(seed);
  const shapes: readonly Shape[] = [
    ...(options.workloadRefs ? (['Workload'] as const) : []),
    'PodGroup',
    'LeaderWorkerSet',
    'JobSet',
    'Label',
    'Alone',
  ];
  const shape = pick(random, shapes);
  const groups = 1 + below(random, 3);
  const size = 1 + below(random, 3);
  const minCount = 1 + below(random, size);
  const drawn = new Drawing(random, options, { shape, groups, size, minCount });
  return { seed, ...drawn.draw() };
}

interface Fleet {
  readonly shape: Shape;
  readonly groups: number;
  readonly size: number;
  readonly minCount: number;
}

class Drawing {
  readonly #random: Random;
  readonly #options: DrawOptions;
  readonly #fleet: Fleet;
  readonly #objects: Placed[] = [];
  readonly #pods: DrawnPod[] = [];

  constructor(random: Random, options: DrawOptions, fleet: Fleet) {
    this.#random = random;
    this.#options = options;
    this.#fleet = fleet;
  }

  draw(): Omit<DrawnState, 'seed'> {
    const random = this.#random;
    this.#drawGroups();
    const groups = this.#objects.filter(({ object }) => object.kind === undefined && isGroup(object));
    this.#drawPods();
    this.#drawBudgets();
    const names = this.#pods.map(({ name }) => name);
    return {
      objects: this.#objects,
      pods: this.#pods,
      evicted: chance(random, 0.4) ? names.filter(() => chance(random, 0.25)) : [],
      removed: chance(random, 0.1) ? groups.slice(0, 1) : [],
      cordoned: this.#options.nodes.filter(() => chance(random, 0.2)),
    };
  }

  #drawGroups(): void {
    const { groups, minCount, shape, size } = this.#fleet;
    const { groupVersion } = this.#options;
    const declared = Math.max(0, groups + below(this.#random, 3) - 1);
    const gang = { gang: { minCount } };
    const policy = chance(this.#random, 0.1) ? { basic: {} } : gang;
    if (shape === 'Workload') {
      this.#add(WORKLOAD_TYPES[0], 'w', { podGroups: [{ name: 'g', replicas: Math.max(1, declared), policy }] });
    }
    if (shape === 'PodGroup') {
      const type = POD_GROUP_TYPES.find(({ version }) => version === groupVersion) ?? podGroupType(groupVersion);
      for (let at = 0; at < groups; at += 1) this.#add(type, `g${at}`, { schedulingPolicy: policy });
    }
    if (shape === 'LeaderWorkerSet') {
      const marks = { labels: { [`${LWS}/name`]: 'set' }, annotations: { [`${LWS}/replicas`]: `${declared}` } };
      const selected = { selector: { matchLabels: { unused: 'x' } }, template: template({ unused: 'x' }) };
      this.#add(statefulSetType as ResourceType, 'set', { replicas: 0, serviceName: 'set', ...selected }, marks);
    }
    if (shape === 'JobSet') {
      for (let at = 0; at < groups; at += 1) {
        const counts = { parallelism: size, completions: size, suspend: true };
        this.#add(jobType as ResourceType, `train-${at}`, {
          ...counts,
          template: template({}, { restartPolicy: 'Never' }),
        });
      }
    }
  }

  #drawPods(): void {
    const { groups, size } = this.#fleet;
    for (let group = 0; group < groups; group += 1) {
      // Some pods of a group are not there.
      for (let at = 0; at < size; at += 1) if (!chance(this.#random, 0.08)) this.#drawPod(`p${group}-${at}`, group);
    }
    // Pods that the budgets may select and that belong to no group.
    if (chance(this.#random, 0.25)) this.#drawPod('lone', undefined);
  }

  #drawPod(name: string, group: number | undefined): void {
    const random = this.#random;
    const { labels, annotations, spec } = group === undefined ? NONE : this.#membership(group);
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'uid-rs', controller: true };
    const half = { half: chance(random, 0.5) ? 'a' : 'b' };
    const state = chance(random, 0.75)
      ? 'Ready'
      : pick<PodState>(random, ['Unready', 'Unready', 'Pending', 'Succeeded']);
    const object = {
      metadata: {
        name,
        namespace: this.#options.namespace,
        labels: { app: 'a', pod: name, ...half, ...labels },
        ...(annotations && { annotations }),
        ownerReferences: [owner],
      },
      spec: {
        nodeName: pick(random, this.#options.nodes),
        containers: [{ name: 'c', image: 'i' }],
        ...spec,
      },
    };
    this.#pods.push({ name, object: object as KubeObject, state });
  }

  #membership(group: number): Membership {
    switch (this.#fleet.shape) {
      case 'Workload':
        return { spec: { workloadRef: { name: 'w', podGroup: 'g', podGroupReplicaKey: `${group}` } } };
      case 'PodGroup':
        return { spec: { schedulingGroup: { podGroupName: `g${group}` } } };
      case 'LeaderWorkerSet':
        return {
          labels: { [`${LWS}/name`]: 'set', [`${LWS}/group-index`]: `${group}` },
          annotations: { [`${LWS}/size`]: `${this.#fleet.minCount}` },
        };
      case 'JobSet':
        return {
          labels: {
            [`${JOBSET}/jobset-name`]: 'train',
            [`${JOBSET}/replicatedjob-name`]: 'w',
            [`${JOBSET}/job-index`]: `${group}`,
            'batch.kubernetes.io/job-name': `train-${group}`,
          },
        };
      case 'Label':
        return { labels: { shard: `s${group}` } };
      case 'Alone':
        return {};
    }
  }

  #drawBudgets(): void {
    const random = this.#random;
    const count = pick(random, [0, 1, 1, 1, 1, 2]);
    for (let at = 0; at < count; at += 1) {
      const matchLabels = chance(random, 0.8) ? { app: 'a' } : { half: pick(random, ['a', 'b']) };
      const spec = {
        selector: { matchLabels },
        ...(chance(random, 0.3) && { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
        ...this.#amount(),
      };
      const annotations = this.#budgetAnnotations();
      this.#add(podDisruptionBudgetType as ResourceType, `pdb${at}`, spec, { annotations });
    }
    if (!chance(random, 0.4)) return;
    const grouped = this.#fleet.shape === 'Label' || this.#fleet.shape === 'LeaderWorkerSet';
    const key = this.#fleet.shape === 'Label' ? 'shard' : `${LWS}/group-index`;
    const minReadyReplicas = 1 + below(random, this.#fleet.size);
    const spec = {
      selector: { matchLabels: { app: 'a' } },
      protectTotalReplicas: this.#fleet.groups * (grouped ? 1 : this.#fleet.size),
      ...this.#amount(),
      ...(grouped && { podGroupPolicy: { groupLabelKey: key, minReadyReplicas } }),
    };
    this.#add(POD_UNAVAILABLE_BUDGETS as ResourceType, 'pub', spec);
  }

  #budgetAnnotations(): Record<string, string> {
    const random = this.#random;
    const { shape } = this.#fleet;
    const by = shape === 'LeaderWorkerSet' ? 'leaderworkerset' : shape === 'JobSet' ? 'jobset' : 'label:shard';
    const grouping = shape === 'LeaderWorkerSet' || shape === 'JobSet' || shape === 'Label';
    return {
      ...(grouping && chance(random, 0.8) && { 'policy.quorate.dev/group-by': by }),
      ...(shape === 'Label' && { 'policy.quorate.dev/group-min-count': `${this.#fleet.minCount}` }),
      ...(chance(random, 0.05) && { 'policy.quorate.dev/budget-scope': pick(random, ['Pod', 'PodGroup']) }),
      ...(chance(random, 0.1) && { 'policy.quorate.dev/drain-lookahead': 'Node' }),
    };
  }

  #amount(): object {
    const random = this.#random;
    const value = chance(random, 0.7) ? below(random, 4) : `${pick(random, [0, 25, 50, 67, 100])}%`;
    return chance(random, 0.5) ? { minAvailable: value } : { maxUnavailable: value };
  }

  #add(type: ResourceType | undefined, name: string, spec: object, more: object = {}): void {
    if (type === undefined) throw new Error(`no type for ${name}`);
    const metadata = { name, namespace: this.#options.namespace, ...more };
    this.#objects.push({ type, object: { metadata, spec } as KubeObject });
  }
}

interface Membership {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly spec?: object;
}

const NONE: Membership = {};
const isGroup = ({ metadata: { name = '' } }: KubeObject): boolean => name === 'w' || /^g\d$/.test(name);
const template = (labels: Record<string, string>, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const chance = (random: Random, of: number): boolean => random() < of;
const pick = <T>(random: Random, from: readonly T[]): T => from[below(random, from.length)] as T;
