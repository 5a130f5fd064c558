/** Drains of four nodes at once by the real kubectl, over three gangs that span them, and what that cost the gangs. */
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { type Client, Informer, silentLogger, systemClock } from '../../src/machinery/runtime/index.ts';
import * as stage from '../cluster/stage.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { NOT_READY_ANNOTATION, START_DELAY } from '../../src/nodes/index.ts';
import * as groups from '../scenarios/stories/groups.ts';

export interface Spelling {
  readonly minAvailable?: number | string;
  readonly maxUnavailable?: number | string;
}

/** The four ways to say that one of three gangs may go. */
export const SPELLINGS: readonly (readonly [string, Spelling])[] = [
  ['minAvailable: 2', { minAvailable: 2 }],
  ['minAvailable: 60%', { minAvailable: '60%' }],
  ['maxUnavailable: 1', { maxUnavailable: 1 }],
  ['maxUnavailable: 30%', { maxUnavailable: '30%' }],
];

/**
 * How long a new member takes. kubectl asks again for a refused pod every five seconds, each drain at its own time: a
 * gang that is whole again sooner is taken down by the next drain once more, and how often that happens is chance.
 */
export const START_SECONDS = 8;

export const GANGS = ['g0', 'g1', 'g2'];
const OLD = ['node-0', 'node-1', 'node-2', 'node-3'];
const NEW = ['node-4', 'node-5', 'node-6', 'node-7'];
export const NODES = OLD.length + NEW.length;

export interface DrainCost {
  /** How often a gang went from whole to not whole. */
  readonly outages: number;
  /** The most gangs that were not whole at once. */
  readonly mostDown: number;
  readonly drained: number;
  /** What kubectl said of drains that did not end well; absent where all did. */
  readonly failures?: readonly string[];
}

export interface DrainCase {
  /** Names the objects; another for every case. */
  readonly name: string;
  readonly size: number;
  readonly spec: object;
  readonly timeoutSeconds?: number;
  /** How long a new member takes. Default: longer than kubectl waits between two questions. */
  readonly startSeconds?: number;
  /** One member of the first gang is not Ready when the drains begin: that gang is down already. */
  readonly unready?: boolean;
}

/** Starts three gangs on four nodes, drains these, and counts; the gangs go to four other nodes. */
export async function drainFourNodes(plane: RealControlPlane, client: Client, one: DrainCase): Promise<DrainCost> {
  const { name, timeoutSeconds = 300 } = one;
  const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
  await kubectl('uncordon', ...OLD);
  await kubectl('cordon', ...NEW);
  await stage.apply(plane, ...objectsOf(one));
  const gangs = watchGangs(client, one);
  try {
    await stage.until(`the gangs of ${name}`, () => gangs.areWhole(), 240_000);
    await stage.until(`the budget of ${name}`, async () => {
      const budget = await client.get(podDisruptionBudgetType, { namespace: 'default', name });
      return (budget.status?.disruptionsAllowed ?? 0) > 0;
    });
    await kubectl('uncordon', ...NEW);
    await kubectl('cordon', ...OLD);
    if (one.unready) {
      const { items } = await client.list(podType, { namespace: 'default', labelSelector: `app=${name},gang=g0` });
      await kubectl('annotate', 'pod', items[0]?.metadata.name ?? '', `${NOT_READY_ANNOTATION}=true`);
      await stage.until('the gang of that pod to be down', () => !gangs.areWhole());
    }
    gangs.count();
    const drain = ['--ignore-daemonsets', `--pod-selector=app=${name}`, `--timeout=${timeoutSeconds}s`];
    const drains = await Promise.allSettled(OLD.map((node) => kubectl('drain', node, ...drain)));
    const failures = drains.flatMap((one) => (one.status === 'rejected' ? [errorsOf(one.reason)] : []));
    const cost = { ...gangs.cost(), drained: drains.length - failures.length };
    return failures.length === 0 ? cost : { ...cost, failures };
  } finally {
    gangs.stop();
    await kubectl('delete', 'pdb', name, '--wait=false');
    await kubectl('delete', 'replicasets,pods', '-l', `app=${name}`, '--grace-period=0', '--force');
  }
}

/** kubectl goes on after an error and ends with the nodes that it left: the reason is in the lines before. */
function errorsOf({ message, stderr = message }: Error & { stderr?: string }): string {
  const lines = stderr.trim().split('\n');
  const errors = lines.filter((line) => /^error/i.test(line) && !line.includes('(will retry after'));
  return [...new Set(errors.length > 0 ? errors : lines.slice(-3))].join('\n');
}

function objectsOf({ name, size, spec, startSeconds = START_SECONDS }: DrainCase): object[] {
  const gangName = (gang: string): string => `${name}-${gang}`;
  return [
    groups.workload(stage.groupVersion, name, size),
    ...GANGS.map((gang) => groups.podGroup(stage.groupVersion, gangName(gang), name, size)),
    ...GANGS.map((gang) => {
      const labels = { app: name, gang };
      return {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: gangName(gang), namespace: 'default', labels },
        spec: {
          replicas: size,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels, annotations: { [START_DELAY]: `${startSeconds}s` } },
            spec: podSpec(gangName(gang), labels),
          },
        },
      };
    }),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: 'default' },
      spec: { selector: { matchLabels: { app: name } }, ...spec },
    },
  ];
}

/** Spread evenly over the nodes that take pods, so that every drain meets every gang. */
function podSpec(gang: string, labels: object): object {
  const spread = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' };
  return {
    terminationGracePeriodSeconds: 1,
    schedulingGroup: { podGroupName: gang },
    topologySpreadConstraints: [{ ...spread, nodeTaintsPolicy: 'Honor', labelSelector: { matchLabels: labels } }],
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
  };
}

interface WatchedGangs {
  areWhole(): boolean;
  /** Begins to count. */
  count(): void;
  cost(): Pick<DrainCost, 'outages' | 'mostDown'>;
  stop(): void;
}

/** Follows every change of the pods, so that no outage is missed, however short. */
function watchGangs(client: Client, { name, size }: DrainCase): WatchedGangs {
  const ready = new Map<string, Set<string>>(GANGS.map((gang) => [gang, new Set()]));
  const down = new Set(GANGS);
  let outages = 0;
  let mostDown = 0;
  const see = ({ metadata, status }: Pod, isGone = false): void => {
    const gang = metadata.labels?.['gang'] ?? '';
    const pods = ready.get(gang);
    if (pods === undefined) return;
    const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
    if (isReady && !isGone && metadata.deletionTimestamp === undefined) pods.add(metadata.uid ?? '');
    else pods.delete(metadata.uid ?? '');
    if (pods.size >= size) down.delete(gang);
    else if (!down.has(gang)) {
      down.add(gang);
      outages += 1;
    }
    mostDown = Math.max(mostDown, down.size);
  };
  const abort = new AbortController();
  const informer = new Informer({
    client,
    clock: systemClock,
    log: silentLogger,
    type: podType,
    namespace: 'default',
    labelSelector: `app=${name}`,
  });
  informer.addHandler({ added: (pod) => see(pod), updated: (pod) => see(pod), deleted: (pod) => see(pod, true) });
  informer.start(abort.signal);
  return {
    areWhole: () => down.size === 0,
    count() {
      outages = 0;
      mostDown = down.size;
    },
    cost: () => ({ outages, mostDown }),
    stop: () => abort.abort(),
  };
}
