/** The nodes of a scene and the pods that stand on them (distributions: placement design, section 8.1). */
import type { Node, Pod, Taint } from '../../src/api/generated/core-v1.ts';
import type { Dice } from './dice.ts';

export const GPU = 'nvidia.com/gpu';
export const HUGE = 'hugepages-2Mi';
const GIB = 2 ** 30;

/** Label keys of a scene's own: what counts nodes by a key counts none of another scene's. */
export const keysOf = (id: string) => ({
  scene: 'quorate.test/scene',
  zone: `${id}.test/zone`,
  rack: `${id}.test/rack`,
  host: `${id}.test/host`,
  pool: `${id}.test/pool`,
  level: `${id}.test/level`,
});

const SIZES = [
  { cpu: 8, memory: 32, gpu: 0, weight: 50 },
  { cpu: 32, memory: 128, gpu: 4, weight: 30 },
  { cpu: 96, memory: 768, gpu: 8, weight: 20 },
] as const;

export const TAINTS = ['dedicated', 'spare', 'slow'] as const;
export const APPS = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5'] as const;
export const PORTS = [8080, 8081, 8082] as const;

export function drawNodes(dice: Dice, id: string): Node[] {
  const count = Math.round(Math.exp(dice.real(Math.log(4), Math.log(40))));
  const zones = dice.whole(1, 4);
  const racks = dice.whole(1, Math.max(1, Math.floor(8 / zones)));
  return Array.from({ length: count }, (_, at) => drawNode(dice, id, { at, zones, racks }));
}

function drawNode(dice: Dice, id: string, { at, zones, racks }: { at: number; zones: number; racks: number }): Node {
  const keys = keysOf(id);
  const name = `${id}-n${String(at).padStart(2, '0')}`;
  const zone = `z${dice.whole(1, zones)}`;
  const drawn = dice.whole(1, 100);
  const size = drawn <= 50 ? SIZES[0] : drawn <= 80 ? SIZES[1] : SIZES[2];
  const allocatable: Record<string, string> = {
    cpu: String(size.cpu),
    memory: `${size.memory}Gi`,
    'ephemeral-storage': '200Gi',
    pods: String(dice.chance(20) ? dice.whole(8, 16) : dice.whole(30, 110)),
    ...(size.gpu > 0 && { [GPU]: String(size.gpu) }),
    ...(dice.chance(10) && { [HUGE]: '256Mi' }),
  };
  if (dice.chance(3)) delete allocatable[dice.pick(['cpu', 'memory', 'pods'])];
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': zone,
        [keys.scene]: id,
        [keys.zone]: zone,
        [keys.host]: name,
        [keys.pool]: size.gpu > 0 ? 'gpu' : 'cpu',
        ...(dice.chance(60) && { [keys.level]: String(dice.whole(0, 6)) }),
        ...(!dice.chance(10) && { [keys.rack]: `${zone}-r${dice.whole(1, racks)}` }),
      },
    },
    spec: { taints: drawTaints(dice), ...(dice.chance(5) && { unschedulable: true }) },
    status: { capacity: allocatable, allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function drawTaints(dice: Dice): Taint[] {
  const taints: Taint[] = [];
  const value = (): string => dice.pick(['x', 'y']);
  if (dice.chance(25)) taints.push({ key: dice.pick(TAINTS), value: value(), effect: 'NoSchedule' });
  if (dice.chance(5)) taints.push({ key: 'hot', value: value(), effect: 'NoExecute' });
  if (dice.chance(10)) taints.push({ key: dice.pick(TAINTS), value: value(), effect: 'PreferNoSchedule' });
  return taints;
}

/** Whole units of a quantity that this generator wrote: cpu in milli, the rest as it is. */
export function amountOf(name: string, quantity: string | undefined): number {
  if (quantity === undefined) return 0;
  const [, digits = '0', unit] = /^(\d+)(\D*)$/.exec(quantity) ?? [];
  const factor = unit === 'Gi' ? GIB : unit === 'Mi' ? 2 ** 20 : unit === 'm' ? 0.001 : 1;
  return Number(digits) * factor * (name === 'cpu' ? 1000 : 1);
}

/** Pods that stand: each node is filled to a share of its scarcest resource, one zone more than others half the time. */
export function drawPlaced(dice: Dice, id: string, nodes: readonly Node[]): Pod[] {
  const fill = dice.real(0.3, 0.95);
  const fuller = dice.chance(50) ? dice.pick(nodes).metadata.labels?.[keysOf(id).zone] : undefined;
  const groups = dice.whole(1, 3);
  const pods: Pod[] = [];
  for (const node of nodes) {
    const skewed = fuller === undefined || node.metadata.labels?.[keysOf(id).zone] === fuller;
    const share = Math.min(0.98, fill * (skewed ? 1.1 : 0.7));
    pods.push(...fillNode(dice, id, { node, share, groups, from: pods.length }));
  }
  return pods;
}

interface Filling {
  readonly node: Node;
  readonly share: number;
  readonly groups: number;
  readonly from: number;
}

function fillNode(dice: Dice, id: string, { node, share, groups, from }: Filling): Pod[] {
  const { allocatable } = node.status ?? {};
  const cpu = amountOf('cpu', allocatable?.['cpu']);
  const gpu = amountOf(GPU, allocatable?.[GPU]);
  const most = Math.min(amountOf('pods', allocatable?.['pods']), dice.whole(1, 4));
  const pods: Pod[] = [];
  let cpuLeft = cpu * share;
  let gpuLeft = Math.round(gpu * share);
  for (let at = 0; at < most; at += 1) {
    const last = at === most - 1;
    const milli = Math.floor((last ? cpuLeft : dice.real(0.2, 0.6) * cpuLeft) / 100) * 100;
    const devices = last ? gpuLeft : dice.whole(0, gpuLeft);
    cpuLeft -= milli;
    gpuLeft -= devices;
    pods.push(placedPod(dice, id, { node: node.metadata.name ?? '', at: from + at, milli, gpu: devices, groups }));
  }
  return pods;
}

interface PlacedOptions {
  readonly node: string;
  readonly at: number;
  readonly milli: number;
  readonly gpu: number;
  readonly groups: number;
}

function placedPod(dice: Dice, id: string, { at, gpu, groups, milli, node }: PlacedOptions): Pod {
  const keys = keysOf(id);
  const app = dice.pick(APPS);
  const key = dice.chance(70) ? keys.host : keys.zone;
  const requests = { cpu: `${milli}m`, memory: `${dice.whole(1, 8)}Gi`, ...(gpu > 0 && { [GPU]: String(gpu) }) };
  return {
    metadata: {
      name: `p${at}`,
      namespace: id,
      labels: { app, ...(dice.chance(30) && { standing: `g${dice.whole(1, groups)}` }) },
      ...(dice.chance(10) && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      nodeName: node,
      containers: [
        {
          name: 'main',
          image: 'main',
          resources: { requests, ...(gpu > 0 && { limits: { [GPU]: String(gpu) } }) },
          ...(dice.chance(20) && { ports: [drawPort(dice)] }),
        },
      ],
      ...(dice.chance(20) && {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: key, labelSelector: { matchLabels: { app: dice.pick(APPS) } } },
            ],
          },
        },
      }),
    },
  };
}

export function drawPort(dice: Dice): { containerPort: number; hostPort: number; protocol: string; hostIP?: string } {
  const port = dice.pick(PORTS);
  return {
    containerPort: port,
    hostPort: port,
    protocol: dice.chance(80) ? 'TCP' : 'UDP',
    ...(dice.chance(30) && { hostIP: dice.pick(['10.0.0.1', '10.0.0.2']) }),
  };
}
