/**
 * Every built-in kind the embedded API server serves, by name. What the server does with a kind (defaults,
 * validation, columns) is in the apiserver room; clients and the command line only need these facts.
 */
import type { ResourceType } from './resource.ts';

export interface KindNames {
  readonly group: string;
  /** Served versions, most preferred first. */
  readonly versions: readonly [string, ...string[]];
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly status?: boolean;
  readonly scale?: boolean;
}

interface KindOptions {
  readonly short?: readonly string[];
  readonly in?: readonly string[];
  readonly status?: boolean;
  readonly scale?: boolean;
  readonly plural?: string;
}

type Versions = readonly [string, ...string[]];

function pluralOf(singular: string): string {
  if (singular.endsWith('s') || singular.endsWith('x')) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}

function kind(group: string, versions: Versions, name: string, namespaced: boolean, options: KindOptions): KindNames {
  const singular = name.toLowerCase();
  return {
    group,
    versions,
    kind: name,
    plural: options.plural ?? pluralOf(singular),
    singular,
    namespaced,
    ...(options.short && { shortNames: options.short }),
    ...(options.in && { categories: options.in }),
    ...(options.status && { status: true }),
    ...(options.scale && { scale: true }),
  };
}

const inNamespace = (group: string, versions: Versions, name: string, options: KindOptions = {}) =>
  kind(group, versions, name, true, options);
const inCluster = (group: string, versions: Versions, name: string, options: KindOptions = {}) =>
  kind(group, versions, name, false, options);

const ADMISSION = 'admissionregistration.k8s.io';
const CERTIFICATES = 'certificates.k8s.io';
const COORDINATION = 'coordination.k8s.io';
const FLOW = 'flowcontrol.apiserver.k8s.io';
const LIFECYCLE = 'lifecycle.k8s.io';
const NETWORK = 'networking.k8s.io';
const RBAC = 'rbac.authorization.k8s.io';
const RESOURCE = 'resource.k8s.io';
const SCHEDULING = 'scheduling.k8s.io';
const STORAGE = 'storage.k8s.io';
const v1: Versions = ['v1'];
const ALL = ['all'];
const EXTENSIONS = ['api-extensions'];

export const builtinKinds: readonly KindNames[] = [
  inNamespace('', v1, 'ConfigMap', { short: ['cm'] }),
  inNamespace('', v1, 'Endpoints', { short: ['ep'], plural: 'endpoints' }),
  inNamespace('', v1, 'Event', { short: ['ev'] }),
  inNamespace('', v1, 'LimitRange', { short: ['limits'] }),
  inCluster('', v1, 'Namespace', { short: ['ns'], status: true }),
  inCluster('', v1, 'Node', { short: ['no'], status: true }),
  inNamespace('', v1, 'PersistentVolumeClaim', { short: ['pvc'], status: true }),
  inCluster('', v1, 'PersistentVolume', { short: ['pv'], status: true }),
  inNamespace('', v1, 'Pod', { short: ['po'], in: ALL, status: true }),
  inNamespace('', v1, 'PodTemplate'),
  inNamespace('', v1, 'ReplicationController', { short: ['rc'], in: ALL, status: true, scale: true }),
  inNamespace('', v1, 'ResourceQuota', { short: ['quota'], status: true }),
  inNamespace('', v1, 'Secret'),
  inNamespace('', v1, 'ServiceAccount', { short: ['sa'] }),
  inNamespace('', v1, 'Service', { short: ['svc'], in: ALL, status: true }),
  inCluster(ADMISSION, ['v1', 'v1beta1', 'v1alpha1'], 'MutatingAdmissionPolicy', { in: EXTENSIONS }),
  inCluster(ADMISSION, ['v1', 'v1beta1', 'v1alpha1'], 'MutatingAdmissionPolicyBinding', { in: EXTENSIONS }),
  inCluster(ADMISSION, v1, 'MutatingWebhookConfiguration', { in: EXTENSIONS }),
  inCluster(ADMISSION, v1, 'ValidatingAdmissionPolicy', { in: EXTENSIONS, status: true }),
  inCluster(ADMISSION, v1, 'ValidatingAdmissionPolicyBinding', { in: EXTENSIONS }),
  inCluster(ADMISSION, v1, 'ValidatingWebhookConfiguration', { in: EXTENSIONS }),
  inCluster('apiextensions.k8s.io', v1, 'CustomResourceDefinition', {
    short: ['crd', 'crds'],
    in: EXTENSIONS,
    status: true,
  }),
  inCluster('apiregistration.k8s.io', v1, 'APIService', { in: EXTENSIONS, status: true }),
  inNamespace('apps', v1, 'ControllerRevision'),
  inNamespace('apps', v1, 'DaemonSet', { short: ['ds'], in: ALL, status: true }),
  inNamespace('apps', v1, 'Deployment', { short: ['deploy'], in: ALL, status: true, scale: true }),
  inNamespace('apps', v1, 'ReplicaSet', { short: ['rs'], in: ALL, status: true, scale: true }),
  inNamespace('apps', v1, 'StatefulSet', { short: ['sts'], in: ALL, status: true, scale: true }),
  inNamespace('autoscaling', ['v2', 'v1'], 'HorizontalPodAutoscaler', { short: ['hpa'], in: ALL, status: true }),
  inNamespace('batch', v1, 'CronJob', { short: ['cj'], in: ALL, status: true }),
  inNamespace('batch', v1, 'Job', { in: ALL, status: true }),
  inCluster(CERTIFICATES, v1, 'CertificateSigningRequest', { short: ['csr'], status: true }),
  inCluster(CERTIFICATES, ['v1beta1', 'v1alpha1'], 'ClusterTrustBundle'),
  inNamespace(COORDINATION, v1, 'Lease'),
  inNamespace(COORDINATION, ['v1beta1', 'v1alpha2'], 'LeaseCandidate'),
  inNamespace('discovery.k8s.io', v1, 'EndpointSlice'),
  inNamespace('events.k8s.io', v1, 'Event', { short: ['ev'] }),
  inCluster(FLOW, v1, 'FlowSchema', { status: true }),
  inCluster(FLOW, v1, 'PriorityLevelConfiguration', { status: true }),
  inNamespace(LIFECYCLE, ['v1alpha1'], 'Eviction', { status: true }),
  inNamespace(LIFECYCLE, ['v1alpha1'], 'EvictionRequest', { status: true }),
  inCluster(NETWORK, v1, 'IngressClass'),
  inNamespace(NETWORK, v1, 'Ingress', { short: ['ing'], status: true }),
  inCluster(NETWORK, ['v1', 'v1beta1'], 'IPAddress', { short: ['ip'] }),
  inNamespace(NETWORK, v1, 'NetworkPolicy', { short: ['netpol'] }),
  inCluster(NETWORK, ['v1', 'v1beta1'], 'ServiceCIDR', { status: true }),
  inCluster('node.k8s.io', v1, 'RuntimeClass'),
  inNamespace('policy', ['v1', 'v1beta1'], 'PodDisruptionBudget', { short: ['pdb'], status: true }),
  inCluster(RBAC, v1, 'ClusterRoleBinding'),
  inCluster(RBAC, v1, 'ClusterRole'),
  inNamespace(RBAC, v1, 'RoleBinding'),
  inNamespace(RBAC, v1, 'Role'),
  inCluster(RESOURCE, v1, 'DeviceClass'),
  inNamespace(RESOURCE, v1, 'ResourceClaim', { status: true }),
  inNamespace(RESOURCE, v1, 'ResourceClaimTemplate'),
  inCluster(RESOURCE, v1, 'ResourceSlice'),
  inCluster(SCHEDULING, v1, 'PriorityClass', { short: ['pc'] }),
  inNamespace(SCHEDULING, ['v1alpha3'], 'CompositePodGroup', { status: true }),
  inNamespace(SCHEDULING, ['v1beta1', 'v1alpha2', 'v1alpha1'], 'PodGroup', { status: true }),
  inNamespace(SCHEDULING, ['v1beta1', 'v1alpha2', 'v1alpha1'], 'Workload'),
  inCluster(STORAGE, v1, 'CSIDriver'),
  inCluster(STORAGE, v1, 'CSINode'),
  inNamespace(STORAGE, v1, 'CSIStorageCapacity'),
  inCluster(STORAGE, v1, 'StorageClass', { short: ['sc'] }),
  inCluster(STORAGE, v1, 'VolumeAttachment', { status: true }),
  inCluster(STORAGE, v1, 'VolumeAttributesClass', { short: ['vac'] }),
];

/** The resource type of a built-in kind, in its preferred version unless another is named. */
export function builtinType(kindName: string, group = '', version?: string): ResourceType {
  const names = builtinKinds.find((row) => row.kind === kindName && row.group === group);
  if (names === undefined) throw new Error(`No built-in kind ${kindName} in group "${group}"`);
  return {
    group,
    version: version ?? names.versions[0],
    kind: kindName,
    plural: names.plural,
    namespaced: names.namespaced,
  };
}
