/** Which strategy each built-in kind has; kinds not named here behave in the common way. */
import { checkPathSegment } from '../../machinery/values/index.ts';
import type { Strategy } from '../registry/strategy.ts';
import { deploymentStrategy } from './apps/deployment.ts';
import { replicaSetStrategy, replicationControllerStrategy } from './apps/replica-set.ts';
import { namespaceStrategy } from './core/namespace.ts';
import { nodeStrategy } from './core/node.ts';
import { podStrategy } from './core/pod.ts';
import { podDisruptionBudgetStrategy } from './policy/pod-disruption-budget.ts';

const rbac: Strategy = { checkName: checkPathSegment, createOnUpdate: true };

export const strategies: Readonly<Record<string, Strategy>> = {
  '/Namespace': namespaceStrategy,
  '/Node': nodeStrategy,
  '/Pod': podStrategy,
  '/ReplicationController': replicationControllerStrategy,
  'apps/Deployment': deploymentStrategy,
  'apps/ReplicaSet': replicaSetStrategy,
  'policy/PodDisruptionBudget': podDisruptionBudgetStrategy,
  'rbac.authorization.k8s.io/ClusterRole': rbac,
  'rbac.authorization.k8s.io/ClusterRoleBinding': rbac,
  'rbac.authorization.k8s.io/Role': rbac,
  'rbac.authorization.k8s.io/RoleBinding': rbac,
};
