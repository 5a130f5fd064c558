/** A group of pods that stand where they are, for tests that need no scheduler. */
import type { PodGroup } from '../../../src/api/generated/scheduling-v1beta1.ts';
import { disruptionPolicyType, type NoticeTerms } from '../../../src/api/quorate/disruption-policy.ts';
import {
  type GroupEviction,
  type GroupEvictionSpec,
  groupEvictionType,
} from '../../../src/api/quorate/group-eviction.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { ResourceType } from '../../../src/api/resource.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import type { ControlPlane } from '../../../src/testkit/index.ts';
import { namespace } from './fixture.ts';

const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;

/** The PodGroup `a` of the pods `a0`, `a1` and so on, under a policy with these terms. */
export async function addGroup(plane: ControlPlane, notice: NoticeTerms, size = 2): Promise<void> {
  const { client } = plane;
  const spec = { schedulingPolicy: { gang: { minCount: size } } };
  await client.create(podGroupType, { metadata: { name: 'a', namespace }, spec });
  for (let at = 0; at < size; at += 1) {
    const made = await client.create(podType, {
      metadata: { name: `a${at}`, namespace },
      spec: { nodeName: 'n', schedulingGroup: { podGroupName: 'a' }, containers: [{ name: 'c', image: 'app:1' }] },
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.updateStatus(podType, { ...made, status });
  }
  await client.create(disruptionPolicyType, { metadata: { name: 'told', namespace }, spec: { selector: {}, notice } });
  await plane.settle();
}

export function ask({ client }: ControlPlane, spec: GroupEvictionSpec = {}, name = 'ask'): Promise<GroupEviction> {
  return client.create(groupEvictionType, { metadata: { name, namespace }, spec: { podGroupName: 'a', ...spec } });
}

export const evictionOf = ({ client }: ControlPlane, name = 'ask'): Promise<GroupEviction> =>
  client.get(groupEvictionType, { namespace, name });

export async function evictPod({ client }: ControlPlane, name: string): Promise<{ code: number; causes: string[] }> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await client.createSubresource(podType, { namespace, name }, 'eviction', body);
    return { code: 201, causes: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, causes: error.causes.map(({ reason }) => reason ?? '') };
  }
}
