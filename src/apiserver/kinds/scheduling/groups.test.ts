import { afterEach, expect, test } from 'vitest';
import { builtinType } from '../../../api/registry.ts';
import { podType } from '../../../api/resource-types.ts';
import { isForbidden, isInvalid } from '../../../machinery/runtime/index.ts';
import { type ControlPlane, pod, startControlPlane } from '../../../testkit/index.ts';

const GROUP = 'scheduling.k8s.io';
const groupType = (version: string) => builtinType('PodGroup', GROUP, version);
const workloadType = (version: string) => builtinType('Workload', GROUP, version);
const key = { namespace: 'default', name: 'x' };
const metadata = { ...key };
const schedulingPolicy = { gang: { minCount: 2 } };

let plane: ControlPlane | undefined;
const start = async () => {
  plane = await startControlPlane();
  return plane.client;
};
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

test('V-11 a PodGroup is created without the status it came with, protected, and disrupted pod by pod', async () => {
  const client = await start();
  const status = { conditions: [] };
  const made = await client.create(groupType('v1beta1'), { metadata, spec: { schedulingPolicy }, status } as never);
  expect(made).toMatchObject({
    metadata: { finalizers: ['scheduling.k8s.io/podgroup-protection'], generation: 1 },
    spec: { disruptionMode: { single: {} }, priority: 0 },
  });
  expect(made).not.toHaveProperty('status');
});

test('V-05 the group of a pod never changes', async () => {
  const client = await start();
  await client.create(podType, pod({ name: 'x', spec: { schedulingGroup: { podGroupName: 'g' } } }));
  for (const schedulingGroup of [null, { podGroupName: 'other' }]) {
    const change = client.patch(podType, key, { type: 'merge', body: { spec: { schedulingGroup } } });
    await expect(change).rejects.toSatisfy(isInvalid);
  }
  await client.create(podType, pod({ name: 'plain' }));
  const joining = client.patch(
    podType,
    { ...key, name: 'plain' },
    { type: 'merge', body: { spec: { schedulingGroup: { podGroupName: 'g' } } } },
  );
  await expect(joining).rejects.toSatisfy(isInvalid);
});

test('V-06 a pod with an empty schedulingGroup is refused', async () => {
  const client = await start();
  await expect(client.create(podType, pod({ spec: { schedulingGroup: {} } }))).rejects.toSatisfy(isInvalid);
});

test('V-07 a pod names a group or evictionResponders, not both', async () => {
  const client = await start();
  const evictionResponders = [{ name: 'example.com/drainer', priority: 10_000 }];
  const both = pod({ name: 'both', spec: { schedulingGroup: { podGroupName: 'g' }, evictionResponders } });
  await expect(client.create(podType, both)).rejects.toSatisfy(isInvalid);
  const made = await client.create(podType, pod({ name: 'one', spec: { evictionResponders } }));
  expect(made.spec?.evictionResponders).toEqual(evictionResponders);
});

test('V-08 v1alpha2 wants the Workload and its template to exist, v1beta1 does not', async () => {
  const client = await start();
  const create = (name: string, template: string) =>
    client.create(groupType('v1alpha2'), {
      metadata: { ...metadata, name },
      spec: {
        schedulingPolicy,
        podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: template } },
      },
    } as never);
  await expect(create('a', 't')).rejects.toSatisfy(isForbidden);
  const spec = { podGroupTemplates: [{ name: 't', schedulingPolicy }] };
  await client.create(workloadType('v1alpha2'), { metadata: { ...metadata, name: 'w' }, spec } as never);
  await expect(create('a', 'other')).rejects.toSatisfy(isForbidden);
  await create('a', 't');
  const dangling = { schedulingPolicy, workloadRef: { workloadName: 'gone', templateName: 't' } };
  await client.create(groupType('v1beta1'), { metadata, spec: dangling } as never);
});

test('G-07 G-08 minCount changes through v1beta1, not through v1alpha2', async () => {
  const client = await start();
  await client.create(groupType('v1beta1'), { metadata, spec: { schedulingPolicy } } as never);
  const patch = { type: 'merge', body: { spec: { schedulingPolicy: { gang: { minCount: 3 } } } } } as const;
  await expect(client.patch(groupType('v1alpha2'), key, patch)).rejects.toSatisfy(isInvalid);
  expect(await client.patch(groupType('v1beta1'), key, patch)).toMatchObject({ metadata: { generation: 2 } });
});

test('a Workload written in one version survives a change in every other', async () => {
  const client = await start();
  await client.create(workloadType('v1alpha1'), {
    metadata,
    spec: { podGroups: [{ name: 'g', policy: schedulingPolicy, replicas: 3 }] },
  } as never);
  for (const version of ['v1beta1', 'v1alpha2']) {
    const body = { metadata: { labels: { [version]: 'yes' } } };
    await client.patch(workloadType(version), key, { type: 'merge', body });
  }
  const read = (version: string) => client.get(workloadType(version), key);
  expect(await read('v1alpha1')).toMatchObject({
    metadata: { labels: { v1beta1: 'yes', v1alpha2: 'yes' } },
    spec: { podGroups: [{ name: 'g', policy: schedulingPolicy, replicas: 3 }] },
  });
  expect((await read('v1beta1')) as object).toHaveProperty('spec', {
    podGroupTemplates: [{ name: 'g', schedulingPolicy }],
  });
});

test('a PodGroup keeps its policy when the draft version, which has none, writes it', async () => {
  const client = await start();
  const spec = { schedulingPolicy, disruptionMode: { all: {} } };
  await client.create(groupType('v1beta1'), { metadata, spec } as never);
  const draft = await client.get(groupType('v1alpha1'), key);
  await client.update(groupType('v1alpha1'), { ...draft, metadata: { ...draft.metadata, labels: { a: 'b' } } });
  expect(await client.get(groupType('v1beta1'), key)).toMatchObject({ metadata: { labels: { a: 'b' } }, spec });
});

test('priorities of groups come from their class', async () => {
  const client = await start();
  await client.create(builtinType('PriorityClass', GROUP), { metadata: { name: 'high' }, value: 7 } as never);
  const create = (over: object) =>
    client.create(groupType('v1beta1'), { metadata, spec: { schedulingPolicy, ...over } } as never);
  await expect(create({ priorityClassName: 'missing' })).rejects.toSatisfy(isForbidden);
  await expect(create({ priorityClassName: 'high', priority: 8 })).rejects.toSatisfy(isForbidden);
  expect(await create({ priorityClassName: 'high' })).toMatchObject({ spec: { priority: 7 } });
});

const template = { name: 'workers', policy: { gang: { minCount: 3 } } };

test('18.15: managed fields and errors never name what only the stored form has', async () => {
  const client = await start();
  const made = await client.create(workloadType('v1alpha1'), {
    metadata,
    spec: { podGroupTemplates: [template] },
  } as never);
  const spec = { workloadRef: { name: 'x' }, podGroupTemplateRef: { name: 'workers' } };
  const group = await client.create(groupType('v1alpha1'), { metadata, spec } as never);
  const labelled = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
  const shown = [
    made,
    group,
    await client.patch(workloadType('v1alpha1'), key, labelled),
    await client.patch(workloadType('v1beta1'), key, labelled),
    await client.patch(groupType('v1alpha1'), key, labelled),
    await client
      .patch(workloadType('v1alpha1'), key, { type: 'merge', body: { spec: { podGroupTemplates: [] } } })
      .catch(String),
    await client
      .patch(groupType('v1alpha1'), key, { type: 'merge', body: { spec: { podGroupTemplateRef: { name: 'other' } } } })
      .catch(String),
  ];
  expect(JSON.stringify(shown)).not.toMatch(/draft|templateByRef/);
  // What is shown in its place is still said to be somebody's.
  expect(JSON.stringify(made)).toContain('f:podGroupTemplates');
});

test('18.15: a PodGroup of a template shows the number its template asks for', async () => {
  const client = await start();
  await client.create(workloadType('v1alpha1'), { metadata, spec: { podGroupTemplates: [template] } } as never);
  const spec = { workloadRef: { name: 'x' }, podGroupTemplateName: 'workers' };
  await client.create(groupType('v1alpha1'), { metadata, spec } as never);
  const lost = { ...spec, podGroupTemplateName: 'other' };
  await client.create(groupType('v1alpha1'), { metadata: { ...key, name: 'y' }, spec: lost } as never);
  interface Table {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  }
  const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  for (const version of ['v1alpha1', 'v1beta1']) {
    const path = `/apis/${GROUP}/${version}/namespaces/default/podgroups`;
    const table = await client.request<Table>('GET', path, undefined, accept);
    const at = table.columnDefinitions.findIndex(({ name }) => name === 'Min Count');
    expect(table.rows.map(({ cells }) => cells[at])).toEqual([3, null]);
  }
});

const compositeType = builtinType('CompositePodGroup', GROUP);
const compositeSpec = {
  workloadRef: { workloadName: 'w', templateName: 'root' },
  schedulingPolicy: { gang: { minGroupCount: 2 } },
};

test('a CompositePodGroup is stored with defaults and priority, without a finalizer, and never changes', async () => {
  const client = await start();
  const made = await client.create(compositeType, {
    metadata,
    spec: compositeSpec,
    status: { conditions: [] },
  } as never);
  expect(made).toMatchObject({ spec: { ...compositeSpec, disruptionMode: { single: {} }, priority: 0 } });
  expect(made.metadata).not.toHaveProperty('finalizers');
  expect(made).not.toHaveProperty('status');
  const body = { spec: { schedulingPolicy: { gang: { minGroupCount: 3 } } } };
  await expect(client.patch(compositeType, key, { type: 'merge', body })).rejects.toSatisfy(isInvalid);
  const condition = { type: 'CompositePodGroupInitiallyScheduled', status: 'True', reason: 'Scheduled', message: '' };
  const status = { conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }] };
  const shown = await client.patch(compositeType, key, { type: 'merge', body: { status } }, { subresource: 'status' });
  expect(shown).toMatchObject({ status, metadata: { generation: 1 } });
});

test.each([
  ['no template', { schedulingPolicy: { basic: {} } }, 'spec.workloadRef'],
  ['no policy', { workloadRef: compositeSpec.workloadRef }, 'spec.schedulingPolicy'],
  [
    'both policies',
    { ...compositeSpec, schedulingPolicy: { basic: {}, gang: { minGroupCount: 1 } } },
    'spec.schedulingPolicy',
  ],
  ['a quorum of 0', { ...compositeSpec, schedulingPolicy: { gang: { minGroupCount: 0 } } }, 'minGroupCount'],
  ['a parent that is no name', { ...compositeSpec, parentCompositePodGroupName: 'A B' }, 'parentCompositePodGroupName'],
])('a CompositePodGroup with %s is refused at its field', async (_, spec, field) => {
  const client = await start();
  const made = client.create(compositeType, { metadata, spec } as never);
  await expect(made).rejects.toSatisfy(isInvalid);
  await expect(made).rejects.toThrow(field);
});
