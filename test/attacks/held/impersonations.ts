/** Ways to act as somebody else with the right to impersonate one user, `alice`, and nobody and nothing else. */
export interface Impersonation {
  readonly name: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
}

export const impersonations: readonly Impersonation[] = [
  { name: 'another user', headers: { 'impersonate-user': 'bob' } },
  { name: 'the administrator', headers: { 'impersonate-user': 'kubernetes-admin' } },
  { name: 'the user in other case', headers: { 'impersonate-user': 'Alice' } },
  { name: 'the user with a group', headers: { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' } },
  {
    name: 'the user with two groups',
    headers: { 'impersonate-user': 'alice', 'impersonate-group': ['system:authenticated', 'system:masters'] },
  },
  {
    name: 'groups joined by a comma',
    headers: { 'impersonate-user': 'alice', 'impersonate-group': 'system:authenticated,system:masters' },
  },
  { name: 'a group without a user', headers: { 'impersonate-group': 'system:masters' } },
  { name: 'a UID', headers: { 'impersonate-user': 'alice', 'impersonate-uid': '1' } },
  { name: 'a UID without a user', headers: { 'impersonate-uid': '1' } },
  { name: 'an extra', headers: { 'impersonate-user': 'alice', 'impersonate-extra-scopes': 'all' } },
  {
    name: 'an extra with an encoded name',
    headers: { 'impersonate-user': 'alice', 'impersonate-extra-a%2fb': 'all' },
  },
  {
    name: 'a service account as a user',
    headers: { 'impersonate-user': 'system:serviceaccount:kube-system:default' },
  },
  { name: 'two users', headers: { 'impersonate-user': ['alice', 'bob'] } },
  { name: 'a node', headers: { 'impersonate-user': 'system:node:node-0', 'impersonate-group': 'system:nodes' } },
];
