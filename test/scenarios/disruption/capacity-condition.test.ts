/** `CapacityAvailable` of budgets that ask for room: it says what an eviction would be told, and `why` says the same. */
import { expect, test } from 'vitest';
import type { Condition } from '../../../src/api/generated/meta-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import { explainTarget } from '../../../src/tasks/why/index.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { type ControlPlane, node, startControlPlane } from '../../../src/testkit/index.ts';

const namespace = 'default';
const key = { namespace, name: 'budget' };
const GPU = 'nvidia.com/gpu';

interface Kind {
  readonly name: string;
  /** Makes the budget; what it asks of room is changed by `ask`. */
  readonly create: (plane: ControlPlane) => Promise<unknown>;
  readonly ask: (plane: ControlPlane, mode: string) => Promise<unknown>;
  readonly conditions: (plane: ControlPlane) => Promise<readonly Condition[]>;
}

const labels = { app: 'llm', group: 'g' };
const CAPACITY = 'policy.quorate.dev/capacity';

const KINDS: readonly Kind[] = [
  {
    name: 'PodDisruptionBudget',
    create: ({ client }) =>
      client.create(podDisruptionBudgetType, {
        metadata: {
          ...key,
          annotations: {
            [CAPACITY]: 'Require',
            'policy.quorate.dev/group-by': 'label:group',
            'policy.quorate.dev/group-min-count': '2',
          },
        },
        spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: '100%' },
      }),
    ask: ({ client }, mode) =>
      client.patch(podDisruptionBudgetType, key, {
        type: 'merge',
        body: { metadata: { annotations: { [CAPACITY]: mode } } },
      }),
    conditions: async ({ client }) => (await client.get(podDisruptionBudgetType, key)).status?.conditions ?? [],
  },
  {
    name: 'PodUnavailableBudget',
    create: ({ client }) =>
      client.create(POD_UNAVAILABLE_BUDGETS, {
        metadata: key,
        spec: {
          selector: { matchLabels: { app: 'llm' } },
          maxUnavailable: '100%',
          podGroupPolicy: { groupLabelKey: 'group', minReadyReplicas: 2 },
          capacityPolicy: { mode: 'Require' },
        },
      }),
    ask: ({ client }, mode) =>
      client.patch(POD_UNAVAILABLE_BUDGETS, key, { type: 'merge', body: { spec: { capacityPolicy: { mode } } } }),
    conditions: async ({ client }) => (await client.get(POD_UNAVAILABLE_BUDGETS, key)).status?.conditions ?? [],
  },
];

async function addNode({ client }: ControlPlane, name: string, gpus: number, unschedulable = false): Promise<void> {
  await client.create(nodeType, node({ name, unschedulable, capacity: { [GPU]: String(gpus) } }));
  await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { taints: null } } });
}

async function addMember({ client }: ControlPlane, name: string): Promise<void> {
  const resources = { requests: { [GPU]: '1' }, limits: { [GPU]: '1' } };
  const spec = { nodeName: 'old', containers: [{ name: 'main', image: 'x', resources }] };
  const made = await client.create(podType, { metadata: { name, namespace, labels }, spec });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.updateStatus(podType, { ...made, status });
}

/** A minute, in which nodes tell that they live. */
async function passMinute(plane: ControlPlane): Promise<void> {
  const { client, clock } = plane;
  for (let at = 0; at < 4; at += 1) {
    const { items } = await client.list(nodeType);
    for (const { metadata, status } of items) {
      const conditions = status?.conditions?.map((one) => ({ ...one, lastHeartbeatTime: formatTime(clock.now()) }));
      const body = { status: { conditions } };
      await client.patch(nodeType, { name: metadata.name ?? '' }, { type: 'merge', body }, { subresource: 'status' });
    }
    await clock.advance(16_000);
    await plane.settle();
  }
}

async function refusalOf({ client }: ControlPlane, name: string): Promise<string> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await client.request('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction?dryRun=All`, body);
    return '';
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

for (const { ask, conditions, create, name } of KINDS) {
  test(`CP-02 CapacityAvailable of a ${name} says what an eviction and why say, and follows the nodes`, async () => {
    const plane = await startControlPlane({ controllers: true });
    try {
      const capacity = async () => (await conditions(plane)).find(({ type }) => type === 'CapacityAvailable');
      await addNode(plane, 'old', 2, true);
      await addNode(plane, 'new', 1);
      await create(plane);
      await addMember(plane, 'm-0');
      await addMember(plane, 'm-1');
      await plane.settle();
      await passMinute(plane);
      const binds = `NoRoom: 2 × ${GPU}; 1 is free on 1 node that matches`;
      expect(await capacity()).toMatchObject({ status: 'False', reason: 'NoRoom' });
      expect((await capacity())?.message).toContain(binds);
      expect(await refusalOf(plane, 'm-0')).toContain(binds);
      const why = await explainTarget(plane.client, { target: 'pod/m-0', namespace, now: plane.clock.now() });
      expect(why.lines.join('\n')).toContain(binds);

      await addNode(plane, 'newer', 1);
      await passMinute(plane);
      expect(await capacity()).toMatchObject({ status: 'True', reason: 'RoomFound' });
      expect(await refusalOf(plane, 'm-0')).toBe('');

      await ask(plane, 'Ignore');
      await passMinute(plane);
      expect(await capacity()).toBeUndefined();
    } finally {
      await plane.stop();
    }
  });
}
