/** Defaults and validation of roles and bindings. */
import type { ClusterRole, PolicyRule, RoleBinding, RoleRef, Subject } from '../../../api/generated/rbac-v1.ts';
import {
  checkPathSegment,
  FieldPath,
  type Issue,
  invalid,
  notSupported,
  required,
  semanticEqual,
} from '../../../machinery/values/index.ts';
import { type Strategy, strategyOf } from '../../registry/strategy.ts';
import { RBAC_GROUP } from './index-of-roles.ts';

const common = { checkName: checkPathSegment, createOnUpdate: true } as const;

export const roleStrategy = strategyOf<ClusterRole>({
  ...common,
  defaults(object) {
    object.rules ??= [];
  },
  validate: (object) => validateRules(object.rules ?? [], { urls: false }),
});

export const clusterRoleStrategy = strategyOf<ClusterRole>({
  ...common,
  defaults(object) {
    object.rules ??= [];
  },
  validate: (object) => validateRules(object.rules ?? [], { urls: true }),
});

export const roleBindingStrategy: Strategy = bindingStrategy(['Role', 'ClusterRole']);
export const clusterRoleBindingStrategy: Strategy = bindingStrategy(['ClusterRole']);

function bindingStrategy(kinds: readonly string[]): Strategy {
  return strategyOf<RoleBinding>({
    ...common,
    defaults(object) {
      if (object.roleRef !== undefined && !object.roleRef.apiGroup) object.roleRef.apiGroup = RBAC_GROUP;
      for (const subject of object.subjects ?? []) {
        if ((subject.kind === 'User' || subject.kind === 'Group') && !subject.apiGroup) subject.apiGroup = RBAC_GROUP;
      }
    },
    validate(object) {
      const path = FieldPath.of('roleRef');
      const roleRef: Partial<RoleRef> = object.roleRef ?? {};
      const { apiGroup = '', kind = '', name = '' } = roleRef;
      const issues: Issue[] = [];
      if (apiGroup !== RBAC_GROUP) issues.push(notSupported(path.child('apiGroup'), apiGroup, [RBAC_GROUP]));
      if (!kinds.includes(kind)) issues.push(notSupported(path.child('kind'), kind, kinds));
      if (name === '') issues.push(required(path.child('name')));
      else issues.push(...checkPathSegment(name).map((text) => invalid(path.child('name'), name, text)));
      for (const [at, subject] of (object.subjects ?? []).entries()) {
        issues.push(...validateSubject(FieldPath.of('subjects').index(at), subject, kinds.includes('Role')));
      }
      return issues;
    },
    validateUpdate(object, old) {
      const [before, after] = [old.roleRef, object.roleRef];
      return semanticEqual(before, after) ? [] : [invalid(FieldPath.of('roleRef'), after, 'cannot change roleRef')];
    },
  });
}

function validateRules(rules: readonly PolicyRule[], { urls }: { urls: boolean }): Issue[] {
  return rules.flatMap((rule, at) => {
    const path = FieldPath.of('rules').index(at);
    const issues: Issue[] = [];
    if ((rule.verbs ?? []).length === 0) {
      issues.push(required(path.child('verbs'), 'verbs must contain at least one value'));
    }
    if ((rule.nonResourceURLs ?? []).length > 0) {
      const at = path.child('nonResourceURLs');
      if (!urls) {
        const why = 'namespaced rules cannot apply to non-resource URLs';
        return [...issues, invalid(at, rule.nonResourceURLs, why)];
      }
      if ((rule.apiGroups ?? []).length + (rule.resources ?? []).length + (rule.resourceNames ?? []).length > 0) {
        const why = 'rules cannot apply to both regular resources and non-resource URLs';
        issues.push(invalid(at, rule.nonResourceURLs, why));
      }
      return issues;
    }
    if ((rule.apiGroups ?? []).length === 0) {
      issues.push(required(path.child('apiGroups'), 'resource rules must supply at least one api group'));
    }
    if ((rule.resources ?? []).length === 0) {
      issues.push(required(path.child('resources'), 'resource rules must supply at least one resource'));
    }
    return issues;
  });
}

function validateSubject(path: FieldPath, subject: Subject, inNamespace: boolean): Issue[] {
  const issues: Issue[] = [];
  if (!subject.name) issues.push(required(path.child('name')));
  const group = subject.apiGroup ?? '';
  switch (subject.kind) {
    case 'ServiceAccount':
      if (group !== '') issues.push(notSupported(path.child('apiGroup'), group, ['']));
      if (!inNamespace && !subject.namespace) issues.push(required(path.child('namespace')));
      break;
    case 'User':
    case 'Group':
      if (group !== RBAC_GROUP) issues.push(notSupported(path.child('apiGroup'), group, [RBAC_GROUP]));
      break;
    default:
      issues.push(notSupported(path.child('kind'), subject.kind, ['ServiceAccount', 'User', 'Group']));
  }
  return issues;
}
