/** Role-based access control over the stored roles and bindings. */
import type { PolicyRule } from '../../../api/generated/rbac-v1.ts';
import type { AuthorizationAttributes, AuthorizationVerdict, Authorizer } from '../../access/access.ts';
import type { UserInfo } from '../../exchange/user.ts';
import type { RoleIndex } from './index-of-roles.ts';
import { ruleAllows } from './match.ts';

/** Members may do everything, whatever the roles say: the way back in after a mistake. */
export const SUPERUSERS = 'system:masters';

export interface RbacAuthorizer extends Authorizer {
  authorize(attributes: AuthorizationAttributes): AuthorizationVerdict;
  /** Every rule that holds for the user in the namespace. */
  rulesFor(user: UserInfo, namespace: string): { rules: PolicyRule[]; problems: string[] };
}

export function createRbacAuthorizer(index: RoleIndex): RbacAuthorizer {
  return {
    authorize(attributes) {
      if (attributes.user.groups.includes(SUPERUSERS)) return { allowed: true };
      const problems: string[] = [];
      const grants = index.grants(attributes.user, attributes.resource?.namespace, (problem) => problems.push(problem));
      for (const { rules, description } of grants) {
        if (rules.some((rule) => ruleAllows(rule, attributes))) {
          return { allowed: true, reason: `RBAC: allowed by ${description}` };
        }
      }
      if (problems.length === 0) return { allowed: false };
      const list = [...new Set(problems)];
      return { allowed: false, reason: `RBAC: ${list.length === 1 ? list[0] : `[${list.join(', ')}]`}` };
    },

    rulesFor(user, namespace) {
      const problems: string[] = [];
      const rules: PolicyRule[] = [];
      for (const grant of index.grants(user, namespace, (problem) => problems.push(problem))) {
        rules.push(...grant.rules);
      }
      return { rules, problems: [...new Set(problems)] };
    },
  };
}
