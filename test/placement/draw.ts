/** Draws a scene from a seed: same seed, same cluster and question. */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/api/generated/core-v1.ts';
import { firstUntolerated } from '../../src/api/core/toleration.ts';
import { compileNodeChoice, matchesNodeChoice } from '../../src/decisions/placement/index.ts';
import { Dice } from './dice.ts';
import { amountOf, drawNodes, drawPlaced, GPU, HUGE, keysOf } from './draw-cluster.ts';
import { drawRoles, drawRules, drawTerms, memberOf, type Requests, type Role, type Rules } from './draw-group.ts';
import { DEVICES, remaining, type Scene, type Standing } from './scene.ts';

export function drawScene(seed: number, id = `s${seed}`): Scene {
  const dice = new Dice(seed);
  const nodes = drawNodes(dice, id);
  const placed = drawPlaced(dice, id, nodes);
  const gone = drawChange(dice, nodes, placed);
  const roles = drawRoles(dice);
  const members = roles.reduce((sum, role) => sum + role.members, 0);
  const terms = drawTerms(dice, id, members);
  const rules = drawRules(dice, id);
  const standing = { nodes, placed, gone };
  const size = drawSize(dice, id, { standing, roles, rules, topologyKey: terms?.topologyKey });
  const bad = dice.chance(2);
  const scene: Scene = {
    ...standing,
    seed,
    id,
    volumes: [],
    claims: [],
    classes: [],
    slices: [],
    devices: undefined,
    group: terms,
    asked: [],
    need: terms?.policy === 'gang' ? terms.minCount : members,
    traits: [
      ...rules.traits,
      ...(terms === undefined ? ['plain'] : [terms.policy]),
      ...(terms?.topologyKey ? ['topology'] : []),
    ],
  };
  const asked = roles.flatMap((role) =>
    Array.from({ length: role.members }, (_, index) => {
      const requests = { ...scaled(size, role.factor), ...(bad && { 'example.com/tpu': '1' }) };
      return memberOf(dice, id, { role: role.name, index, requests, rules, terms });
    }),
  );
  return withDevices(dice, withVolume(dice, { ...scene, asked }));
}

/** Up to half of the nodes go, and up to two of the groups that stand. */
function drawChange(dice: Dice, nodes: readonly Node[], placed: readonly Pod[]): Scene['gone'] {
  const share = dice.chance(30) ? 0 : dice.real(0, 0.5);
  const leaving = new Set(
    dice
      .shuffled(nodes)
      .slice(0, Math.floor(nodes.length * share))
      .map(({ metadata }) => metadata.name ?? ''),
  );
  const groups = new Set(dice.shuffled(['g1', 'g2', 'g3']).slice(0, dice.whole(0, 2)));
  const pods = placed.filter(({ metadata }) => groups.has(metadata.labels?.['standing'] ?? ''));
  return { nodes: leaving, pods: new Set(pods.map(({ metadata }) => metadata.name ?? '')) };
}

interface Sizing {
  readonly standing: Standing;
  readonly roles: readonly Role[];
  readonly rules: Rules;
  readonly topologyKey: string | undefined;
}

interface Size {
  readonly milli: number;
  readonly gpu: number;
  readonly huge: boolean;
  readonly memory: number;
}

/** So large that all together take 40 to 110 % of what is free where they may go. */
function drawSize(dice: Dice, id: string, { standing, roles, rules, topologyKey }: Sizing): Size {
  const { nodes, placed } = remaining(standing);
  const choice = compileNodeChoice({ containers: [], ...rules.spec });
  const open = nodes.filter(
    ({ metadata, spec }) =>
      matchesNodeChoice(choice, metadata.labels ?? {}, metadata.name ?? '') &&
      firstUntolerated(
        (spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule'),
        rules.spec.tolerations ?? [],
      ) === undefined,
  );
  const near = rules.spec.affinity?.podAffinity !== undefined ? keysOf(id).zone : undefined;
  const free = (resource: string): number => {
    const byDomain = new Map<string, number>();
    for (const { metadata, status } of open) {
      const name = metadata.name ?? '';
      const taken = placed
        .filter(({ spec }) => spec?.nodeName === name)
        .reduce((sum, { spec }) => sum + amountOf(resource, spec?.containers[0]?.resources?.requests?.[resource]), 0);
      const key = topologyKey ?? near;
      const domain = key === undefined ? '' : (metadata.labels?.[key] ?? '');
      const left = Math.max(0, amountOf(resource, status?.allocatable?.[resource]) - taken);
      byDomain.set(domain, (byDomain.get(domain) ?? 0) + left);
    }
    return Math.max(0, ...byDomain.values());
  };
  const weight = roles.reduce((sum, { factor, members }) => sum + factor * members, 0);
  const share = dice.real(0.4, 1.1);
  const gpus = free(GPU);
  const byGpu = gpus >= weight && dice.chance(70);
  const milli = Math.max(50, Math.floor((free('cpu') * share * (byGpu ? 0.3 : 1)) / weight / 50) * 50);
  return {
    milli,
    gpu: byGpu ? Math.max(1, Math.floor((gpus * share) / weight)) : 0,
    huge: dice.chance(5),
    memory: dice.whole(1, 4),
  };
}

function scaled({ gpu, huge, memory, milli }: Size, factor: number): Requests {
  return {
    cpu: `${Math.max(50, Math.round((milli * factor) / 50) * 50)}m`,
    memory: `${memory}Gi`,
    ...(gpu > 0 && { [GPU]: String(Math.max(1, Math.round(gpu * factor))) }),
    ...(huge && { [HUGE]: '64Mi' }),
  };
}

/** One member in ten scenes has a volume that only some nodes reach; now and then its claim does not exist. */
function withVolume(dice: Dice, scene: Scene): Scene {
  const { asked, id } = scene;
  const [first, ...others] = asked;
  if (!dice.chance(10) || first === undefined) return scene;
  const keys = keysOf(id);
  const name = `${id}-data`;
  const values = dice.pick([['z1'], ['z1', 'z2']]);
  const volume: PersistentVolume = {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      csi: { driver: 'csi.test', volumeHandle: name },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: id, name: 'data' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: keys.zone, operator: 'In', values }] }] },
      },
    },
  };
  const claim: PersistentVolumeClaim = {
    metadata: { name: 'data', namespace: id, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeName: name,
      storageClassName: '',
      resources: { requests: { storage: '1Gi' } },
    },
  };
  const dangling = dice.chance(15);
  const mounted: Pod = {
    ...first,
    spec: {
      ...(first.spec as NonNullable<Pod['spec']>),
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  };
  return {
    ...scene,
    asked: [mounted, ...others],
    volumes: dangling ? [] : [volume],
    claims: dangling ? [] : [claim],
    traits: [...scene.traits, dangling ? 'dangling claim' : 'volume'],
  };
}

/** In one scene of ten every member wants devices of a class, of which some nodes have a few. */
function withDevices(dice: Dice, scene: Scene): Scene {
  if (!dice.chance(10)) return scene;
  const { asked, id, nodes } = scene;
  const driver = `${id}.test`;
  const count = dice.whole(1, 2);
  const missing = dice.chance(10);
  const slices = remaining(scene).nodes.flatMap(({ metadata }) => {
    const devices = dice.chance(70) ? dice.whole(1, 6) : 0;
    if (devices === 0) return [];
    const nodeName = metadata.name ?? '';
    return [
      {
        metadata: { name: `${nodeName}-devices` },
        spec: {
          driver,
          nodeName,
          pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
          devices: Array.from({ length: devices }, (_, at) => ({ name: `d${at}` })),
        },
      },
    ];
  });
  const selectors = [{ cel: { expression: `device.driver == '${driver}'` } }];
  return {
    ...scene,
    nodes,
    classes: missing ? [] : [{ metadata: { name: `${id}-class` }, spec: { selectors } }],
    slices,
    devices: {
      devices: {
        requests: [{ name: 'some', exactly: { deviceClassName: `${id}-class`, allocationMode: 'ExactCount', count } }],
      },
    },
    asked: asked.map((pod) => ({
      ...pod,
      spec: {
        ...(pod.spec as NonNullable<Pod['spec']>),
        resourceClaims: [{ name: DEVICES, resourceClaimTemplateName: DEVICES }],
      },
    })),
    traits: [...scene.traits, missing ? 'class missing' : 'devices'],
  };
}
