import type { Service } from '../../../api/generated/core-v1.ts';

const HINTS = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';

/** What of a Service is deprecated, or without effect. */
export function serviceWarnings({ metadata, spec = {} }: Service): string[] {
  const warnings: string[] = [];
  if (metadata?.annotations?.[HINTS] !== undefined) {
    warnings.push(`annotation ${HINTS} is deprecated, please use ${MODE} instead`);
  }
  const {
    clusterIP,
    externalIPs = [],
    externalName,
    loadBalancerIP,
    sessionAffinity,
    trafficDistribution,
    type,
  } = spec;
  const isHeadless = type === 'ClusterIP' && clusterIP === 'None';
  if (isHeadless) {
    if (loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services');
    if (externalIPs.length > 0) warnings.push('spec.externalIPs is ignored for headless services');
    if (sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services');
  }
  if (externalIPs.length > 0 && !isHeadless && type !== 'ExternalName') {
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  }
  if (type === 'ExternalName' && externalIPs.length > 0) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (type !== 'ExternalName' && externalName) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (trafficDistribution === 'PreferClose') {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
}
