import { controllerReference } from '../../../api/core/owner.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, Volume } from '../../../api/generated/core-v1.ts';
import { statefulSetType } from '../../../api/resource-types.ts';
import { deepClone } from '../../../machinery/values/index.ts';
import { podFromTemplate } from '../../shared/pod-control/index.ts';

export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
export const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';
export const REVISION_LABEL = 'controller-revision-hash';

/** The set's name and the ordinal in a pod's name; undefined when it has no such form. */
export function parseIdentity(podName: string): { parent: string; ordinal: number } | undefined {
  const found = /^(.*)-([0-9]+)$/.exec(podName);
  if (found === null) return undefined;
  const ordinal = Number(found[2]);
  return ordinal <= 2_147_483_647 ? { parent: found[1] as string, ordinal } : undefined;
}

export function ordinalOf({ metadata }: Pod): number {
  return parseIdentity(metadata.name ?? '')?.ordinal ?? -1;
}

export function isMember(set: StatefulSet, { metadata }: Pod): boolean {
  return parseIdentity(metadata.name ?? '')?.parent === set.metadata.name;
}

export function startOrdinal({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0;
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const start = startOrdinal(set);
  return ordinal >= start && ordinal < start + (set.spec?.replicas ?? 1);
}

export function revisionOf({ metadata }: Pod): string {
  return metadata.labels?.[REVISION_LABEL] ?? '';
}

export function claimName(set: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
}

/** The claims a pod of this ordinal mounts, as they should be created. */
export function claimsOf(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => {
    const { annotations, labels } = template.metadata;
    return {
      metadata: {
        namespace: set.metadata.namespace,
        name: claimName(set, template, ordinal),
        labels: { ...labels, ...set.spec?.selector?.matchLabels },
        ...(annotations !== undefined && { annotations: { ...annotations } }),
      },
      spec: deepClone(template.spec),
    };
  });
}

function withClaimVolumes(set: StatefulSet, volumes: readonly Volume[] | undefined, ordinal: number): Volume[] {
  const claimed = (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    name: template.metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  return [...claimed, ...(volumes ?? []).filter(({ name }) => !claimed.some((volume) => volume.name === name))];
}

export function newPod(
  set: StatefulSet,
  { ordinal, revision, template }: { ordinal: number; revision: string; template: PodTemplateSpec },
): Pod {
  const { metadata, spec } = podFromTemplate(template, set, statefulSetType);
  const name = `${set.metadata.name}-${ordinal}`;
  const { generateName: _generateName, ...rest } = metadata;
  const volumes = withClaimVolumes(set, spec?.volumes, ordinal);
  return {
    metadata: {
      ...rest,
      name,
      labels: {
        ...metadata.labels,
        [POD_NAME_LABEL]: name,
        [POD_INDEX_LABEL]: String(ordinal),
        [REVISION_LABEL]: revision,
      },
      ownerReferences: [controllerReference(statefulSetType, set)],
    },
    spec: {
      containers: [],
      ...spec,
      hostname: name,
      ...(set.spec?.serviceName && { subdomain: set.spec.serviceName }),
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

/** Does the pod carry the labels of its identity? Adopted ones may not. */
export function identityMatches({ metadata }: Pod): boolean {
  return metadata.labels?.[POD_NAME_LABEL] === metadata.name;
}
