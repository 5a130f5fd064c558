import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import {
  CERTIFICATE_SECRET,
  EVICTIONS_CONFIGURATION,
  type InstallOptions,
  labels,
  METRICS_READER,
  NAME,
  TOKEN_SECRET,
  WEBHOOK_CONFIGURATION,
} from './options.ts';

export const rule = (
  apiGroups: string[],
  resources: string[],
  verbs: string[],
  resourceNames?: string[],
): PolicyRule => ({
  apiGroups,
  resources,
  verbs,
  ...(resourceNames === undefined ? {} : { resourceNames }),
});
export const READ = ['get', 'list', 'watch'];
const ADMISSION = ['admissionregistration.k8s.io'];

/** What Quorate may do on the whole cluster: read what it counts, write its own objects and events. */
function clusterRules(): PolicyRule[] {
  return [
    rule([''], ['pods', 'nodes', 'replicationcontrollers', 'namespaces'], READ),
    // Evicting a group charges every budget first and then deletes, as the API server does for a single pod.
    rule([''], ['pods'], ['patch', 'delete']),
    rule([''], ['pods/status'], ['update', 'patch']),
    rule(['apps'], ['replicasets', 'deployments', 'statefulsets'], READ),
    rule(['batch'], ['jobs'], READ),
    // Whether the controller of a pod that the garbage collector deletes is gone.
    rule(['apps', 'apps.kruise.io'], ['daemonsets', 'statefulsets', 'clonesets'], ['get']),
    rule(['*'], ['*/scale'], ['get']),
    rule(['policy'], ['poddisruptionbudgets'], READ),
    rule(['policy'], ['poddisruptionbudgets/status'], ['update', 'patch']),
    rule(['policy.quorate.dev'], ['disruptionledgers'], [...READ, 'create', 'delete']),
    rule(['policy.quorate.dev'], ['disruptionledgers/status'], ['update', 'patch']),
    rule(['policy.quorate.dev'], ['downscalepodpickers'], READ),
    rule(['policy.quorate.dev'], ['groupevictions'], [...READ, 'delete']),
    rule(['policy.quorate.dev'], ['groupevictions/status'], ['update', 'patch']),
    // Whether someone who evicts a group may evict its pods.
    rule(['authorization.k8s.io'], ['subjectaccessreviews'], ['create']),
    // Who reads metrics, and whether they may.
    rule(['authentication.k8s.io'], ['tokenreviews'], ['create']),
    rule(['policy.kruise.io'], ['podunavailablebudgets'], READ),
    rule(['policy.kruise.io'], ['podunavailablebudgets/status'], ['update', 'patch']),
    rule([SCHEDULING_GROUP, OWN_SCHEDULING_GROUP], ['workloads', 'podgroups'], READ),
    rule(['leaderworkerset.x-k8s.io', 'apps.kruise.io'], ['leaderworkersets'], READ),
    rule(['', 'events.k8s.io'], ['events'], ['create', 'patch']),
    rule(ADMISSION, ['validatingwebhookconfigurations'], [...READ, 'patch'], [WEBHOOK_CONFIGURATION]),
    rule(ADMISSION, ['mutatingwebhookconfigurations'], [...READ, 'patch'], [EVICTIONS_CONFIGURATION]),
  ];
}

/** Bound to whoever reads metrics; to nobody at first. */
function metricsReader(): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: METRICS_READER, labels },
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  };
}

export function accessObjects(
  options: InstallOptions,
): [ClusterRole, ClusterRoleBinding, Role, RoleBinding, ClusterRole] {
  const { namespace } = options;
  const subject = { kind: 'ServiceAccount', name: NAME, namespace };
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: NAME, labels },
      rules: clusterRules(),
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [subject],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: NAME, namespace, labels },
      rules: [
        rule(['coordination.k8s.io'], ['leases'], ['create']),
        rule(['coordination.k8s.io'], ['leases'], ['get', 'update'], [NAME]),
        rule([''], ['secrets'], ['create']),
        rule([''], ['secrets'], ['get', 'update'], [CERTIFICATE_SECRET, TOKEN_SECRET]),
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: NAME, namespace, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
      subjects: [subject],
    },
    metricsReader(),
  ];
}
