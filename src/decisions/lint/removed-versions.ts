import type { KubeObject } from '../../api/resource.ts';

/** Versions that Kubernetes no longer serves: since when, and what to write instead. `*` stands for every kind. */
const REMOVED: readonly (readonly [apiVersion: string, kinds: string, since: string, use: string])[] = [
  ['extensions/v1beta1', 'Ingress', '1.22', 'networking.k8s.io/v1'],
  ['extensions/v1beta1', 'NetworkPolicy', '1.16', 'networking.k8s.io/v1'],
  ['extensions/v1beta1', 'Deployment DaemonSet ReplicaSet', '1.16', 'apps/v1'],
  ['apps/v1beta1', '*', '1.16', 'apps/v1'],
  ['apps/v1beta2', '*', '1.16', 'apps/v1'],
  [
    'admissionregistration.k8s.io/v1beta1',
    'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
    '1.22',
    'admissionregistration.k8s.io/v1',
  ],
  ['apiextensions.k8s.io/v1beta1', '*', '1.22', 'apiextensions.k8s.io/v1'],
  ['apiregistration.k8s.io/v1beta1', '*', '1.22', 'apiregistration.k8s.io/v1'],
  ['certificates.k8s.io/v1beta1', 'CertificateSigningRequest', '1.22', 'certificates.k8s.io/v1'],
  ['coordination.k8s.io/v1beta1', 'Lease', '1.22', 'coordination.k8s.io/v1'],
  ['networking.k8s.io/v1beta1', 'Ingress IngressClass', '1.22', 'networking.k8s.io/v1'],
  ['rbac.authorization.k8s.io/v1beta1', '*', '1.22', 'rbac.authorization.k8s.io/v1'],
  ['scheduling.k8s.io/v1beta1', 'PriorityClass', '1.22', 'scheduling.k8s.io/v1'],
  ['storage.k8s.io/v1beta1', 'CSIDriver CSINode StorageClass VolumeAttachment', '1.22', 'storage.k8s.io/v1'],
  ['autoscaling/v2beta1', 'HorizontalPodAutoscaler', '1.25', 'autoscaling/v2'],
  ['autoscaling/v2beta2', 'HorizontalPodAutoscaler', '1.26', 'autoscaling/v2'],
  ['batch/v1beta1', 'CronJob', '1.25', 'batch/v1'],
  ['discovery.k8s.io/v1beta1', 'EndpointSlice', '1.25', 'discovery.k8s.io/v1'],
  ['events.k8s.io/v1beta1', 'Event', '1.25', 'events.k8s.io/v1'],
  ['node.k8s.io/v1beta1', 'RuntimeClass', '1.25', 'node.k8s.io/v1'],
  ['policy/v1beta1', 'PodDisruptionBudget', '1.25', 'policy/v1'],
  ['storage.k8s.io/v1beta1', 'CSIStorageCapacity', '1.27', 'storage.k8s.io/v1'],
  ['flowcontrol.apiserver.k8s.io/v1beta1', '*', '1.26', 'flowcontrol.apiserver.k8s.io/v1'],
  ['flowcontrol.apiserver.k8s.io/v1beta2', '*', '1.29', 'flowcontrol.apiserver.k8s.io/v1'],
  ['flowcontrol.apiserver.k8s.io/v1beta3', '*', '1.32', 'flowcontrol.apiserver.k8s.io/v1'],
];

export function removedVersion({ apiVersion = '', kind = '' }: KubeObject): { since: string; use: string } | undefined {
  const row = REMOVED.find(
    ([version, kinds]) => version === apiVersion && (kinds === '*' || kinds.split(' ').includes(kind)),
  );
  return row && { since: row[2], use: row[3] };
}
