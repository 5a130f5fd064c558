/** A fleet of GPU nodes full of gangs: what a drain by plan meets on a real control plane. */
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import { servedPodGroup } from '../../src/api/scheduling/index.ts';
import { type Client, Informer, silentLogger, systemClock } from '../../src/machinery/runtime/index.ts';
import { START_DELAY } from '../../src/nodes/index.ts';
import * as stage from '../cluster/stage.ts';
import * as groups from '../scenarios/stories/groups.ts';

export const GPU = 'nvidia.com/gpu';
export const ZONES = ['a', 'b', 'c', 'd'];
const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
export const MEMBERS = 8;
const GANGS_OF_A_BUDGET = 10;
const APP = 'train';

export const NODE_SHAPE = {
  capacity: { cpu: '96', memory: '768Gi', [GPU]: '8' },
  labels: { pool: 'gpu' },
  taints: [{ key: GPU, value: 'present', effect: 'NoSchedule' }],
};

export interface FleetOptions {
  readonly gangs: number;
  readonly startSeconds: number;
}

const nameOf = (at: number): string => `gang-${String(at).padStart(3, '0')}`;

/**
 * Gangs of eight with a GPU each. Of four, one must share a zone, one spreads over its nodes, one may not share a node
 * with a member, and one goes anywhere. A budget over ten of them lets two go at a time.
 */
export function fleetObjects({ gangs, startSeconds }: FleetOptions): object[] {
  const names = Array.from({ length: gangs }, (_, at) => nameOf(at));
  const budgets = Array.from({ length: Math.ceil(gangs / GANGS_OF_A_BUDGET) }, (_, at) => String(at));
  return [
    groups.workload(stage.groupVersion, APP, MEMBERS),
    ...names.map((name, at) => podGroupOf(name, at % 4 === 0)),
    ...names.map((name, at) => replicaSetOf(name, at, startSeconds)),
    ...budgets.map((team) => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: `team-${team}`, namespace: 'default' },
      spec: { maxUnavailable: 2, selector: { matchLabels: { team } } },
    })),
  ];
}

function podGroupOf(name: string, inOneZone: boolean): object {
  const spec = {
    workloadRef: { workloadName: APP, templateName: 'gang' },
    schedulingPolicy: { gang: { minCount: MEMBERS } },
    ...(inOneZone && { schedulingConstraints: { topology: [{ key: ZONE }] } }),
  };
  return { ...servedPodGroup({ metadata: { name }, spec }, stage.groupVersion), kind: 'PodGroup' };
}

function replicaSetOf(name: string, at: number, startSeconds: number): object {
  const labels = { app: APP, gang: name, team: String(Math.floor(at / GANGS_OF_A_BUDGET)) };
  const own = { matchLabels: { gang: name } };
  const rules = [
    {},
    {
      topologySpreadConstraints: [
        { maxSkew: 2, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: own },
      ],
    },
    {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, labelSelector: own }],
        },
      },
    },
    {},
  ][at % 4];
  const gpus = { requests: { cpu: '4', memory: '16Gi', [GPU]: '1' }, limits: { [GPU]: '1' } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default', labels },
    spec: {
      replicas: MEMBERS,
      selector: own,
      template: {
        metadata: { labels, annotations: { [START_DELAY]: `${startSeconds}s` } },
        spec: {
          terminationGracePeriodSeconds: 1,
          schedulingGroup: { podGroupName: name },
          nodeSelector: { pool: 'gpu' },
          tolerations: [{ key: GPU, operator: 'Exists' }],
          containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9', resources: gpus }],
          ...rules,
        },
      },
    },
  };
}

export interface GangWatch {
  /** Gangs that are not whole. */
  down(): string[];
  /** Forgets what went down before. */
  count(): void;
  /** How often each gang went from whole to not whole. */
  outages(): ReadonlyMap<string, number>;
  stop(): void;
}

/** Follows every change of the pods, so that no outage is missed, however short. */
export function watchGangs(client: Client, gangs: number): GangWatch {
  const ready = new Map(Array.from({ length: gangs }, (_, at) => [nameOf(at), new Set<string>()]));
  const down = new Set(ready.keys());
  const outages = new Map<string, number>();
  const see = ({ metadata, status }: Pod, isGone = false): void => {
    const gang = metadata.labels?.['gang'] ?? '';
    const pods = ready.get(gang);
    if (pods === undefined) return;
    const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
    if (isReady && !isGone && metadata.deletionTimestamp === undefined) pods.add(metadata.uid ?? '');
    else pods.delete(metadata.uid ?? '');
    if (pods.size >= MEMBERS) down.delete(gang);
    else if (!down.has(gang)) {
      down.add(gang);
      outages.set(gang, (outages.get(gang) ?? 0) + 1);
    }
  };
  const abort = new AbortController();
  const labelSelector = `app=${APP}`;
  const rest = { client, clock: systemClock, log: silentLogger, namespace: 'default', labelSelector };
  const informer = new Informer({ ...rest, type: podType });
  informer.addHandler({ added: (pod) => see(pod), updated: (pod) => see(pod), deleted: (pod) => see(pod, true) });
  informer.start(abort.signal);
  return {
    down: () => [...down].sort(),
    count: () => outages.clear(),
    outages: () => outages,
    stop: () => abort.abort(),
  };
}
