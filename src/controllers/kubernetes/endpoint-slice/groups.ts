import { isPodReady } from '../../../api/core/pod-state.ts';
import type { Node, Pod, Service } from '../../../api/generated/core-v1.ts';
import type { Endpoint } from '../../../api/generated/discovery-v1.ts';
import {
  type AddressType,
  addressesOf,
  addressTypesOf,
  canBack,
  hostnameOf,
  isHeadless,
  portsOf,
  type SliceGroup,
  targetRefOf,
} from '../../shared/service-backends/index.ts';

const ZONE = 'topology.kubernetes.io/zone';

/** The endpoints a service should have, grouped by address family and by the ports they answer on. */
export function computeGroups(
  service: Service,
  pods: readonly Pod[],
  nodeOf: (name: string) => Node | undefined,
): SliceGroup[] {
  return addressTypesOf(service).flatMap((addressType) => {
    const groups = new Map<string, SliceGroup & { endpoints: Endpoint[] }>();
    for (const pod of pods) {
      if (!canBack(pod, true)) continue;
      const addresses = addressesOf(pod, addressType);
      if (addresses.length === 0) continue;
      const ports = portsOf(service, pod);
      const key = JSON.stringify(ports);
      const group = groups.get(key) ?? { addressType, ports, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(toEndpoint(service, pod, { addresses, nodeOf }));
    }
    return groups.size === 0 ? placeholder(service, addressType) : [...groups.values()];
  });
}

/** A headless service without family gets no empty slice for a family none of its pods has. */
function placeholder(service: Service, addressType: AddressType): SliceGroup[] {
  const isGuess = !service.spec?.ipFamilies?.length && isHeadless(service);
  return isGuess && addressType === 'IPv6' ? [] : [{ addressType, ports: [], endpoints: [] }];
}

function toEndpoint(
  service: Service,
  pod: Pod,
  { addresses, nodeOf }: { addresses: string[]; nodeOf: (name: string) => Node | undefined },
): Endpoint {
  const serving = isPodReady(pod);
  const terminating = Boolean(pod.metadata.deletionTimestamp);
  // For readers that know only `ready`: never true for a pod on its way out, unless unready ones are wanted.
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const { nodeName } = pod.spec ?? {};
  const zone = nodeName ? nodeOf(nodeName)?.metadata.labels?.[ZONE] : undefined;
  const hostname = hostnameOf(pod, service);
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname && { hostname }),
    targetRef: targetRefOf(pod),
    ...(nodeName && { nodeName }),
    ...(zone && { zone }),
  };
}
