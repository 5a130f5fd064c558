/** Roles and bindings, arranged so that one request looks only at the bindings of its own user and groups. */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from '../../../api/generated/rbac-v1.ts';
import { fromLabelSelector, matches } from '../../../machinery/values/index.ts';
import { KindView, type StoredReads } from '../../stored/kind-view.ts';
import type { UserInfo } from '../../exchange/user.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** A role granted to somebody: the binding's namespace, or everywhere. */
export interface RoleGrant {
  readonly rules: readonly PolicyRule[];
  /** `ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`. */
  readonly description: string;
}

interface Binding {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly roleRef: RoleRef;
  readonly subject: Subject;
}

export class RoleIndex {
  readonly #roles: KindView<Role>;
  readonly #clusterRoles: KindView<ClusterRole>;
  readonly #roleBindings: KindView<RoleBinding>;
  readonly #clusterRoleBindings: KindView<ClusterRoleBinding>;
  /** By subject; built again after a change of bindings, when first asked. */
  #bySubject: Map<string, Binding[]> | undefined;
  /** Rules of aggregating cluster roles by name; forgotten when any cluster role changes. */
  readonly #aggregated = new Map<string, readonly PolicyRule[]>();

  constructor(reads: StoredReads) {
    this.#roles = new KindView(reads, RBAC_GROUP, 'roles');
    this.#clusterRoles = new KindView(reads, RBAC_GROUP, 'clusterroles');
    this.#roleBindings = new KindView(reads, RBAC_GROUP, 'rolebindings');
    this.#clusterRoleBindings = new KindView(reads, RBAC_GROUP, 'clusterrolebindings');
    const forget = (): void => {
      this.#bySubject = undefined;
    };
    this.#roleBindings.onChange(forget);
    this.#clusterRoleBindings.onChange(forget);
    this.#clusterRoles.onChange(() => this.#aggregated.clear());
  }

  stop(): void {
    for (const view of [this.#roles, this.#clusterRoles, this.#roleBindings, this.#clusterRoleBindings]) view.stop();
  }

  /**
   * What a user is granted cluster-wide and, when one is named, in a namespace. Missing roles are reported and skipped.
   */
  *grants(user: UserInfo, namespace: string | undefined, missing?: (problem: string) => void): Generator<RoleGrant> {
    const index = (this.#bySubject ??= this.#build());
    for (const key of [`User:${user.username}`, ...user.groups.map((group) => `Group:${group}`)]) {
      for (const binding of index.get(key) ?? []) {
        if (binding.namespace !== undefined && binding.namespace !== namespace) continue;
        const rules = this.rulesOf(binding.roleRef, binding.namespace);
        if (rules === undefined) missing?.(missingRole(binding.roleRef));
        else yield { rules, description: describe(binding) };
      }
    }
  }

  /** Undefined when there is no such role. */
  rulesOf(roleRef: RoleRef, namespace: string | undefined): readonly PolicyRule[] | undefined {
    if (roleRef.kind === 'Role') {
      const role = this.#roles.get(namespace, roleRef.name);
      return role === undefined ? undefined : (role.rules ?? []);
    }
    const role = this.#clusterRoles.get(undefined, roleRef.name);
    if (role === undefined) return undefined;
    return role.aggregationRule === undefined ? (role.rules ?? []) : this.#aggregate(role);
  }

  /** Rules of every cluster role that the selectors pick, and of those these pick in turn. */
  aggregate(role: ClusterRole): readonly PolicyRule[] {
    const rules: PolicyRule[] = [];
    const seen = new Set<string>([role.metadata.name ?? '']);
    const visit = (of: ClusterRole): void => {
      const selectors = (of.aggregationRule?.clusterRoleSelectors ?? []).map(fromLabelSelector);
      const picked = [...this.#clusterRoles.values()]
        .filter(({ metadata }) => selectors.some((selector) => matches(selector, metadata.labels)))
        .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
      for (const other of picked) {
        const name = other.metadata.name ?? '';
        if (seen.has(name)) continue;
        seen.add(name);
        if (other.aggregationRule === undefined) rules.push(...(other.rules ?? []));
        else visit(other);
      }
    };
    visit(role);
    return rules;
  }

  #aggregate(role: ClusterRole): readonly PolicyRule[] {
    const name = role.metadata.name ?? '';
    let rules = this.#aggregated.get(name);
    if (rules === undefined) {
      rules = this.aggregate(role);
      this.#aggregated.set(name, rules);
    }
    return rules;
  }

  #build(): Map<string, Binding[]> {
    const index = new Map<string, Binding[]>();
    const add = (binding: ClusterRoleBinding | RoleBinding, namespace: string | undefined): void => {
      for (const subject of binding.subjects ?? []) {
        const key = subjectKey(subject, namespace);
        if (key === undefined) continue;
        const entry = { name: binding.metadata.name ?? '', namespace, roleRef: binding.roleRef, subject };
        const list = index.get(key);
        if (list === undefined) index.set(key, [entry]);
        else list.push(entry);
      }
    };
    for (const binding of this.#clusterRoleBindings.values()) add(binding, undefined);
    for (const binding of this.#roleBindings.values()) add(binding, binding.metadata.namespace);
    return index;
  }
}

function subjectKey(subject: Subject, namespace: string | undefined): string | undefined {
  switch (subject.kind) {
    case 'User':
    case 'Group':
      return `${subject.kind}:${subject.name}`;
    case 'ServiceAccount': {
      const home = subject.namespace || namespace;
      return home ? `User:system:serviceaccount:${home}:${subject.name}` : undefined;
    }
    default:
      return undefined;
  }
}

function describe({ name, namespace, roleRef, subject }: Binding): string {
  const to =
    subject.kind === 'ServiceAccount'
      ? `ServiceAccount "${subject.name}/${subject.namespace || (namespace ?? '')}"`
      : `${subject.kind} "${subject.name}"`;
  const binding = namespace === undefined ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  return `${binding} of ${roleRef.kind} "${roleRef.name}" to ${to}`;
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.${RBAC_GROUP} "${name}" not found`;
}
