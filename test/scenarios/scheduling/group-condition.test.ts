import { afterEach, expect, test } from 'vitest';
import type { Condition } from '../../../src/api/generated/meta-v1.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';

type WithStatus = KubeObject & { spec: object; status?: { conditions?: Condition[]; scheduledPods?: number } };
const draft = (kind: string) => builtinType(kind, 'scheduling.k8s.io', 'v1alpha1') as ResourceType<WithStatus>;
const namespace = 'default';
const group = { namespace, name: 'gang-0' };

let plane: ControlPlane;
afterEach(() => plane.stop());

/** Status and reason of one condition of the group, in one version. */
async function standing(type: string, version = 'v1alpha1'): Promise<string> {
  const served = builtinType('PodGroup', 'scheduling.k8s.io', version) as ResourceType<WithStatus>;
  const { status } = await plane.client.get(served, group);
  const found = status?.conditions?.filter((condition) => condition.type === type) ?? [];
  return found.map(({ reason, status: value }) => `${value}/${reason}`).join(' ');
}

const addPod = (name: string, cpu = '1') =>
  plane.client.create(podType, {
    metadata: { name, namespace },
    spec: {
      containers: [{ name: 'c', image: 'train:1', resources: { requests: { cpu } } }],
      workloadRef: { name: 'training', podGroupName: 'gang-0' },
    },
  });

const addWorkload = () =>
  plane.client.create(draft('Workload'), {
    metadata: { namespace, name: 'training' },
    spec: { podGroupTemplates: [{ name: 'gang', policy: { gang: { minCount: 2 } } }] },
  });

const addGroup = () =>
  plane.client.create(draft('PodGroup'), {
    metadata: group,
    spec: { workloadRef: { name: 'training' }, podGroupTemplateName: 'gang' },
  });

test('18.13: a group says what it is missing, that it is being placed, that it is, and that it has lost members', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 2 });
  const { client, clock } = plane;
  await clock.advance(5_000);
  await addWorkload();
  await addGroup();
  await clock.advance(2_000);
  expect(await standing('PodGroupScheduled')).toBe('Unknown/InProgress');
  expect(await standing('PodGroupInitiallyScheduled', 'v1beta1')).toBe('Unknown/InProgress');

  await client.delete(draft('Workload'), { namespace, name: 'training' });
  await clock.advance(2_000);
  expect(await standing('PodGroupScheduled')).toBe('False/WorkloadMissing');
  expect(await standing('PodGroupInitiallyScheduled', 'v1beta1')).toBe('False/WorkloadMissing');
  await addWorkload();
  await clock.advance(2_000);
  expect(await standing('PodGroupScheduled')).toBe('Unknown/InProgress');

  await addPod('a');
  await addPod('b');
  await clock.advance(10_000);
  expect(await standing('PodGroupScheduled')).toBe('True/MinCountSatisfied');
  expect(await standing('PodGroupInitiallyScheduled', 'v1beta1')).toBe('True/Scheduled');
  expect(await standing('PodGroupScheduled', 'v1alpha2')).toBe('True/Scheduled');

  await client.delete(podType, { namespace, name: 'b' }, { gracePeriodSeconds: 0 });
  await clock.advance(2_000);
  expect(await standing('PodGroupScheduled')).toBe('False/MembersLost');
  expect(await standing('PodGroupInitiallyScheduled', 'v1beta1')).toBe('True/Scheduled');
  await addPod('c');
  await clock.advance(10_000);
  expect(await standing('PodGroupScheduled')).toBe('True/MinCountSatisfied');
});

test('18.13: a group that does not fit says so as the scheduler said it', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 1 });
  const { clock } = plane;
  await clock.advance(5_000);
  await addWorkload();
  await addGroup();
  await addPod('a', '10000');
  await addPod('b', '10000');
  await clock.advance(10_000);
  expect(await standing('PodGroupScheduled')).toBe('False/Unschedulable');
});
