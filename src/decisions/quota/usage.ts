/** How much one object counts against the quotas of its namespace. */
import type { PersistentVolumeClaim, Pod, Service } from '../../api/generated/core-v1.ts';
import type { ResourceClaim } from '../../api/generated/resource-v1.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { type Amounts, addAmounts, largest } from './amounts.ts';
import { podResources } from './pod-resources.ts';

export interface CountedKind {
  readonly group: string;
  readonly plural: string;
}

/** Kinds with a name of their own beside `count/…`. */
const NAMED = new Set(['replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps']);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const CLASS = '.storageclass.storage.k8s.io/';
const DEVICES = '.deviceclass.resource.k8s.io/devices';
/** What a request for all devices of a class may come to. */
const MOST_DEVICES = 32;

export function countName({ group, plural }: CountedKind): string {
  return group === '' ? `count/${plural}` : `count/${plural}.${group}`;
}

export function usageOf(kind: CountedKind, object: object, now: number): Record<string, string> {
  const count = { [countName(kind)]: '1' };
  if (kind.group === 'resource.k8s.io' && kind.plural === 'resourceclaims') {
    return { ...count, ...deviceUsage(object as ResourceClaim) };
  }
  if (kind.group !== '') return count;
  switch (kind.plural) {
    case 'pods':
      return isActive(object as Pod, now) ? { ...count, ...podUsage(object as Pod) } : count;
    case 'services':
      return { ...count, ...serviceUsage(object as Service) };
    case 'persistentvolumeclaims':
      return { ...count, ...claimUsage(object as PersistentVolumeClaim) };
    default:
      return NAMED.has(kind.plural) ? { ...count, [kind.plural]: '1' } : count;
  }
}

/** Whether a quota with these names says anything about the kind. */
export function countsTowards(kind: CountedKind, name: string): boolean {
  if (name === countName(kind)) return true;
  if (kind.group === 'resource.k8s.io') return kind.plural === 'resourceclaims' && name.endsWith(DEVICES);
  if (kind.group !== '') return false;
  switch (kind.plural) {
    case 'pods':
      return (
        name === 'pods' ||
        COMPUTE.includes(name) ||
        name.startsWith('limits.') ||
        name.startsWith('hugepages-') ||
        (name.startsWith('requests.') && name !== 'requests.storage')
      );
    case 'services':
      return name === 'services' || name === 'services.nodeports' || name === 'services.loadbalancers';
    case 'persistentvolumeclaims':
      return name === 'persistentvolumeclaims' || name === 'requests.storage' || name.includes(CLASS);
    default:
      return NAMED.has(kind.plural) && name === kind.plural;
  }
}

/** Finished pods, and those whose time to go has passed, hold nothing but their place in the object count. */
function isActive({ status, metadata }: Pod, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  const deadline = parseTime(metadata.deletionTimestamp);
  if (deadline === undefined || metadata.deletionGracePeriodSeconds === undefined) return true;
  return now <= deadline + metadata.deletionGracePeriodSeconds * 1000;
}

function podUsage(pod: Pod): Record<string, string> {
  return { pods: '1', ...computeUsage(podResources(pod, 'requests'), podResources(pod, 'limits')) };
}

/** The names quotas use for requests and limits. */
export function computeUsage(requests: Amounts, limits: Amounts): Record<string, string> {
  const usage: Record<string, string> = {};
  for (const [name, value] of Object.entries(requests)) {
    const bare = COMPUTE.includes(name) || name.startsWith('hugepages-');
    if (bare) usage[name] = String(value);
    if (bare || name.includes('/')) usage[`requests.${name}`] = String(value);
  }
  for (const [name, value] of Object.entries(limits)) {
    if (COMPUTE.includes(name)) usage[`limits.${name}`] = String(value);
  }
  return usage;
}

function serviceUsage({ spec }: Service): Record<string, string> {
  const ports = spec?.ports ?? [];
  const usage = { services: '1', 'services.loadbalancers': '0', 'services.nodeports': '0' };
  if (spec?.type === 'NodePort') return { ...usage, 'services.nodeports': String(ports.length) };
  if (spec?.type !== 'LoadBalancer') return usage;
  const nodePorts =
    spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort).length : ports.length;
  return { ...usage, 'services.loadbalancers': '1', 'services.nodeports': String(nodePorts) };
}

function claimUsage({ metadata, spec, status }: PersistentVolumeClaim): Record<string, string> {
  const usage: Record<string, string> = { persistentvolumeclaims: '1' };
  const asked = spec?.resources?.requests?.['storage'];
  const storageClass =
    metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
  if (asked !== undefined) {
    const allocated = status?.allocatedResources?.['storage'];
    const most = allocated === undefined ? { storage: asked } : largest({ storage: asked }, { storage: allocated });
    usage['requests.storage'] = String(most['storage']);
  }
  if (storageClass !== '') {
    usage[`${storageClass}${CLASS}persistentvolumeclaims`] = '1';
    if (usage['requests.storage'] !== undefined) {
      usage[`${storageClass}${CLASS}requests.storage`] = usage['requests.storage'];
    }
  }
  return usage;
}

/** Of alternatives only one is taken, so each class counts with its largest. */
function deviceUsage({ spec }: ResourceClaim): Record<string, string> {
  let usage: Record<string, string> = {};
  for (const { exactly, firstAvailable } of spec?.devices?.requests ?? []) {
    let asked: Record<string, string> = {};
    for (const request of exactly === undefined ? (firstAvailable ?? []) : [exactly]) {
      const count = request.allocationMode === 'All' ? MOST_DEVICES : (request.count ?? 1);
      asked = largest(asked, { [`${request.deviceClassName}${DEVICES}`]: String(count) });
    }
    usage = addAmounts(usage, asked);
  }
  return usage;
}
