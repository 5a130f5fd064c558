import { controllerReference, type Owned } from '../../../api/core/owner.ts';
import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import type { Container, PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { deepEqual, nameHash } from '../../../machinery/values/index.ts';
import { stableJson } from './hash.ts';

/** Label of a revision that holds the hash in its name, unless its kind has another. */
export const HASH_LABEL = 'controller.kubernetes.io/hash';
const MAX_PREFIX = 223;

interface TemplateData {
  readonly spec: { readonly template: PodTemplateSpec & { readonly $patch: 'replace' } };
}

/**
 * What a revision remembers: the pod template, as a patch that replaces the owner's. Clients compare it byte by byte
 * with what they would write themselves, so keys are in order and containers say `resources` even when they have none.
 */
export function templateData(template: PodTemplateSpec): TemplateData {
  const { spec } = template;
  const full = (container: Container): Container => ({ resources: {}, ...container });
  const written = {
    ...template,
    metadata: template.metadata ?? {},
    ...(spec !== undefined && {
      spec: {
        ...spec,
        containers: spec.containers.map(full),
        ...(spec.initContainers && { initContainers: spec.initContainers.map(full) }),
      },
    }),
    $patch: 'replace' as const,
  };
  return { spec: { template: JSON.parse(stableJson(written)) as TemplateData['spec']['template'] } };
}

/** The pod template a revision remembers. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const { $patch: _patch, ...template } = (data as TemplateData).spec.template;
  return template;
}

export function revisionName(owner: KubeObject, data: unknown, collisionCount: number): { name: string; hash: string } {
  const hash = nameHash(`${stableJson(data)}${collisionCount}`);
  return { name: `${(owner.metadata.name ?? '').slice(0, MAX_PREFIX)}-${hash}`, hash };
}

export function newRevision(
  owner: KubeObject & Owned,
  ownerType: ResourceType,
  {
    collisionCount,
    hashLabel = HASH_LABEL,
    revision,
    template,
  }: { collisionCount: number; hashLabel?: string | undefined; revision: number; template: PodTemplateSpec },
): ControllerRevision {
  const data = templateData(template);
  const { hash, name } = revisionName(owner, data, collisionCount);
  const { annotations, namespace } = owner.metadata;
  return {
    metadata: {
      namespace,
      name,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations !== undefined && { annotations: { ...annotations } }),
      ownerReferences: [controllerReference(ownerType, owner)],
    },
    data,
    revision,
  };
}

/** Oldest first: by revision, then creation time, then name. */
export function sortRevisions(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  return revisions.toSorted((a, b) => {
    if (a.revision !== b.revision) return a.revision - b.revision;
    const left = a.metadata.creationTimestamp ?? '';
    const right = b.metadata.creationTimestamp ?? '';
    if (left !== right) return left < right ? -1 : 1;
    return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
  });
}

export function isSameData(a: ControllerRevision, b: ControllerRevision): boolean {
  return deepEqual(a.data, b.data);
}

/** Those to delete: beyond the limit, oldest first, never one that is in use. `revisions` are oldest first. */
export function revisionsBeyond(
  revisions: readonly ControllerRevision[],
  live: ReadonlySet<string>,
  limit: number,
): ControllerRevision[] {
  const unused = revisions.filter(({ metadata }) => !live.has(metadata.name ?? ''));
  return unused.slice(0, Math.max(unused.length - limit, 0));
}
