import type { ClusterRole, PolicyRule } from '../../../api/generated/rbac-v1.ts';
import { builtinType } from '../../../api/registry.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { defineController, settled, watch } from '../../../machinery/runtime/index.ts';
import { fromLabelSelector, matches, semanticEqual } from '../../../machinery/values/index.ts';

const clusterRoleType = builtinType('ClusterRole', 'rbac.authorization.k8s.io') as ResourceType<ClusterRole>;

/**
 * Writes into every ClusterRole with an aggregation rule the rules of the roles it selects, in the order of their
 * names, each rule once. Keys are names of aggregating roles.
 */
export const clusterRoleAggregationController = defineController({
  name: 'cluster-role-aggregation',
  deps: ({ client, informers }) => ({ client, roles: informers.of(clusterRoleType) }),
  watches: ({ roles }) => [
    watch(roles, () =>
      roles.list().flatMap(({ aggregationRule, metadata }) => (aggregationRule ? [metadata.name ?? ''] : [])),
    ),
  ],
  async reconcile({ client, roles }, { name }) {
    const role = roles.get({ name });
    if (role?.aggregationRule === undefined || role.metadata.deletionTimestamp) return settled;
    const rules = aggregateRules(role, roles.list());
    if (!semanticEqual(role.rules, rules)) await client.update(clusterRoleType, { ...role, rules });
    return settled;
  },
});

export function aggregateRules(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(fromLabelSelector);
  const rules: PolicyRule[] = [];
  const picked = all
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .filter(({ metadata }) => selectors.some((selector) => matches(selector, metadata.labels)))
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  for (const rule of picked.flatMap((other) => other.rules ?? [])) {
    if (!rules.some((held) => semanticEqual(held, rule))) rules.push(rule);
  }
  return rules;
}
