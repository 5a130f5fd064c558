/**
 * Nobody grants more than they hold. A role may be written by who already holds its rules or has the verb `escalate`
 * on it; a binding by who holds the rules of the role or has the verb `bind` on the role.
 */
import type { ClusterRole, PolicyRule, RoleBinding } from '../../../api/generated/rbac-v1.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../context/admission-plugin.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { forbidden } from '../../exchange/status.ts';
import type { RbacAuthorizer } from './authorizer.ts';
import { SUPERUSERS } from './authorizer.ts';
import { compact, formatRule, uncovered } from './cover.ts';
import { RBAC_GROUP, type RoleIndex } from './index-of-roles.ts';

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

export function escalationCheck(authorizer: RbacAuthorizer, index: RoleIndex): AdmissionPlugin {
  const may = (attributes: AdmissionAttributes, verb: string, plural: string, name: string): boolean =>
    authorizer.authorize({
      user: attributes.user,
      verb,
      resource: {
        group: RBAC_GROUP,
        version: 'v1',
        plural,
        name,
        ...(attributes.namespace && { namespace: attributes.namespace }),
      },
    }).allowed;

  const confirm = (attributes: AdmissionAttributes, rules: readonly PolicyRule[]): void => {
    const { user, namespace = '', resource, name } = attributes;
    const { rules: held, problems } = authorizer.rulesFor(user, namespace);
    const missing = uncovered(held, rules);
    if (missing.length === 0) return;
    const groups = user.groups.map((group) => JSON.stringify(group)).join(' ');
    const lines = compact(missing).map(formatRule).sort();
    const tail = problems.length === 0 ? '' : `; resolution errors: [${problems.join(', ')}]`;
    throw forbidden(
      resource,
      name,
      `user ${JSON.stringify(user.username)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${tail}`,
    );
  };

  return {
    name: 'RbacEscalation',
    handles: ({ resource, operation, user, subresource }) =>
      resource.group === RBAC_GROUP &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      subresource === undefined &&
      !user.groups.includes(SUPERUSERS),
    validate(attributes) {
      const { object, oldObject, resource } = attributes;
      if (object === undefined) return;
      const name = object.metadata.name ?? '';
      if (resource.plural === 'roles' || resource.plural === 'clusterroles') {
        const role = object as ClusterRole;
        const old = oldObject as ClusterRole | undefined;
        const unchanged =
          old !== undefined &&
          semanticEqual(old.rules, role.rules) &&
          semanticEqual(old.aggregationRule, role.aggregationRule);
        if (unchanged || may(attributes, 'escalate', resource.plural, name)) return;
        confirm(attributes, role.rules ?? []);
        if (role.aggregationRule !== undefined) {
          const { rules } = authorizer.rulesFor(attributes.user, '');
          if (uncovered(rules, EVERYTHING).length > 0) {
            throw forbidden(resource, name, 'must have cluster-admin privileges to use the aggregationRule');
          }
        }
        return;
      }
      const binding = object as ApiObject & RoleBinding;
      const old = oldObject as RoleBinding | undefined;
      if (
        old !== undefined &&
        semanticEqual(old.subjects, binding.subjects) &&
        semanticEqual(old.roleRef, binding.roleRef)
      ) {
        return;
      }
      const { roleRef } = binding;
      const plural = roleRef.kind === 'Role' ? 'roles' : 'clusterroles';
      if (may(attributes, 'bind', plural, roleRef.name)) return;
      const rules = index.rulesOf(roleRef, attributes.namespace);
      if (rules === undefined) {
        throw forbidden(resource, name, `${roleRef.kind.toLowerCase()}.${RBAC_GROUP} "${roleRef.name}" not found`);
      }
      confirm(attributes, rules);
    },
  };
}
