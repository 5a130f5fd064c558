import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import type { Labels } from '../../machinery/values/index.ts';
import { type GroupLink, readGroupLink } from './group-link.ts';
import { MARKER_ANNOTATIONS } from './group-markers.ts';

/** What budgets need to know of a pod; everything else of it may be forgotten. */
export interface CountedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels;
  /** Only the annotations that say something about groups. */
  readonly markers: Labels | undefined;
  readonly phase: string;
  readonly ready: boolean;
  /** When the Ready condition last changed, as the pod says it. */
  readonly readyChangedAt: string | undefined;
  readonly deletionTimestamp: string | undefined;
  readonly createdAt: string | undefined;
  readonly nodeName: string;
  /** The one owner with `controller: true`. */
  readonly owner: OwnerReference | undefined;
  readonly link: GroupLink | undefined;
}

const NO_LABELS: Labels = {};

export function readPod(pod: Pod): CountedPod {
  const { metadata, spec, status } = pod;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? NO_LABELS,
    markers: pickMarkers(metadata.annotations),
    phase: status?.phase ?? '',
    ready: ready?.status === 'True',
    readyChangedAt: ready?.lastTransitionTime ?? undefined,
    deletionTimestamp: metadata.deletionTimestamp ?? undefined,
    createdAt: metadata.creationTimestamp ?? undefined,
    nodeName: spec?.nodeName ?? '',
    owner: metadata.ownerReferences?.find(({ controller }) => controller === true),
    link: readGroupLink(pod),
  };
}

function pickMarkers(annotations: Labels | undefined): Labels | undefined {
  if (annotations === undefined) return undefined;
  let picked: Record<string, string> | undefined;
  for (const key of MARKER_ANNOTATIONS) {
    const value = annotations[key];
    if (value !== undefined) (picked ??= {})[key] = value;
  }
  return picked;
}

/** Holds its place as far as the pod itself can say: Ready and not going. Phase is never consulted. */
export function isUp(pod: CountedPod): boolean {
  return pod.ready && pod.deletionTimestamp === undefined;
}

export type Exemption = 'PodFinished' | 'PodPending' | 'PodTerminating';

/** Pods no budget protects: finished, not started, or already going. */
export function exemptionOf({ phase, deletionTimestamp }: CountedPod): Exemption | undefined {
  if (phase === 'Succeeded' || phase === 'Failed') return 'PodFinished';
  if (deletionTimestamp !== undefined) return 'PodTerminating';
  return phase === 'Pending' ? 'PodPending' : undefined;
}
