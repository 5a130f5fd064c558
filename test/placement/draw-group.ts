/** The group that is asked about: its shapes, its rules and what its PodGroup says. */
import type {
  Affinity,
  Container,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
  TopologySpreadConstraint,
} from '../../src/api/generated/core-v1.ts';
import type { Dice } from './dice.ts';
import { APPS, drawPort, keysOf, TAINTS } from './draw-cluster.ts';
import { GROUP_NAME, type GroupTerms } from './scene.ts';

/** Requests of one member by resource, as quantities. */
export type Requests = Readonly<Record<string, string>>;

/** A role of the group: its members have one shape. */
export interface Role {
  readonly name: string;
  readonly members: number;
  /** How much larger than the others. */
  readonly factor: number;
}

export function drawRoles(dice: Dice): Role[] {
  const members = dice.chance(15) ? 1 : Math.round(Math.exp(dice.real(Math.log(2), Math.log(32))));
  const drawn = dice.whole(1, 100);
  if (members === 1 || drawn <= 60) return [{ name: 'worker', members, factor: 1 }];
  const leader: Role = { name: 'leader', members: 1, factor: dice.pick([0.5, 2, 3]) };
  if (drawn <= 90 || members < 3) return [leader, { name: 'worker', members: members - 1, factor: 1 }];
  const helpers = dice.whole(1, members - 2);
  return [
    leader,
    { name: 'helper', members: helpers, factor: dice.pick([0.5, 2]) },
    { name: 'worker', members: members - 1 - helpers, factor: 1 },
  ];
}

export function drawTerms(dice: Dice, id: string, members: number): GroupTerms | undefined {
  const drawn = dice.whole(1, 100);
  const where = dice.whole(1, 100);
  const keys = keysOf(id);
  const topologyKey = where <= 20 ? keys.zone : where <= 40 ? keys.rack : undefined;
  if (drawn > 80) return undefined;
  if (drawn > 70) return { policy: 'basic', minCount: 1, topologyKey };
  const minCount = dice.chance(80) || members === 1 ? members : dice.whole(1, members - 1);
  return { policy: 'gang', minCount, topologyKey };
}

/** Rules that all members share, and the words for the report. */
export interface Rules {
  readonly spec: Omit<PodSpec, 'containers'>;
  readonly traits: string[];
  readonly port: ReturnType<typeof drawPort> | undefined;
  /** Asks for all of a pod at once instead of by container. */
  readonly podLevel: boolean;
  readonly init: boolean;
}

const SELF = { matchLabels: { asked: 'yes' } };

export function drawRules(dice: Dice, id: string): Rules {
  const keys = keysOf(id);
  const traits: string[] = [];
  const when = <T>(percent: number, trait: string, make: () => T): T | undefined => {
    if (!dice.chance(percent)) return undefined;
    traits.push(trait);
    return make();
  };
  const pool = when(20, 'selector', () => ({ [keys.pool]: dice.pick(['gpu', 'cpu']) }));
  const tolerations = when(40, 'tolerations', () => drawTolerations(dice)) ?? [];
  const nodeTerms = when(20, 'node affinity', () => drawNodeTerms(dice, id));
  const anti = [
    ...(when(15, 'anti host', () => [{ topologyKey: keys.host, labelSelector: SELF }]) ?? []),
    ...(when(5, 'anti zone', () => [{ topologyKey: keys.zone, labelSelector: SELF }]) ?? []),
    ...(when(5, 'anti others', () => [
      { topologyKey: keys.host, labelSelector: { matchLabels: { app: dice.pick(APPS) } } },
    ]) ?? []),
  ];
  const near = [
    ...(when(10, 'near self', () => [{ topologyKey: keys.zone, labelSelector: SELF }]) ?? []),
    ...(when(5, 'near others', () => [
      { topologyKey: keys.zone, labelSelector: { matchLabels: { app: dice.pick(APPS) } } },
    ]) ?? []),
  ];
  const spread = when(20, 'spread', () => drawSpread(dice, id)) ?? [];
  const port = when(5, 'port', () => drawPort(dice));
  const affinity: Affinity = {
    ...(nodeTerms && {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: nodeTerms } },
    }),
    ...(anti.length > 0 && { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: anti } }),
    ...(near.length > 0 && { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near } }),
  };
  return {
    spec: {
      nodeSelector: { [keys.scene]: id, ...pool },
      tolerations,
      affinity,
      topologySpreadConstraints: spread,
      ...(when(5, 'overhead', () => true) && { overhead: { cpu: '250m', memory: '128Mi' } }),
    },
    traits,
    port,
    podLevel: when(10, 'pod level', () => true) ?? false,
    init: when(30, 'init', () => true) ?? false,
  };
}

function drawTolerations(dice: Dice): Toleration[] {
  const one = (): Toleration => {
    const key = dice.pick([...TAINTS, 'hot', 'node.kubernetes.io/unschedulable']);
    const effect = dice.pick([undefined, 'NoSchedule', 'NoExecute']);
    const shape = dice.chance(50) ? { operator: 'Exists' } : { operator: 'Equal', value: dice.pick(['x', 'y']) };
    return { key, ...shape, ...(effect && { effect }) };
  };
  return dice.chance(15) ? [{ operator: 'Exists' }] : Array.from({ length: dice.whole(1, 3) }, one);
}

function drawNodeTerms(dice: Dice, id: string): NodeSelectorTerm[] {
  const keys = keysOf(id);
  const expression = () =>
    dice.pick([
      { key: keys.zone, operator: 'In', values: ['z1', dice.pick(['z2', 'z3'])] },
      { key: keys.zone, operator: 'NotIn', values: [dice.pick(['z1', 'z2', 'z3'])] },
      { key: keys.level, operator: 'Gt', values: [String(dice.whole(0, 3))] },
      { key: keys.level, operator: 'Lt', values: [String(dice.whole(3, 6))] },
      { key: keys.level, operator: 'Exists' },
      { key: keys.rack, operator: 'DoesNotExist' },
      { key: keys.rack, operator: 'Exists' },
    ]);
  return Array.from({ length: dice.whole(1, 2) }, () => ({
    matchExpressions: Array.from({ length: dice.whole(1, 2) }, expression),
    ...(dice.chance(10) && {
      matchFields: [
        {
          key: 'metadata.name',
          operator: dice.pick(['In', 'NotIn']),
          values: [`${id}-n${dice.pick(['00', '01', '02'])}`],
        },
      ],
    }),
  }));
}

function drawSpread(dice: Dice, id: string): TopologySpreadConstraint[] {
  const keys = keysOf(id);
  const all = dice.shuffled([keys.zone, keys.rack, keys.host]).slice(0, dice.chance(25) ? 2 : 1);
  return all
    .map((topologyKey) => ({
      topologyKey,
      maxSkew: dice.whole(1, 3),
      whenUnsatisfiable: dice.chance(90) ? 'DoNotSchedule' : 'ScheduleAnyway',
      labelSelector: dice.chance(80) ? SELF : { matchLabels: { app: dice.pick(APPS) } },
      ...(dice.chance(20) && { nodeAffinityPolicy: dice.pick(['Honor', 'Ignore']) }),
      ...(dice.chance(20) && { nodeTaintsPolicy: dice.pick(['Honor', 'Ignore']) }),
    }))
    .map((one) =>
      one.whenUnsatisfiable === 'DoNotSchedule' && dice.chance(10) ? { ...one, minDomains: dice.whole(2, 3) } : one,
    );
}

/** Splits a member's requests between containers, so that their sum under the rules of init containers is the same. */
export function containersOf(
  dice: Dice,
  requests: Requests,
  rules: Rules,
): Pick<PodSpec, 'containers' | 'initContainers'> {
  const resources = { requests: { ...requests }, limits: limitsOf(requests) };
  const main: Container = { name: 'main', image: 'main', resources, ...(rules.port && { ports: [rules.port] }) };
  if (!rules.init) return { containers: [main] };
  const small = { requests: { cpu: '100m', memory: '64Mi' } };
  const init: Container[] = [{ name: 'setup', image: 'setup', resources }];
  if (dice.chance(50)) init.unshift({ name: 'sidecar', image: 'sidecar', restartPolicy: 'Always', resources: small });
  if (dice.chance(30)) init.push({ name: 'late', image: 'late', restartPolicy: 'Always', resources: small });
  return { containers: [main], initContainers: init };
}

/** A little more than the containers ask for together, whatever their order. */
function podLevelOf({ cpu = '0m', memory = '0Gi' }: Requests): Requests {
  return { cpu: `${Number.parseInt(cpu, 10) + 500}m`, memory: `${Number.parseInt(memory, 10) + 1}Gi` };
}

/** What is not divisible is limited to what is asked for. */
function limitsOf(requests: Requests): Record<string, string> {
  return Object.fromEntries(
    Object.entries(requests).filter(([name]) => name.includes('/') || name.startsWith('hugepages-')),
  );
}

export function memberOf(
  dice: Dice,
  id: string,
  {
    role,
    index,
    requests,
    rules,
    terms,
  }: {
    role: string;
    index: number;
    requests: Requests;
    rules: Rules;
    terms: GroupTerms | undefined;
  },
): Pod {
  return {
    metadata: { name: `${role}-${index}`, namespace: id, labels: { asked: 'yes', role, app: 'asked' } },
    spec: {
      ...rules.spec,
      ...containersOf(dice, requests, rules),
      ...(rules.podLevel && { resources: { requests: podLevelOf(requests) } }),
      priorityClassName: PRIORITY_CLASS,
      ...(terms && { schedulingGroup: { podGroupName: GROUP_NAME } }),
    },
  };
}

/** Asked pods are as important as those that stand, and push out nobody. */
export const PRIORITY_CLASS = 'quorate-test-never';
