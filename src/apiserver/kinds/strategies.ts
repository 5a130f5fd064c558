/** Which strategy each built-in kind has; kinds not named here behave in the common way. */
import {
  mutatingPolicyBindingStrategy,
  mutatingPolicyStrategy,
  validatingPolicyBindingStrategy,
  validatingPolicyStrategy,
} from '../admission/policies/strategy.ts';
import { mutatingConfigurationStrategy, validatingConfigurationStrategy } from '../admission/webhooks/configuration.ts';
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from '../auth/rbac/strategy.ts';
import { definitionStrategy } from '../crd/strategy.ts';
import type { Strategy } from '../registry/strategy.ts';
import { apiServiceStrategy } from './api-service.ts';
import { controllerRevisionStrategy } from './apps/controller-revision.ts';
import { daemonSetStrategy } from './apps/daemon-set.ts';
import { deploymentStrategy } from './apps/deployment.ts';
import { replicaSetStrategy, replicationControllerStrategy } from './apps/replica-set.ts';
import { horizontalPodAutoscalerStrategy } from './autoscaling/strategy.ts';
import { statefulSetStrategy } from './apps/stateful-set.ts';
import { cronJobStrategy } from './batch/cron-job.ts';
import { jobStrategy } from './batch/job.ts';
import { configMapStrategy, secretStrategy } from './core/config.ts';
import { eventStrategy } from './core/event.ts';
import { namespaceStrategy } from './core/namespace.ts';
import { nodeStrategy } from './core/node.ts';
import { podStrategy } from './core/pod.ts';
import { serviceStrategy } from './core/service.ts';
import * as core from './core/small.ts';
import { flowSchemaStrategy } from './flow-control/flow-schema.ts';
import { priorityLevelStrategy } from './flow-control/priority-level.ts';
import { evictionStrategy } from './lifecycle/eviction.ts';
import { evictionRequestStrategy } from './lifecycle/eviction-request.ts';
import { ipAddressStrategy } from './networking/ip-address.ts';
import { podDisruptionBudgetStrategy } from './policy/pod-disruption-budget.ts';
import { compositePodGroupStrategy } from './scheduling/composite-pod-group.ts';
import { podGroupStrategy } from './scheduling/pod-group.ts';
import { priorityClassStrategy } from './scheduling/priority-class.ts';
import { workloadStrategy } from './scheduling/workload.ts';
import * as small from './small-groups.ts';

export const strategies: Readonly<Record<string, Strategy>> = {
  '/ConfigMap': configMapStrategy,
  '/Endpoints': core.endpointsStrategy,
  '/Event': eventStrategy,
  '/LimitRange': core.limitRangeStrategy,
  '/Namespace': namespaceStrategy,
  '/Node': nodeStrategy,
  '/PersistentVolume': core.persistentVolumeStrategy,
  '/PersistentVolumeClaim': core.persistentVolumeClaimStrategy,
  '/Pod': podStrategy,
  '/PodTemplate': core.podTemplateStrategy,
  '/ReplicationController': replicationControllerStrategy,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': mutatingConfigurationStrategy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': validatingConfigurationStrategy,
  'apiextensions.k8s.io/CustomResourceDefinition': definitionStrategy,
  '/ResourceQuota': core.resourceQuotaStrategy,
  '/Secret': secretStrategy,
  '/Service': serviceStrategy,
  '/ServiceAccount': core.serviceAccountStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingPolicyStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': mutatingPolicyBindingStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingPolicyStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': validatingPolicyBindingStrategy,
  'apiregistration.k8s.io/APIService': apiServiceStrategy,
  'apps/ControllerRevision': controllerRevisionStrategy,
  'apps/DaemonSet': daemonSetStrategy,
  'apps/Deployment': deploymentStrategy,
  'apps/ReplicaSet': replicaSetStrategy,
  'apps/StatefulSet': statefulSetStrategy,
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerStrategy,
  'batch/CronJob': cronJobStrategy,
  'batch/Job': jobStrategy,
  'certificates.k8s.io/CertificateSigningRequest': small.certificateSigningRequestStrategy,
  'coordination.k8s.io/Lease': small.leaseStrategy,
  'discovery.k8s.io/EndpointSlice': small.endpointSliceStrategy,
  'events.k8s.io/Event': eventStrategy,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaStrategy,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelStrategy,
  'lifecycle.k8s.io/Eviction': evictionStrategy,
  'lifecycle.k8s.io/EvictionRequest': evictionRequestStrategy,
  'networking.k8s.io/IPAddress': ipAddressStrategy,
  'networking.k8s.io/Ingress': small.ingressStrategy,
  'networking.k8s.io/IngressClass': small.countsSpec,
  'networking.k8s.io/NetworkPolicy': small.networkPolicyStrategy,
  'node.k8s.io/RuntimeClass': { unconditionalUpdate: false, createOnUpdate: true },
  'policy/PodDisruptionBudget': podDisruptionBudgetStrategy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRoleStrategy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingStrategy,
  'rbac.authorization.k8s.io/Role': roleStrategy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingStrategy,
  'scheduling.k8s.io/CompositePodGroup': compositePodGroupStrategy,
  'scheduling.k8s.io/PodGroup': podGroupStrategy,
  'scheduling.k8s.io/PriorityClass': priorityClassStrategy,
  'scheduling.k8s.io/Workload': workloadStrategy,
  'resource.k8s.io/DeviceClass': small.countsAnyChange,
  'resource.k8s.io/ResourceSlice': small.countsSpec,
  'storage.k8s.io/CSIDriver': small.conditionalStorage,
  'storage.k8s.io/CSINode': small.conditionalStorage,
  'storage.k8s.io/CSIStorageCapacity': { unconditionalUpdate: false },
  'storage.k8s.io/StorageClass': small.storageClassStrategy,
  'storage.k8s.io/VolumeAttachment': small.conditionalStorage,
  'storage.k8s.io/VolumeAttributesClass': small.storageStrategy,
};
