/** Gives Services their cluster address and node ports, inside the transaction that writes them. */
import type { Service, ServiceSpec } from '../../../api/generated/core-v1.ts';
import { FieldPath, invalid as invalidValue } from '../../../machinery/values/index.ts';
import type { Transaction } from '../../../storage/index.ts';
import type { AdmissionPlugin } from '../../context/admission-plugin.ts';
import type { ServerContext } from '../../context/server-context.ts';
import type { Resource } from '../../registry/resource.ts';
import { invalid } from '../../exchange/status.ts';

/** 10.96.0.0/16: the usual range of Services. */
const ADDRESS_PREFIX = '10.96';
const NODE_PORTS = { first: 30_000, last: 32_767 };

interface Used {
  readonly addresses: Set<string>;
  readonly nodePorts: Set<number>;
}

export function serviceAllocator(context: ServerContext): AdmissionPlugin {
  return {
    name: 'ServiceAllocator',
    handles: ({ resource, subresource, operation }) =>
      resource.group === '' && resource.kind === 'Service' && subresource === undefined && operation !== 'DELETE',
    inTransaction({ object, resource, name }, transaction) {
      if (object === undefined) return;
      const service: Service = object;
      if (service.spec === undefined || service.spec.type === 'ExternalName') return;
      if (!needsAddress(service) && !needsPorts(service)) {
        if (service.spec.clusterIP === undefined || service.spec.clusterIP === 'None') return;
      }
      const spec = (service.spec = ownSpec(service.spec));
      const used = inUse(context, transaction, { resource, own: object.metadata.uid });
      if (needsAddress(service)) {
        const address = freeAddress(context.random, used.addresses);
        spec.clusterIP = address;
        spec.clusterIPs = [address];
      } else if (spec.clusterIP && spec.clusterIP !== 'None' && used.addresses.has(spec.clusterIP)) {
        throw invalid(resource, name ?? '', [
          invalidValue(
            FieldPath.of('spec', 'clusterIPs'),
            spec.clusterIPs ?? [],
            `failed to allocate IP ${spec.clusterIP}: provided IP is already allocated`,
          ),
        ]);
      }
      allocatePorts(context, service, { used, resource, name: name ?? '' });
    },
  };
}

/** A spec that may be changed: the one that is given may be another Service's too. */
function ownSpec(spec: ServiceSpec): ServiceSpec {
  return { ...spec, ...(spec.ports && { ports: spec.ports.map((port) => ({ ...port })) }) };
}

const needsAddress = ({ spec }: Service): boolean => !spec?.clusterIP;

function wantsPorts({ spec }: Service): boolean {
  if (spec?.type === 'NodePort') return true;
  return spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false;
}

const needsPorts = (service: Service): boolean =>
  wantsPorts(service) && (service.spec?.ports ?? []).some(({ nodePort }) => !nodePort);

function allocatePorts(
  context: ServerContext,
  service: Service,
  { used, resource, name }: { used: Used; resource: Resource; name: string },
): void {
  if (!wantsPorts(service)) return;
  (service.spec?.ports ?? []).forEach((port, index) => {
    if (!port.nodePort) port.nodePort = freePort(context.random, used.nodePorts);
    else if (used.nodePorts.has(port.nodePort)) {
      const path = FieldPath.of('spec', 'ports').index(index).child('nodePort');
      throw invalid(resource, name, [invalidValue(path, port.nodePort, 'provided port is already allocated')]);
    }
  });
  const { spec } = service;
  if (spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local' && !spec.healthCheckNodePort) {
    spec.healthCheckNodePort = freePort(context.random, used.nodePorts);
  }
}

function inUse(
  context: ServerContext,
  transaction: Transaction,
  { resource, own }: { resource: Resource; own: string | undefined },
): Used {
  const used: Used = { addresses: new Set(), nodePorts: new Set() };
  for (const entry of transaction.range(resource.prefix)) {
    const service: Service = context.objects.readWithoutManagedFields(entry);
    if (service.metadata?.uid === own) continue;
    for (const address of service.spec?.clusterIPs ?? []) used.addresses.add(address);
    for (const { nodePort } of service.spec?.ports ?? []) if (nodePort) used.nodePorts.add(nodePort);
    if (service.spec?.healthCheckNodePort) used.nodePorts.add(service.spec.healthCheckNodePort);
  }
  return used;
}

function freeAddress(random: () => number, used: ReadonlySet<string>): string {
  // The first addresses of the range are left for those that ask for one by name.
  let at = 256 + Math.floor(random() * (65_000 - 256));
  for (let tries = 0; tries < 65_000; tries += 1) {
    const address = `${ADDRESS_PREFIX}.${at >> 8}.${at & 255}`;
    if (!used.has(address)) return address;
    at = at >= 65_000 ? 256 : at + 1;
  }
  throw new Error('Cannot give the Service an address: the range is full');
}

function freePort(random: () => number, used: Set<number>): number {
  const count = NODE_PORTS.last - NODE_PORTS.first + 1;
  let at = Math.floor(random() * count);
  for (let tries = 0; tries < count; tries += 1) {
    const port = NODE_PORTS.first + at;
    if (!used.has(port)) {
      used.add(port);
      return port;
    }
    at = (at + 1) % count;
  }
  throw new Error('Cannot give the Service a node port: the range is full');
}
