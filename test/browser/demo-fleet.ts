/** A fleet that looks like one: training gangs, serving shards and a web service on twenty nodes. */
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import { builtinType } from '../../src/api/registry.ts';
import { podType } from '../../src/api/resource-types.ts';
import { leaderWorkerSetType } from '../../src/api/lws/types.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../src/api/kruise/types.ts';
import { POD_GROUP_TYPES } from '../../src/api/scheduling/index.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';
import { SIMULATED } from '../../src/app/index.ts';

const POOLS = [
  { pool: 'train-a', nodes: 8 },
  { pool: 'train-b', nodes: 8 },
  { pool: 'serve', nodes: 4 },
];
export const GANGS = 12;
const GANG_SIZE = 4;

const nodeNames = POOLS.flatMap(({ nodes, pool }) =>
  Array.from({ length: nodes }, (_, at) => ({ pool, name: `${pool}-${String(at).padStart(2, '0')}` })),
);

const node = ({ name, pool }: { name: string; pool: string }): KubeObject =>
  ({
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, pool },
      annotations: { [SIMULATED]: 'true' },
    },
    status: { capacity: { cpu: '4', memory: '32Gi', pods: '16' } },
  }) as KubeObject;

/** Some gangs can do without one of their members. */
export const SPARE_GANGS = 3;

const podGroup = (name: string, minCount: number): KubeObject =>
  ({
    metadata: { name, namespace: 'training' },
    spec: { schedulingPolicy: { gang: { minCount } } },
  }) as KubeObject;

const gang = (name: string, pool: string): KubeObject =>
  ({
    metadata: { name, namespace: 'training' },
    spec: {
      replicas: GANG_SIZE,
      podManagementPolicy: 'Parallel',
      serviceName: name,
      selector: { matchLabels: { gang: name } },
      template: {
        metadata: { labels: { app: 'training', gang: name } },
        spec: {
          schedulingGroup: { podGroupName: name },
          terminationGracePeriodSeconds: 1,
          nodeSelector: { pool },
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { gang: name } } },
              ],
            },
          },
          containers: [{ name: 'train', image: 'example.com/train', resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  }) as KubeObject;

const budget = (name: string, namespace: string, app: string, spec: object): KubeObject =>
  ({ metadata: { name, namespace }, spec: { ...spec, selector: { matchLabels: { app } } } }) as KubeObject;

const shards: KubeObject = {
  metadata: { name: 'llm', namespace: 'serving' },
  spec: {
    replicas: 3,
    leaderWorkerTemplate: {
      size: 3,
      workerTemplate: {
        metadata: { labels: { app: 'llm' } },
        spec: {
          nodeSelector: { pool: 'serve' },
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'serve', image: 'example.com/serve' }],
        },
      },
    },
  },
} as KubeObject;

const guard: KubeObject = {
  metadata: { name: 'llm', namespace: 'serving' },
  spec: {
    selector: { matchLabels: { app: 'llm' } },
    maxUnavailable: 1,
    podGroupPolicy: { groupLabelKey: 'leaderworkerset.sigs.k8s.io/group-index', minReadyReplicas: 3 },
  },
} as KubeObject;

const web: KubeObject = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    replicas: 5,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        nodeSelector: { pool: 'serve' },
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'web', image: 'nginx' }],
      },
    },
  },
} as KubeObject;

/** Makes the fleet and waits until all of it serves. */
export async function createDemoFleet(client: Client): Promise<void> {
  const create = (type: ResourceType, object: KubeObject) => client.create(type, object);
  for (const name of ['training', 'serving', 'shop']) await create(builtinType('Namespace'), { metadata: { name } });
  for (const one of nodeNames) await create(builtinType('Node'), node(one));
  for (let at = 0; at < GANGS; at += 1) {
    const name = `gang-${String(at).padStart(2, '0')}`;
    await create(POD_GROUP_TYPES[0] as ResourceType, podGroup(name, at < SPARE_GANGS ? GANG_SIZE - 1 : GANG_SIZE));
    await create(builtinType('StatefulSet', 'apps'), gang(name, at < GANGS / 2 ? 'train-a' : 'train-b'));
  }
  const pdb = builtinType('PodDisruptionBudget', 'policy');
  await create(pdb, budget('training', 'training', 'training', { maxUnavailable: 1 }));
  await create(pdb, budget('web', 'shop', 'web', { minAvailable: 5 }));
  await create(leaderWorkerSetType as ResourceType, shards);
  await create(POD_UNAVAILABLE_BUDGETS as ResourceType, guard);
  await create(builtinType('Deployment', 'apps'), web);
  const wanted = GANGS * GANG_SIZE + 9 + 5;
  await until(async () => {
    const { items } = await client.list(podType);
    const ready = items.filter(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    );
    return ready.length === wanted;
  });
  await until(async () => {
    const training = await client.get(pdb, { namespace: 'training', name: 'training' });
    return (training as { status?: { disruptionsAllowed?: number } }).status?.disruptionsAllowed === 1;
  });
}

/** Asks again soon until it is so; the test's own time limit ends what never is. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
}
