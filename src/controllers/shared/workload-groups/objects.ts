import { controllerReference, type Owned } from '../../../api/core/owner.ts';
import type {
  DisruptionMode,
  PodGroup,
  PodGroupTemplate,
  Workload,
} from '../../../api/generated/scheduling-v1beta1.ts';
import { builtinType } from '../../../api/registry.ts';
import { apiVersionOf, type KubeObject, type ResourceType } from '../../../api/resource.ts';
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

/** What a controller makes groups for. */
export interface GroupOwner {
  readonly type: ResourceType;
  readonly object: Owned;
}

export interface GroupTemplateTerms {
  /** Undefined: the basic policy, whose pods are placed one by one. */
  readonly minCount: number | undefined;
  /** Of the pods; a group whose priority differs from theirs is never placed. */
  readonly priorityClassName?: string | undefined;
  readonly disruptionMode?: DisruptionMode | undefined;
  readonly schedulingConstraints?: PodGroupTemplate['schedulingConstraints'];
  readonly resourceClaims?: PodGroupTemplate['resourceClaims'];
}

/** A Workload of one template, owned by what its groups are made for. */
export async function createWorkload(
  { client, onWrite, workloads }: GroupWriter,
  { object, type }: GroupOwner,
  { name, template, ...terms }: GroupTemplateTerms & { readonly name: string; readonly template: string },
): Promise<Workload> {
  const created = await createOrRead(client, workloadType, {
    metadata: { namespace: object.metadata.namespace, name, ownerReferences: [controllerReference(type, object)] },
    spec: {
      controllerRef: { apiGroup: type.group, kind: type.kind, name: object.metadata.name ?? '' },
      podGroupTemplates: [{ name: template, ...specOf(terms) }],
    },
  });
  onWrite?.(workloads, created);
  return created;
}

/**
 * A PodGroup of the Workload's template. Its owner is the Workload's owner; the Workload is a second one, so that a
 * group made just as its owner goes does not outlive both.
 */
export async function createPodGroup(
  { client, onWrite, podGroups }: GroupWriter,
  { object, type }: GroupOwner,
  {
    labels,
    name,
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
  const workloadName = workload.metadata.name ?? '';
  const { disruptionMode = template.disruptionMode } = terms;
  const created = await createOrRead(client, podGroupType, {
    metadata: {
      namespace: object.metadata.namespace,
      name,
      ...(labels && { labels }),
      ownerReferences: [
        controllerReference(type, object),
        {
          apiVersion: apiVersionOf(workloadType),
          kind: 'Workload',
          name: workloadName,
          uid: workload.metadata.uid ?? '',
        },
      ],
    },
    spec: {
      workloadRef: { workloadName, templateName: template.name },
      ...specOf({ ...terms, ...inherited(template), disruptionMode }),
    },
  });
  onWrite?.(podGroups, created);
  return created;
}

/** What a group takes from the template as it is. */
function inherited({ resourceClaims, schedulingConstraints }: PodGroupTemplate) {
  return { resourceClaims, schedulingConstraints };
}

function specOf({
  disruptionMode,
  minCount,
  priorityClassName,
  resourceClaims,
  schedulingConstraints,
}: GroupTemplateTerms) {
  return {
    schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
    ...(disruptionMode && { disruptionMode }),
    ...(schedulingConstraints && { schedulingConstraints }),
    ...(resourceClaims && { resourceClaims }),
    ...(priorityClassName && { priorityClassName }),
  };
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
  const updated = await client.update(workloadType, { ...workload, spec: { ...workload.spec, podGroupTemplates } });
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
  const updated = await client.update(podGroupType, { ...group, spec });
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
