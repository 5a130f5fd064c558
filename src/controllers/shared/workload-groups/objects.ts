import type { PodGroup, Workload } from '../../../api/generated/scheduling-v1beta1.ts';
import { builtinType } from '../../../api/registry.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import {
  alsoOwnedBy,
  type GroupOwner,
  type GroupTemplateTerms,
  newPodGroup,
  newTemplate,
  newWorkload,
} from '../../../decisions/group-making/index.ts';
import { type Client, type Informer, isAlreadyExists } from '../../../machinery/runtime/index.ts';

export const workloadType = builtinType('Workload', 'scheduling.k8s.io', 'v1beta1') as ResourceType<Workload>;
export const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io', 'v1beta1') as ResourceType<PodGroup>;

export interface GroupWriter {
  readonly client: Client;
  readonly workloads: Informer<Workload>;
  readonly podGroups: Informer<PodGroup>;
  /** Told of every write, with the cache that will show it. */
  readonly onWrite?: ((cache: Informer<Workload> | Informer<PodGroup>, written: KubeObject) => void) | undefined;
}

/** A Workload of one template, owned by what its groups are made for. */
export async function createWorkload(
  { client, onWrite, workloads }: GroupWriter,
  owner: GroupOwner,
  { name, template, ...terms }: GroupTemplateTerms & { readonly name: string; readonly template: string },
): Promise<Workload> {
  const templates = { podGroupTemplates: [newTemplate({ name: template, ...terms })] };
  const created = await createOrRead(client, workloadType, newWorkload(owner, { name, templates }));
  onWrite?.(workloads, created);
  return created;
}

/** A PodGroup of the Workload's template, owned by the Workload's owner and by the Workload. */
export async function createPodGroup(
  { client, onWrite, podGroups }: GroupWriter,
  owner: GroupOwner,
  {
    workload,
    ...terms
  }: GroupTemplateTerms & {
    readonly name: string;
    readonly workload: Workload;
    readonly labels?: Record<string, string> | undefined;
  },
): Promise<PodGroup | undefined> {
  const [template] = workload.spec?.podGroupTemplates ?? [];
  if (template === undefined) return undefined;
  // What a group takes from the template as it is.
  const { resourceClaims, schedulingConstraints } = template;
  const { disruptionMode = template.disruptionMode } = terms;
  const group = newPodGroup(owner, {
    ...terms,
    resourceClaims,
    schedulingConstraints,
    disruptionMode,
    workload: workload.metadata.name ?? '',
    template: template.name,
  });
  const created = await createOrRead(client, podGroupType, alsoOwnedBy(group, workloadType as ResourceType, workload));
  onWrite?.(podGroups, created);
  return created;
}

/** Moves the minimum of the Workload's template; one that was shaped by hand stays as it was shaped. */
export async function setWorkloadMinimum(
  { client, onWrite, workloads }: GroupWriter,
  workload: Workload,
  minCount: number | undefined,
): Promise<Workload> {
  if (minCount === undefined) return workload;
  const [template, ...others] = workload.spec?.podGroupTemplates ?? [];
  if (template?.schedulingPolicy.gang === undefined || others.length > 0) return workload;
  if (template.schedulingPolicy.gang.minCount === minCount) return workload;
  const podGroupTemplates = [{ ...template, schedulingPolicy: { gang: { minCount } } }];
  const updated = await client.update(workloads.type, { ...workload, spec: { ...workload.spec, podGroupTemplates } });
  onWrite?.(workloads, updated);
  return updated;
}

export async function setGroupMinimum(
  { client, onWrite, podGroups }: GroupWriter,
  group: PodGroup,
  minCount: number | undefined,
): Promise<PodGroup> {
  if (minCount === undefined) return group;
  const { gang } = group.spec?.schedulingPolicy ?? {};
  if (group.spec === undefined || gang === undefined || gang.minCount === minCount) return group;
  const spec = { ...group.spec, schedulingPolicy: { gang: { minCount } } };
  const updated = await client.update(podGroups.type, { ...group, spec });
  onWrite?.(podGroups, updated);
  return updated;
}

async function createOrRead<T extends Workload | PodGroup>(
  client: Client,
  type: ResourceType<T>,
  wanted: T,
): Promise<T> {
  try {
    return await client.create(type, wanted);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.get(type, { namespace: wanted.metadata.namespace, name: wanted.metadata.name ?? '' });
  }
}
