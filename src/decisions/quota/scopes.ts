/** Scopes narrow a quota to some of the pods (or claims) of a namespace; all of them must hold. */
import type { PersistentVolumeClaim, Pod, PodAffinityTerm, ResourceQuota } from '../../api/generated/core-v1.ts';
import { isBestEffort } from './pod-resources.ts';
import type { CountedKind } from './usage.ts';

interface Requirement {
  readonly scopeName: string;
  readonly operator?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

export function inScope(quota: ResourceQuota, kind: CountedKind, object: object): boolean {
  const requirements = requirementsOf(quota);
  if (requirements.length === 0) return true;
  if (kind.group !== '') return false;
  if (kind.plural === 'pods') return requirements.every((requirement) => podInScope(requirement, object as Pod));
  if (kind.plural === 'persistentvolumeclaims') {
    return requirements.every((requirement) => claimInScope(requirement, object as PersistentVolumeClaim));
  }
  return false;
}

function requirementsOf({ spec }: ResourceQuota): Requirement[] {
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ];
}

function podInScope(requirement: Requirement, pod: Pod): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return hasDeadline(pod);
    case 'NotTerminating':
      return !hasDeadline(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass':
      return matchesValue(requirement, pod.spec?.priorityClassName);
    case 'CrossNamespacePodAffinity':
      return affinityTerms(pod).some(({ namespaces, namespaceSelector }) =>
        Boolean((namespaces ?? []).length > 0 || namespaceSelector),
      );
    default:
      return false;
  }
}

function claimInScope(requirement: Requirement, claim: PersistentVolumeClaim): boolean {
  if (requirement.scopeName !== 'VolumeAttributesClass') return false;
  return matchesValue(requirement, claim.spec?.volumeAttributesClassName);
}

function matchesValue({ operator = 'Exists', values = [] }: Requirement, value: string | undefined): boolean {
  const given = value !== undefined && value !== '';
  switch (operator) {
    case 'In':
      return given && values.includes(value);
    case 'NotIn':
      return !given || !values.includes(value);
    case 'DoesNotExist':
      return !given;
    default:
      return given;
  }
}

const hasDeadline = ({ spec }: Pod): boolean =>
  spec?.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds !== null && spec.activeDeadlineSeconds >= 0;

function affinityTerms({ spec }: Pod): PodAffinityTerm[] {
  return [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
}
