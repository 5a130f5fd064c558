/**
 * Brings the default roles and bindings into the store through the API. What is missing is created; rules and subjects
 * missing from an object that is still marked for automatic updates are added. Nothing is ever taken away.
 */
import type { ClusterRole, ClusterRoleBinding } from '../../../api/generated/rbac-v1.ts';
import { builtinType } from '../../../api/registry.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { type Client, isAlreadyExists } from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import { DEFAULT_CLUSTER_ROLE_BINDINGS, DEFAULT_CLUSTER_ROLES } from './defaults.ts';
import { RBAC_GROUP } from './index-of-roles.ts';

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';
const roles = builtinType('ClusterRole', RBAC_GROUP) as ResourceType<ClusterRole>;
const bindings = builtinType('ClusterRoleBinding', RBAC_GROUP) as ResourceType<ClusterRoleBinding>;

export async function bootstrapRoles(client: Client): Promise<void> {
  await Promise.all([
    reconcile(client, roles, DEFAULT_CLUSTER_ROLES, (found, wanted) => {
      const missing = (wanted.rules ?? []).filter((rule) => !found.rules?.some((held) => semanticEqual(held, rule)));
      return missing.length === 0 ? undefined : { ...found, rules: [...(found.rules ?? []), ...missing] };
    }),
    reconcile(client, bindings, DEFAULT_CLUSTER_ROLE_BINDINGS, (found, wanted) => {
      const missing = (wanted.subjects ?? []).filter(
        ({ kind, name }) => !found.subjects?.some((held) => held.kind === kind && held.name === name),
      );
      return missing.length === 0 ? undefined : { ...found, subjects: [...(found.subjects ?? []), ...missing] };
    }),
  ]);
}

async function reconcile<T extends ClusterRole | ClusterRoleBinding>(
  client: Client,
  type: ResourceType<T>,
  wanted: readonly T[],
  merge: (found: T, wanted: T) => T | undefined,
): Promise<void> {
  const { items } = await client.list(type, {});
  const byName = new Map(items.map((item) => [item.metadata.name, item]));
  await Promise.all(
    wanted.map(async (object) => {
      const found = byName.get(object.metadata.name);
      if (found === undefined) {
        await client.create(type, object).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
        return;
      }
      if (found.metadata.annotations?.[AUTOUPDATE] !== 'true') return;
      const merged = merge(found, object);
      if (merged !== undefined) await client.update(type, merged);
    }),
  );
}
