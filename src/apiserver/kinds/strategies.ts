/** Which strategy each built-in kind has; kinds not named here behave in the common way. */
import { mutatingConfigurationStrategy, validatingConfigurationStrategy } from '../admission/webhooks/configuration.ts';
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from '../auth/rbac/strategy.ts';
import { definitionStrategy } from '../crd/strategy.ts';
import type { Strategy } from '../registry/strategy.ts';
import { deploymentStrategy } from './apps/deployment.ts';
import { replicaSetStrategy, replicationControllerStrategy } from './apps/replica-set.ts';
import { namespaceStrategy } from './core/namespace.ts';
import { nodeStrategy } from './core/node.ts';
import { podStrategy } from './core/pod.ts';
import { podDisruptionBudgetStrategy } from './policy/pod-disruption-budget.ts';
import { podGroupStrategy } from './scheduling/pod-group.ts';
import { priorityClassStrategy } from './scheduling/priority-class.ts';
import { workloadStrategy } from './scheduling/workload.ts';

export const strategies: Readonly<Record<string, Strategy>> = {
  '/Namespace': namespaceStrategy,
  '/Node': nodeStrategy,
  '/Pod': podStrategy,
  '/ReplicationController': replicationControllerStrategy,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': mutatingConfigurationStrategy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': validatingConfigurationStrategy,
  'apiextensions.k8s.io/CustomResourceDefinition': definitionStrategy,
  'apps/Deployment': deploymentStrategy,
  'apps/ReplicaSet': replicaSetStrategy,
  'policy/PodDisruptionBudget': podDisruptionBudgetStrategy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRoleStrategy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingStrategy,
  'rbac.authorization.k8s.io/Role': roleStrategy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingStrategy,
  'scheduling.k8s.io/PodGroup': podGroupStrategy,
  'scheduling.k8s.io/PriorityClass': priorityClassStrategy,
  'scheduling.k8s.io/Workload': workloadStrategy,
};
