/** The roles and bindings every cluster starts with. */
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Subject } from '../../../api/generated/rbac-v1.ts';
import { RBAC_GROUP } from './index-of-roles.ts';
import { SYSTEM_ROLES } from './system-roles.ts';
import { ADMIN_RULES, EDIT_RULES, VIEW_RULES } from './user-roles.ts';

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';
const aggregateTo = (role: string): string => `rbac.authorization.k8s.io/aggregate-to-${role}`;

function metadata(name: string, labels: Record<string, string> = {}) {
  return {
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { [AUTOUPDATE]: 'true' },
  };
}

function role(name: string, rules: readonly PolicyRule[], labels: Record<string, string> = {}): ClusterRole {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: metadata(name, labels),
    rules: [...rules],
  };
}

/** A role that is the sum of the roles labelled for it. */
function sum(name: string, partOf: string | undefined): ClusterRole {
  return {
    ...role(name, [], partOf === undefined ? {} : { [aggregateTo(partOf)]: 'true' }),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregateTo(name)]: 'true' } }] },
  };
}

function part(of: string, rules: readonly PolicyRule[]): ClusterRole {
  return role(`system:aggregate-to-${of}`, rules, { [aggregateTo(of)]: 'true' });
}

export const DEFAULT_CLUSTER_ROLES: readonly ClusterRole[] = [
  sum('admin', undefined),
  sum('edit', 'admin'),
  sum('view', 'edit'),
  part('admin', ADMIN_RULES),
  part('edit', EDIT_RULES),
  part('view', VIEW_RULES),
  ...Object.entries(SYSTEM_ROLES).map(([name, rules]) => role(name, rules)),
];

const group = (name: string): Subject => ({ kind: 'Group', apiGroup: RBAC_GROUP, name });
const user = (name: string): Subject => ({ kind: 'User', apiGroup: RBAC_GROUP, name });

const BOUND: Readonly<Record<string, readonly Subject[]>> = {
  'cluster-admin': [group('system:masters')],
  'system:monitoring': [group('system:monitoring')],
  'system:discovery': [group('system:authenticated')],
  'system:basic-user': [group('system:authenticated')],
  'system:public-info-viewer': [group('system:authenticated'), group('system:unauthenticated')],
  'system:node-proxier': [user('system:kube-proxy')],
  'system:kube-controller-manager': [user('system:kube-controller-manager')],
  'system:kube-dns': [{ kind: 'ServiceAccount', name: 'kube-dns', namespace: 'kube-system' }],
  'system:kube-scheduler': [user('system:kube-scheduler')],
  'system:volume-scheduler': [user('system:kube-scheduler')],
  'system:service-account-issuer-discovery': [group('system:serviceaccounts')],
  'system:node': [],
};

export const DEFAULT_CLUSTER_ROLE_BINDINGS: readonly ClusterRoleBinding[] = Object.entries(BOUND).map(
  ([name, subjects]) => ({
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: metadata(name),
    subjects: [...subjects],
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
  }),
);
