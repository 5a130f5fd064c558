/** The built-in kinds that controllers work with, tied to their object types. */
import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from './generated/apps-v1.ts';
import type { HorizontalPodAutoscaler } from './generated/autoscaling-v2.ts';
import type { CronJob, Job } from './generated/batch-v1.ts';
import type { Lease } from './generated/coordination-v1.ts';
import type {
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from './generated/core-v1.ts';
import type { EndpointSlice } from './generated/discovery-v1.ts';
import type { PodDisruptionBudget } from './generated/policy-v1.ts';
import { builtinType } from './registry.ts';
import type { ResourceType } from './resource.ts';

export const podType = builtinType('Pod') as ResourceType<Pod>;
export const nodeType = builtinType('Node') as ResourceType<Node>;
export const namespaceType = builtinType('Namespace') as ResourceType<Namespace>;
export const secretType = builtinType('Secret') as ResourceType<Secret>;
export const replicationControllerType = builtinType('ReplicationController') as ResourceType<ReplicationController>;
export const replicaSetType = builtinType('ReplicaSet', 'apps') as ResourceType<ReplicaSet>;
export const deploymentType = builtinType('Deployment', 'apps') as ResourceType<Deployment>;
export const horizontalPodAutoscalerType = builtinType(
  'HorizontalPodAutoscaler',
  'autoscaling',
) as ResourceType<HorizontalPodAutoscaler>;
export const configMapType = builtinType('ConfigMap') as ResourceType<ConfigMap>;
export const endpointsType = builtinType('Endpoints') as ResourceType<Endpoints>;
export const endpointSliceType = builtinType('EndpointSlice', 'discovery.k8s.io') as ResourceType<EndpointSlice>;
export const eventType = builtinType('Event') as ResourceType<Event>;
export const resourceQuotaType = builtinType('ResourceQuota') as ResourceType<ResourceQuota>;
export const serviceType = builtinType('Service') as ResourceType<Service>;
export const serviceAccountType = builtinType('ServiceAccount') as ResourceType<ServiceAccount>;
export const leaseType = builtinType('Lease', 'coordination.k8s.io') as ResourceType<Lease>;
export const controllerRevisionType = builtinType('ControllerRevision', 'apps') as ResourceType<ControllerRevision>;
export const statefulSetType = builtinType('StatefulSet', 'apps') as ResourceType<StatefulSet>;
export const daemonSetType = builtinType('DaemonSet', 'apps') as ResourceType<DaemonSet>;
export const jobType = builtinType('Job', 'batch') as ResourceType<Job>;
export const cronJobType = builtinType('CronJob', 'batch') as ResourceType<CronJob>;
export const persistentVolumeType = builtinType('PersistentVolume') as ResourceType<PersistentVolume>;
export const persistentVolumeClaimType = builtinType('PersistentVolumeClaim') as ResourceType<PersistentVolumeClaim>;
export const podDisruptionBudgetType = builtinType(
  'PodDisruptionBudget',
  'policy',
) as ResourceType<PodDisruptionBudget>;
