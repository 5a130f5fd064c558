import { OWN_KINDS, type Rights } from '../../api/crds/index.ts';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import type { ResourceType } from '../../api/resource.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import {
  CERTIFICATE_SECRET,
  EVICTIONS_CONFIGURATION,
  type InstallOptions,
  labels,
  METRICS_READER,
  NAME,
  RECREATE,
  STATUS_CONFIGURATION,
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

/** Rules for a kind of our own. */
function rightsTo({ group, plural }: ResourceType, { verbs, writesStatus }: Rights): PolicyRule[] {
  const objects = rule([group], [plural], [...verbs]);
  return writesStatus ? [objects, rule([group], [`${plural}/status`], ['update', 'patch'])] : [objects];
}

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
    ...OWN_KINDS.flatMap(({ operator, type }) => rightsTo(type, operator)),
    // Whether someone who evicts a group may evict its pods.
    rule(['authorization.k8s.io'], ['subjectaccessreviews'], ['create']),
    // Who reads metrics, and whether they may.
    rule(['authentication.k8s.io'], ['tokenreviews'], ['create']),
    rule([SCHEDULING_GROUP, OWN_SCHEDULING_GROUP], ['workloads', 'podgroups', 'compositepodgroups'], READ),
    rule(['', 'events.k8s.io'], ['events'], ['create', 'patch']),
    rule(ADMISSION, ['validatingwebhookconfigurations'], [...READ, 'patch'], [WEBHOOK_CONFIGURATION]),
    rule(
      ADMISSION,
      ['mutatingwebhookconfigurations'],
      [...READ, 'patch'],
      [EVICTIONS_CONFIGURATION, STATUS_CONFIGURATION],
    ),
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

/** Of its own and applied last: whoever removes an installation takes this right first, so that nothing comes back. */
export function recreateAccess({ namespace }: InstallOptions): [ClusterRole, ClusterRoleBinding] {
  const kinds = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: RECREATE, labels },
      rules: [rule(ADMISSION, kinds, ['create'])],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: RECREATE, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: RECREATE },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace }],
    },
  ];
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
        // Whether somebody would answer, before anything is asked.
        rule(['discovery.k8s.io'], ['endpointslices'], ['list']),
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
