/**
 * Ways to more rights for somebody who may write roles and bindings and read pods, and holds nothing else: `mallory`
 * of namespace `team`.
 */
import type { Question } from '../target.ts';

export interface Escalation extends Omit<Question, 'as'> {
  readonly name: string;
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const TEAM = `${RBAC}/namespaces/team`;
const merge = { 'content-type': 'application/merge-patch+json' };
const json = { 'content-type': 'application/json-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };

/** What she holds. */
export const held = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    verbs: ['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  },
];

const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
const role = (name: string, rules: unknown[]) => ({ metadata: { name }, rules });
const me = { kind: 'ServiceAccount', name: 'mallory', namespace: 'team' };
const binding = (name: string, kind: string, ref: string, subjects: unknown[] = [me]) => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: ref },
  subjects,
});
const withRule = (rule: object) => role('more', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], ...rule }]);

export const escalations: readonly Escalation[] = [
  { name: 'a role that reads secrets', path: `${TEAM}/roles`, body: role('more', secrets) },
  { name: 'a cluster role that reads secrets', path: `${RBAC}/clusterroles`, body: role('more', secrets) },
  { name: 'every verb', path: `${TEAM}/roles`, body: withRule({ verbs: ['*'] }) },
  { name: 'every resource', path: `${TEAM}/roles`, body: withRule({ resources: ['*'] }) },
  { name: 'every group', path: `${TEAM}/roles`, body: withRule({ apiGroups: ['*'] }) },
  { name: 'a verb in other case', path: `${TEAM}/roles`, body: withRule({ verbs: ['GET'] }) },
  { name: 'a subresource of what she holds', path: `${TEAM}/roles`, body: withRule({ resources: ['pods/eviction'] }) },
  { name: 'all subresources of what she holds', path: `${TEAM}/roles`, body: withRule({ resources: ['pods/*'] }) },
  { name: 'a subresource of everything', path: `${TEAM}/roles`, body: withRule({ resources: ['*/status'] }) },
  {
    name: 'one secret by name',
    path: `${TEAM}/roles`,
    body: withRule({ resources: ['secrets'], resourceNames: ['a'] }),
  },
  {
    name: 'paths that are no resources',
    path: `${RBAC}/clusterroles`,
    body: role('more', [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]),
  },
  {
    name: 'every path',
    path: `${RBAC}/clusterroles`,
    body: role('more', [{ nonResourceURLs: ['*'], verbs: ['*'] }]),
  },
  {
    name: 'the verb escalate',
    path: `${TEAM}/roles`,
    body: role('more', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['escalate'] }]),
  },
  {
    name: 'the verb bind',
    path: `${TEAM}/roles`,
    body: role('more', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'] }]),
  },
  {
    name: 'the verb impersonate',
    path: `${RBAC}/clusterroles`,
    body: role('more', [{ apiGroups: [''], resources: ['groups'], verbs: ['impersonate'] }]),
  },
  {
    name: 'tokens of service accounts',
    path: `${TEAM}/roles`,
    body: withRule({ resources: ['serviceaccounts/token'], verbs: ['create'] }),
  },
  {
    name: 'a role gathered from others by label',
    path: `${RBAC}/clusterroles`,
    body: { metadata: { name: 'more' }, aggregationRule: { clusterRoleSelectors: [{}] } },
  },
  {
    name: 'rules slipped into a role that is gathered',
    path: `${RBAC}/clusterroles`,
    body: {
      metadata: { name: 'more', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      rules: secrets,
    },
  },
  {
    name: 'her own role, replaced',
    method: 'PUT',
    path: `${RBAC}/clusterroles/mallory`,
    body: role('mallory', [...held, ...secrets]),
  },
  {
    name: 'her own role, merge patch',
    method: 'PATCH',
    path: `${RBAC}/clusterroles/mallory`,
    headers: merge,
    body: { rules: [...held, ...secrets] },
  },
  {
    name: 'her own role, JSON patch',
    method: 'PATCH',
    path: `${RBAC}/clusterroles/mallory`,
    headers: json,
    body: [{ op: 'add', path: '/rules/-', value: secrets[0] }],
  },
  {
    name: 'her own role, strategic merge patch',
    method: 'PATCH',
    path: `${RBAC}/clusterroles/mallory`,
    headers: strategic,
    body: { rules: [...held, ...secrets] },
  },
  {
    name: 'her own role, server-side apply',
    method: 'PATCH',
    path: `${RBAC}/clusterroles/mallory?fieldManager=m&force=true`,
    headers: apply,
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      ...role('mallory', [...held, ...secrets]),
    },
  },
  {
    name: 'a new role by server-side apply',
    method: 'PATCH',
    path: `${TEAM}/roles/more?fieldManager=m`,
    headers: apply,
    body: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', ...role('more', secrets) },
  },
  {
    name: 'bound to cluster-admin',
    path: `${RBAC}/clusterrolebindings`,
    body: binding('more', 'ClusterRole', 'cluster-admin'),
  },
  {
    name: 'bound to cluster-admin in one namespace',
    path: `${TEAM}/rolebindings`,
    body: binding('more', 'ClusterRole', 'cluster-admin'),
  },
  { name: 'bound to edit', path: `${TEAM}/rolebindings`, body: binding('more', 'ClusterRole', 'edit') },
  {
    name: 'bound to a role that is not there yet',
    path: `${TEAM}/rolebindings`,
    body: binding('more', 'Role', 'not-there-yet'),
  },
  {
    name: 'bound in kube-system',
    path: `${RBAC}/namespaces/kube-system/rolebindings`,
    body: binding('more', 'ClusterRole', 'admin'),
  },
  {
    name: 'everybody bound to system:masters by name',
    path: `${RBAC}/clusterrolebindings`,
    body: binding('more', 'ClusterRole', 'cluster-admin', [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' },
    ]),
  },
  {
    name: 'another subject for a strong binding',
    method: 'PATCH',
    path: `${RBAC}/clusterrolebindings/cluster-admin`,
    headers: json,
    body: [{ op: 'add', path: '/subjects/-', value: me }],
  },
];
