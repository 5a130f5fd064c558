/** Versions of kinds that Kubernetes 1.36 calls deprecated, as data: whoever asks for one is told. */

interface Lifecycle {
  /** Release since which it is deprecated. */
  readonly since: string;
  /** Release in which it is gone. */
  readonly removed?: string;
  /** What to use instead: version and kind. */
  readonly use?: string;
}

/** By group, version and kind. */
const DEPRECATED: Readonly<Record<string, Lifecycle>> = {
  'v1 Endpoints': { since: '1.33', use: 'discovery.k8s.io/v1 EndpointSlice' },
  'admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy': { since: '1.35', removed: '1.38' },
  'admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding': { since: '1.35', removed: '1.38' },
  'certificates.k8s.io/v1alpha1 ClusterTrustBundle': { since: '1.34', removed: '1.37' },
  'coordination.k8s.io/v1alpha2 LeaseCandidate': { since: '1.35', removed: '1.38' },
  'coordination.k8s.io/v1beta1 LeaseCandidate': { since: '1.36', removed: '1.39' },
  'networking.k8s.io/v1beta1 IPAddress': { since: '1.34', removed: '1.37' },
  'networking.k8s.io/v1beta1 ServiceCIDR': { since: '1.34', removed: '1.37' },
};

export interface Deprecation {
  readonly deprecationWarning: string;
  /** Empty where nobody said when. */
  readonly removedRelease: string;
}

export function deprecationOf(apiVersion: string, kind: string): Deprecation | undefined {
  const found = DEPRECATED[`${apiVersion} ${kind}`];
  if (found === undefined) return undefined;
  const { removed, since, use } = found;
  const gone = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead = use === undefined ? '' : `; use ${use}`;
  return {
    deprecationWarning: `${apiVersion} ${kind} is deprecated in v${since}+${gone}${instead}`,
    removedRelease: removed ?? '',
  };
}
