import { isPodReady } from '../../../api/core/pod-state.ts';
import type { EndpointAddress, EndpointSubset, Pod, Service } from '../../../api/generated/core-v1.ts';
import {
  addressesOf,
  addressTypesOf,
  type BackendPort,
  canBack,
  hostnameOf,
  isHeadless,
  portsOf,
  targetRefOf,
} from '../../shared/service-backends/index.ts';

export const MAX_ADDRESSES = 1000;

export interface Subsets {
  readonly subsets: EndpointSubset[];
  readonly truncated: boolean;
}

/**
 * The subsets of a service's Endpoints: pods that answer on the same ports together, the ready ones and the others
 * apart, everything in a fixed order. Past the limit, ready addresses are kept before others.
 */
export function computeSubsets(service: Service, pods: readonly Pod[]): Subsets {
  const acceptsUnready = service.spec?.publishNotReadyAddresses === true;
  const [family = 'IPv4'] = addressTypesOf(service);
  const groups = new Map<string, { ports: BackendPort[]; ready: EndpointAddress[]; others: EndpointAddress[] }>();
  for (const pod of pods) {
    const [ip] = addressesOf(pod, family);
    if (ip === undefined || !canBack(pod, acceptsUnready)) continue;
    const ports = portsOf(service, pod);
    if (ports.length === 0 && !((service.spec?.ports ?? []).length === 0 && isHeadless(service))) continue;
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, ready: [], others: [] };
    groups.set(key, group);
    const hostname = hostnameOf(pod, service);
    const { nodeName } = pod.spec ?? {};
    const address = { ip, ...(hostname && { hostname }), ...(nodeName && { nodeName }), targetRef: targetRefOf(pod) };
    (acceptsUnready || isPodReady(pod) ? group.ready : group.others).push(address);
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  return limit(sorted.map(({ ports, ready, others }) => ({ ports, ready: byIp(ready), others: byIp(others) })));
}

function limit(
  groups: readonly { ports: BackendPort[]; ready: EndpointAddress[]; others: EndpointAddress[] }[],
): Subsets {
  let room = MAX_ADDRESSES;
  const keep = (addresses: readonly EndpointAddress[]) => {
    const kept = addresses.slice(0, room);
    room -= kept.length;
    return kept;
  };
  const ready = groups.map((group) => keep(group.ready));
  const others = groups.map((group) => keep(group.others));
  const count = groups.reduce((sum, group) => sum + group.ready.length + group.others.length, 0);
  const subsets = groups.map(({ ports }, at) => ({
    ...(ready[at]?.length && { addresses: ready[at] }),
    ...(others[at]?.length && { notReadyAddresses: others[at] }),
    ...(ports.length > 0 && { ports: ports.map((port) => ({ ...port })) }),
  }));
  return { subsets, truncated: count > MAX_ADDRESSES };
}

function byIp(addresses: EndpointAddress[]): EndpointAddress[] {
  return addresses.sort((a, b) => (a.ip < b.ip ? -1 : 1));
}
