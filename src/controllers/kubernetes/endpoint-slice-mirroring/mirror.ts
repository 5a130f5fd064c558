import { isIP, isIPv6 } from 'node:net';
import type { EndpointAddress, Endpoints } from '../../../api/generated/core-v1.ts';
import type { Endpoint } from '../../../api/generated/discovery-v1.ts';
import {
  type BackendPort,
  MANAGED_BY,
  SERVICE_NAME,
  type SliceGroup,
  type SliceRules,
} from '../../shared/service-backends/index.ts';

export const MANAGER = 'endpointslicemirroring-controller.k8s.io';
const SKIP = 'endpointslice.kubernetes.io/skip-mirror';
const LEADER = 'control-plane.alpha.kubernetes.io/leader';
const NOT_COPIED = [
  'endpoints.kubernetes.io/last-change-trigger-time',
  'kubectl.kubernetes.io/last-applied-configuration',
];
const MAX_PER_SUBSET = 1000;

/** Endpoints that ask to be left alone, or that only serve as somebody's lock, are not mirrored. */
export function isMirrored({ metadata: { labels = {}, annotations = {} } }: Endpoints): boolean {
  return labels[SKIP] !== 'true' && annotations[LEADER] === undefined;
}

export function mirrorGroups({ subsets = [] }: Endpoints): SliceGroup[] {
  const groups = new Map<string, SliceGroup & { endpoints: Endpoint[] }>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    for (const { address, ready } of all.slice(0, MAX_PER_SUBSET)) {
      if (isIP(address.ip) === 0) continue;
      const addressType = isIPv6(address.ip) ? 'IPv6' : 'IPv4';
      const key = `${addressType} ${JSON.stringify(ports)}`;
      const group = groups.get(key) ?? { addressType, ports: ports as BackendPort[], endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(toEndpoint(address, ready));
    }
  }
  return [...groups.values()];
}

export function mirrorRules({ metadata }: Endpoints): SliceRules {
  const annotations = { ...metadata.annotations };
  for (const name of NOT_COPIED) delete annotations[name];
  const labels = { ...metadata.labels, [SERVICE_NAME]: metadata.name ?? '', [MANAGED_BY]: MANAGER };
  return { labels, annotations, maxEndpoints: MAX_PER_SUBSET };
}

function toEndpoint({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(targetRef && { targetRef }),
    ...(nodeName && { nodeName }),
  };
}
