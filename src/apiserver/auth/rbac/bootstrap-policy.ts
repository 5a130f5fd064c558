/** The roles and bindings every cluster starts with: Kubernetes' own, as data (scripts/bootstrap-policy.ts writes it). */
import { readFileSync } from 'node:fs';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../../api/generated/rbac-v1.ts';

type RoleKind = ClusterRole | Role;
type BindingKind = ClusterRoleBinding | RoleBinding;

export interface BootstrapPolicy {
  readonly roles: readonly RoleKind[];
  readonly bindings: readonly BindingKind[];
}

/** What we serve beyond the release that the data comes from. */
const GROUPS = { apiGroups: ['scheduling.k8s.io'] };
const LIFECYCLE = { apiGroups: ['lifecycle.k8s.io'] };
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const MORE: Readonly<Record<string, readonly PolicyRule[]>> = {
  'system:kube-scheduler': [
    { ...GROUPS, resources: ['workloads', 'compositepodgroups'], verbs: READ },
    { ...GROUPS, resources: ['compositepodgroups/status'], verbs: ['patch', 'update'] },
  ],
  'system:aggregate-to-view': [
    { ...GROUPS, resources: ['compositepodgroups', 'compositepodgroups/status'], verbs: READ },
    { ...LIFECYCLE, resources: ['evictionrequests', 'evictions'], verbs: READ },
  ],
  'system:aggregate-to-edit': [
    { ...GROUPS, resources: ['compositepodgroups'], verbs: WRITE },
    { ...LIFECYCLE, resources: ['evictionrequests'], verbs: WRITE },
  ],
};

let loaded: BootstrapPolicy | undefined;

export function bootstrapPolicy(): BootstrapPolicy {
  loaded ??= read();
  return loaded;
}

function read(): BootstrapPolicy {
  const file = new URL('./bootstrap-policy.generated.json', import.meta.url);
  const objects = JSON.parse(readFileSync(file, 'utf8')) as (RoleKind | BindingKind)[];
  return {
    roles: objects.filter(isRole).map((role) => ({
      ...role,
      rules: [...(role.rules ?? []), ...((role.kind === 'ClusterRole' && MORE[role.metadata.name ?? '']) || [])],
    })),
    bindings: objects.filter((object) => !isRole(object)) as BindingKind[],
  };
}

function isRole(object: RoleKind | BindingKind): object is RoleKind {
  return !('roleRef' in object);
}
