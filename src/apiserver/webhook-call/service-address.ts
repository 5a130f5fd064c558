/** Where a Service leads that others are called by: the pods of this control plane are simulated, so only by its endpoints. */
import type { EndpointSlice } from '../../api/generated/discovery-v1.ts';
import type { Service } from '../../api/generated/core-v1.ts';
import { listStored, readStored, type StoredReads } from '../stored/kind-view.ts';

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export type NoAddress =
  | { readonly problem: 'no-service' | 'no-port' | 'simulated-pods' | 'no-slices' }
  | { readonly problem: 'no-endpoints'; readonly portName: string };

export function addressOf(reads: StoredReads, { name, namespace, port }: ServicePort): Address | NoAddress {
  const found = readStored<Service>(reads, { group: '', plural: 'services' }, namespace, name);
  if (found === undefined) return { problem: 'no-service' };
  const served = found.spec?.ports?.find((item) => item.port === port);
  if (served === undefined) return { problem: 'no-port' };
  if (found.spec?.type === 'ExternalName') return { host: found.spec.externalName ?? '', port };
  if (Object.keys(found.spec?.selector ?? {}).length > 0) return { problem: 'simulated-pods' };
  return endpointOf(reads, { namespace, name, portName: served.name ?? '' });
}

export const isAddress = (found: object): found is Address => 'host' in found;

interface NamedPort {
  readonly namespace: string;
  readonly name: string;
  readonly portName: string;
}

function endpointOf(reads: StoredReads, { name, namespace, portName }: NamedPort): Address | NoAddress {
  const type = { group: 'discovery.k8s.io', plural: 'endpointslices' };
  const slices = listStored<EndpointSlice>(reads, type, namespace).filter(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name,
  );
  if (slices.length === 0) return { problem: 'no-slices' };
  for (const { endpoints, ports } of slices) {
    const host = endpoints?.find(({ conditions }) => conditions?.ready !== false)?.addresses?.[0];
    const port = (ports ?? []).find((one) => (one.name ?? '') === portName)?.port;
    if (host !== undefined && port !== undefined) return { host, port };
  }
  return { problem: 'no-endpoints', portName };
}
