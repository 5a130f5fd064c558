/** What people in a namespace may do: `view` reads, `edit` also changes workloads, `admin` also hands out rights. */
import type { PolicyRule } from '../../../api/generated/rbac-v1.ts';
import { READ, READ_WRITE, rule, WRITE } from './rule.ts';

const APPS = 'statefulsets statefulsets/scale daemonsets deployments deployments/scale replicasets replicasets/scale';

export const VIEW_RULES: readonly PolicyRule[] = [
  rule(
    READ,
    'core',
    `pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status endpoints
     persistentvolumeclaims persistentvolumeclaims/status configmaps`,
  ),
  rule(
    READ,
    'core',
    `limitranges resourcequotas bindings pods/status resourcequotas/status namespaces/status
     replicationcontrollers/status pods/log`,
  ),
  rule(READ, 'core', 'namespaces'),
  rule(READ, 'core events', 'events'),
  rule(READ, 'discovery', 'endpointslices'),
  rule(
    READ,
    'apps',
    `controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets daemonsets/status deployments
     deployments/status deployments/scale replicasets replicasets/status replicasets/scale`,
  ),
  rule(READ, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
  rule(READ, 'batch', 'jobs cronjobs cronjobs/status jobs/status'),
  rule(READ, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
  rule(READ, 'networking', 'networkpolicies ingresses ingresses/status'),
  rule(READ, 'resource', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
  rule(READ, 'scheduling', 'workloads podgroups podgroups/status'),
];

export const EDIT_RULES: readonly PolicyRule[] = [
  rule(READ, 'core', 'pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy'),
  rule('impersonate', 'core', 'serviceaccounts'),
  rule(WRITE, 'core', 'pods pods/attach pods/proxy pods/exec pods/portforward'),
  rule('create', 'core', 'pods/eviction'),
  rule(
    WRITE,
    'core',
    `replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy
     persistentvolumeclaims configmaps secrets`,
  ),
  rule('create', 'core', 'serviceaccounts/token'),
  rule(WRITE, 'core events', 'events'),
  rule(WRITE, 'apps', `${APPS} deployments/rollback`),
  rule(WRITE, 'autoscaling', 'horizontalpodautoscalers'),
  rule(WRITE, 'batch', 'jobs cronjobs'),
  rule(WRITE, 'policy', 'poddisruptionbudgets'),
  rule(WRITE, 'networking', 'networkpolicies ingresses'),
  rule(READ_WRITE, 'coordination', 'leases'),
  rule(WRITE, 'resource', 'resourceclaims resourceclaimtemplates'),
  rule(WRITE, 'scheduling', 'workloads podgroups'),
];

export const ADMIN_RULES: readonly PolicyRule[] = [
  rule('create', 'authorization', 'localsubjectaccessreviews'),
  rule(READ_WRITE, 'rbac', 'roles rolebindings'),
];
