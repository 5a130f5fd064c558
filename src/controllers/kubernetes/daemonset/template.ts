import type { Affinity, DaemonSet, Pod, Toleration } from './kinds.ts';
import type { PodSpec } from '../../../api/generated/core-v1.ts';
import { daemonSetType } from '../../../api/resource-types.ts';
import { podFromTemplate } from '../../shared/pod-control/index.ts';

/** On pods and revisions of a DaemonSet: the hash of the template they come from. */
export const REVISION_LABEL = 'controller-revision-hash';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';
const GENERATION_LABEL = 'pod-template-generation';

const exists = (key: string, effect: string): Toleration => ({ key, operator: 'Exists', effect });

/** Daemons stay on nodes in trouble: what is put on every one of their pods. */
const TOLERATIONS: readonly Toleration[] = [
  exists('node.kubernetes.io/not-ready', 'NoExecute'),
  exists('node.kubernetes.io/unreachable', 'NoExecute'),
  exists('node.kubernetes.io/disk-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/memory-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/pid-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/unschedulable', 'NoSchedule'),
];

export function daemonTolerations({ hostNetwork, tolerations = [] }: PodSpec): Toleration[] {
  const added = hostNetwork
    ? [...TOLERATIONS, exists('node.kubernetes.io/network-unavailable', 'NoSchedule')]
    : TOLERATIONS;
  const isSame = (a: Toleration, b: Toleration): boolean =>
    a.key === b.key && a.operator === b.operator && (a.value ?? '') === (b.value ?? '') && a.effect === b.effect;
  return [...tolerations.filter((own) => !added.some((other) => isSame(own, other))), ...added];
}

/** The pod of a set for one node: bound to it by affinity, so that the scheduler still checks that it fits. */
export function daemonPod(set: DaemonSet, { hash, node }: { hash: string; node: string }): Pod {
  const { metadata, spec } = podFromTemplate(set.spec?.template, set, daemonSetType);
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  const base: PodSpec = { containers: [], ...spec };
  return {
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        [REVISION_LABEL]: hash,
        ...(generation !== undefined && { [GENERATION_LABEL]: generation }),
      },
    },
    spec: { ...base, affinity: onlyOn(base.affinity, node), tolerations: daemonTolerations(base) },
  };
}

function onlyOn(affinity: Affinity | undefined, node: string): Affinity {
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
    },
  };
}

/** The node a daemon pod is on, or is meant for. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  for (const { matchFields = [] } of terms ?? []) {
    const named = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    if (named?.values?.length === 1) return named.values[0];
  }
  return undefined;
}

export function isUpToDate(set: DaemonSet, { metadata }: Pod, hash: string): boolean {
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  return (
    metadata.labels?.[REVISION_LABEL] === hash ||
    (generation !== undefined && metadata.labels?.[GENERATION_LABEL] === generation)
  );
}
