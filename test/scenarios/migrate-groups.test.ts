/** Groups moved over an upgrade: twins stand in for them, and budgets count the same at every moment. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { groupDefinitions } from '../../src/api/crds/index.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import { podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { OWN_SCHEDULING_GROUP, podGroupType, workloadType } from '../../src/api/scheduling/index.ts';
import { DisruptionIndex, FED_KINDS } from '../../src/decisions/disruption/index.ts';
import { type Client, createClient, isNotFound, type Transport } from '../../src/machinery/runtime/index.ts';
import { deleteOld, importGroups, MigrationError, writeTwins } from '../../src/tasks/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane();
  const definitions = builtinType('CustomResourceDefinition', 'apiextensions.k8s.io');
  for (const definition of groupDefinitions) await plane.client.create(definitions, definition as KubeObject);
  await makeGangs();
});
afterEach(() => plane.stop());

const native = { workload: workloadType('v1alpha2'), group: podGroupType('v1alpha2') };
const own = {
  workload: workloadType('v1beta1', OWN_SCHEDULING_GROUP),
  group: podGroupType('v1beta1', OWN_SCHEDULING_GROUP),
};
const namespace = 'default';

/** Two gangs of two pods under a budget, one member of the second not Ready. */
async function makeGangs(): Promise<void> {
  const { client } = plane;
  const gang = { schedulingPolicy: { gang: { minCount: 2 } } };
  const workload = await client.create(native.workload, {
    metadata: { name: 'train', namespace },
    spec: { podGroupTemplates: [{ name: 'gang', ...gang }] },
  } as KubeObject);
  const reference = {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: 'Workload',
    name: 'train',
    uid: workload.metadata.uid ?? '',
  };
  for (const group of ['g0', 'g1']) {
    const made = { workload: { workloadName: 'train', podGroupTemplateName: 'gang' } };
    await client.create(native.group, {
      metadata: { name: group, namespace, ownerReferences: [reference] },
      spec: { ...gang, podGroupTemplateRef: made, disruptionMode: 'PodGroup' },
    } as KubeObject);
    for (const at of [0, 1]) {
      await client.create(podType, {
        metadata: { name: `${group}-${at}`, namespace, labels: { app: 'train' } },
        spec: { schedulingGroup: { podGroupName: group }, containers: [{ name: 'c', image: 'c:1' }] },
      });
      const ready = group === 'g1' && at === 1 ? 'False' : 'True';
      const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] } };
      const key = { namespace, name: `${group}-${at}` };
      await client.patch(podType, key, { type: 'merge', body }, { subresource: 'status' });
    }
  }
  await client.create(podDisruptionBudgetType, {
    metadata: { name: 'train', namespace },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'train' } } },
  });
}

/** What the budget counts by all that the cluster says, whoever serves it. */
async function counted(): Promise<object> {
  const index = new DisruptionIndex();
  for (const kind of FED_KINDS) {
    const [type] = kind.types;
    if (type === undefined) continue;
    for (const object of (await plane.client.list(type)).items) kind.set(index, object);
  }
  const { expectedUnits, healthy, mode } = index.count(namespace, 'train', plane.clock.now()) ?? {};
  return { expectedUnits, healthy, mode };
}

const names = async (type: ResourceType): Promise<(string | undefined)[]> =>
  (await plane.client.list(type, { namespace })).items.map(({ metadata }) => metadata.name);
const pods = async (): Promise<Pod[]> => (await plane.client.list(podType, { namespace })).items;
const uids = async (): Promise<(string | undefined)[]> => (await pods()).map(({ metadata }) => metadata.uid);

const done: string[] = [];
const options = (dryRun = false) => ({ now: plane.clock.now(), dryRun, did: (what: string) => void done.push(what) });

/** A client whose connection is lost after so many writes. */
function losing(after: number): { client: Client; lost: () => boolean } {
  let writes = 0;
  const transport: Transport = (request) => {
    if (request.method !== 'GET' && (writes += 1) > after) throw new Error('the connection was lost');
    return plane.transport(request);
  };
  return { client: createClient({ transport, userAgent: 'test' }), lost: () => writes > after };
}

test('GC-11 groups go to twins and come back as v1beta1, no pod is touched but for its annotation', async () => {
  const before = await counted();
  const pods0 = await uids();
  expect(before).toMatchObject({ expectedUnits: 2, healthy: 1 });
  await expect(deleteOld(plane.client, options())).rejects.toThrow('3 groups have no twin yet');

  expect(await writeTwins(plane.client, options())).toEqual({ groups: 3, pods: 4, budgets: 1 });
  expect(await names(own.group)).toEqual(['g0', 'g1']);
  const twin = await plane.client.get(own.group, { namespace, name: 'g0' });
  const above = await plane.client.get(own.workload, { namespace, name: 'train' });
  expect((twin as KubeObject & { spec: object }).spec).toMatchObject({
    workloadRef: { workloadName: 'train', templateName: 'gang' },
    disruptionMode: { all: {} },
    schedulingPolicy: { gang: { minCount: 2 } },
  });
  expect((twin.metadata as { ownerReferences?: object[] }).ownerReferences).toEqual([
    expect.objectContaining({ apiVersion: 'scheduling.quorate.dev/v1beta1', uid: above.metadata.uid }),
  ]);
  expect(await counted()).toEqual(before);

  await deleteOld(plane.client, options());
  expect(await names(native.group)).toEqual([]);
  expect(await names(native.workload)).toEqual([]);
  expect(await counted()).toEqual(before);

  await importGroups(plane.client, options());
  expect(await names(podGroupType('v1beta1'))).toEqual(['g0', 'g1']);
  expect(await names(own.group)).toEqual([]);
  expect(await names(own.workload)).toEqual([]);
  expect(await counted()).toEqual(before);
  expect(await uids()).toEqual(pods0);
  expect((await pods()).flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}))).toEqual([]);
});

test('a dry run of every step says what it would do and changes nothing', async () => {
  const { store } = plane;
  const revision = store.revision;
  done.length = 0;
  await writeTwins(plane.client, options(true));
  expect(done).toEqual([
    'create scheduling.quorate.dev/v1beta1 Workload default/train',
    'create scheduling.quorate.dev/v1beta1 PodGroup default/g0',
    'create scheduling.quorate.dev/v1beta1 PodGroup default/g1',
    ...['g0-0', 'g0-1', 'g1-0', 'g1-1'].map((name) => `annotate Pod default/${name}`),
  ]);
  expect(store.revision).toBe(revision);
  await writeTwins(plane.client, options());
  const later = store.revision;
  await deleteOld(plane.client, options(true));
  await importGroups(plane.client, options(true));
  expect(store.revision).toBe(later);
});

test('nothing is removed where a budget would count something else', async () => {
  await writeTwins(plane.client, options());
  const body = { spec: { schedulingPolicy: { gang: { minCount: 1 } } } };
  await plane.client.patch(own.group, { namespace, name: 'g1' }, { type: 'merge', body });
  await expect(deleteOld(plane.client, options())).rejects.toThrow(MigrationError);
  expect(await names(native.group)).toEqual(['g0', 'g1']);
});

test('a group of ours that is no twin is not overwritten', async () => {
  await plane.client.create(own.group, {
    metadata: { name: 'g0', namespace },
    spec: { schedulingPolicy: { basic: {} } },
  } as KubeObject);
  await expect(writeTwins(plane.client, options())).rejects.toThrow('PodGroup default/g0 exists in');
});

test('without our definitions it says how to get them', async () => {
  const bare = await startControlPlane();
  await expect(writeTwins(bare.client, options())).rejects.toThrow('install the definitions');
  await bare.stop();
});

test('GC-12 interrupted after any write, a step run again finishes, and units never change', async () => {
  const before = await counted();
  const steps = [writeTwins, deleteOld, importGroups];
  for (const step of steps) {
    for (let after = 0; ; after += 1) {
      const { client, lost } = losing(after);
      await step(client, options()).catch((error: unknown) => {
        if (!lost()) throw error;
      });
      expect(await counted()).toEqual(before);
      // What was left is done by the next attempt, one write at a time.
      if (!lost()) break;
    }
  }
  expect(await names(podGroupType('v1beta1'))).toEqual(['g0', 'g1']);
  expect(await names(own.group)).toEqual([]);
  await expect(plane.client.get(own.workload, { namespace, name: 'train' })).rejects.toSatisfy(isNotFound);
});
