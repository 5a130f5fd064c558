/** Whether one policy rule covers a request. */
import type { PolicyRule } from '../../../api/generated/rbac-v1.ts';
import type { AuthorizationAttributes } from '../../access/access.ts';

const ALL = '*';

/** For rules and for the question what a rule of another role covers: both ask about sets of strings. */
const covers = (allowed: readonly string[] | undefined, asked: string): boolean =>
  allowed !== undefined && (allowed.includes(ALL) || allowed.includes(asked));

export function ruleAllows(rule: PolicyRule, { verb, resource, path }: AuthorizationAttributes): boolean {
  if (!covers(rule.verbs, verb)) return false;
  if (resource === undefined) return urlMatches(rule.nonResourceURLs, path ?? '');
  return (
    covers(rule.apiGroups, resource.group) &&
    resourceMatches(rule.resources, resource.plural, resource.subresource) &&
    nameMatches(rule.resourceNames, resource.name)
  );
}

/** `*` covers subresources too; `* /scale` (without the space) covers that subresource of everything. */
export function resourceMatches(
  allowed: readonly string[] | undefined,
  plural: string,
  subresource: string | undefined,
): boolean {
  if (allowed === undefined) return false;
  const asked = subresource ? `${plural}/${subresource}` : plural;
  return allowed.some((item) => item === ALL || item === asked || (subresource && item === `${ALL}/${subresource}`));
}

function nameMatches(allowed: readonly string[] | undefined, name: string | undefined): boolean {
  return allowed === undefined || allowed.length === 0 || (name !== undefined && allowed.includes(name));
}

export function urlMatches(allowed: readonly string[] | undefined, path: string): boolean {
  return (
    allowed?.some(
      (item) => item === ALL || item === path || (item.endsWith(ALL) && path.startsWith(item.slice(0, -1))),
    ) ?? false
  );
}
