import { isIPv6 } from 'node:net';
import { isPodFinished, isPodReady } from '../../../api/core/pod-state.ts';
import type { Container, Pod, Service, ServicePort } from '../../../api/generated/core-v1.ts';

/** A port as both Endpoints and EndpointSlices print it. */
export interface BackendPort {
  readonly name?: string | undefined;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string | undefined;
}

export type AddressType = 'IPv4' | 'IPv6';

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None';
}

/** True for services whose endpoints come from pods: they have a selector and are not a mere name for elsewhere. */
export function hasBackends({ spec }: Service): boolean {
  return spec?.selector !== undefined && spec.type !== 'ExternalName';
}

/** An empty selector selects nothing here, unlike elsewhere. */
export function selectsPod({ spec }: Service, labels: Readonly<Record<string, string>> = {}): boolean {
  const wanted = Object.entries(spec?.selector ?? {});
  return wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value);
}

/** Finished pods and pods without address back nothing; terminating ones only where the caller shows them as such. */
export function canBack(pod: Pod, includeTerminating: boolean): boolean {
  const hasAddress = Boolean(pod.status?.podIP) || (pod.status?.podIPs?.length ?? 0) > 0;
  return hasAddress && !isPodFinished(pod) && (includeTerminating || !pod.metadata.deletionTimestamp);
}

export function addressesOf({ status }: Pod, type: AddressType): string[] {
  const all = status?.podIPs?.map(({ ip }) => ip) ?? [];
  if (all.length === 0 && status?.podIP) all.push(status.podIP);
  return all.filter((ip) => isIPv6(ip) === (type === 'IPv6'));
}

/** The families of a service, its own first. */
export function addressTypesOf({ spec }: Service): AddressType[] {
  if (spec?.ipFamilies?.length) return spec.ipFamilies as AddressType[];
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [isIPv6(spec.clusterIP) ? 'IPv6' : 'IPv4'];
  return ['IPv4', 'IPv6'];
}

/** The service's ports as this pod answers them; a named port the pod does not have is left out. */
export function portsOf({ spec }: Service, pod: Pod): BackendPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = findPort(pod, servicePort);
    if (port === undefined) return [];
    const { name, protocol = 'TCP', appProtocol } = servicePort;
    return [{ ...(name && { name }), port, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function findPort({ spec }: Pod, { port, protocol = 'TCP', targetPort }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort || port;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...(spec?.containers ?? []), ...sidecars]
    .flatMap(({ ports = [] }: Container) => ports)
    .find((candidate) => candidate.name === targetPort && (candidate.protocol ?? 'TCP') === protocol)?.containerPort;
}

/** A pod takes its own name under a headless service that its subdomain points to. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const isPointedTo = spec?.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return spec?.hostname && isPointedTo ? spec.hostname : undefined;
}

export function targetRefOf({ metadata }: Pod) {
  const { namespace, name, uid } = metadata;
  return { kind: 'Pod', namespace, name, uid };
}

/** Would endpoints look different for these two states of a pod? */
export function isSameBackend(a: Pod, b: Pod): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    isPodReady(a) === isPodReady(b) &&
    a.status?.phase === b.status?.phase &&
    Boolean(a.metadata.deletionTimestamp) === Boolean(b.metadata.deletionTimestamp) &&
    a.spec?.nodeName === b.spec?.nodeName &&
    sameAddresses(a, b) &&
    sameLabels(a.metadata.labels, b.metadata.labels)
  );
}

function sameAddresses(a: Pod, b: Pod): boolean {
  const show = ({ status }: Pod) => [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)].join();
  return show(a) === show(b);
}

function sameLabels(a: Record<string, string> = {}, b: Record<string, string> = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
