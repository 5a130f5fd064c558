/**
 * Brings the default roles and bindings into the store through the API, as kube-apiserver does when it starts. What is
 * missing is created; rules, subjects, labels and annotations missing from an object that is still marked for automatic
 * updates are added. Nothing is ever taken away, except that a binding to another role is made anew: its role cannot
 * change.
 */
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../api/generated/rbac-v1.ts';
import { builtinType } from '../../../api/registry.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { type Client, isAlreadyExists } from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { RBAC_GROUP } from './index-of-roles.ts';

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

type RoleKind = ClusterRole | Role;
type BindingKind = ClusterRoleBinding | RoleBinding;

export async function bootstrapRoles(client: Client): Promise<void> {
  const { roles, bindings } = bootstrapPolicy();
  await ensureNamespaces(client, new Set(roles.flatMap(({ metadata }) => metadata.namespace ?? [])));
  await reconcile(client, roles, mergeRole);
  await reconcile(client, bindings, mergeBinding);
}

async function ensureNamespaces(client: Client, names: ReadonlySet<string>): Promise<void> {
  for (const name of names) await create(client, builtinType('Namespace'), { metadata: { name } });
}

function mergeRole(found: RoleKind, wanted: RoleKind): RoleKind {
  const rules = withMissing(found.rules ?? [], wanted.rules ?? [], semanticEqual);
  const aggregationRule = 'aggregationRule' in wanted && wanted.aggregationRule;
  return { ...found, rules, ...(aggregationRule && { aggregationRule }) };
}

function mergeBinding(found: BindingKind, wanted: BindingKind): BindingKind {
  const isSame = (a: object, b: object): boolean => semanticEqual(a, b);
  return { ...found, subjects: withMissing(found.subjects ?? [], wanted.subjects ?? [], isSame) };
}

function withMissing<T>(held: readonly T[], wanted: readonly T[], isSame: (a: T, b: T) => boolean): T[] {
  return [...held, ...wanted.filter((one) => !held.some((other) => isSame(other, one)))];
}

async function reconcile<T extends RoleKind | BindingKind>(
  client: Client,
  wanted: readonly T[],
  merge: (found: T, wanted: T) => T,
): Promise<void> {
  const kinds = new Set(wanted.map(({ kind }) => kind ?? ''));
  for (const kind of kinds) {
    const type = builtinType(kind, RBAC_GROUP) as ResourceType<T>;
    const { items } = await client.list(type, {});
    const found = new Map(items.map((item) => [idOf(item), item]));
    const ofKind = wanted.filter((object) => object.kind === kind);
    await Promise.all(ofKind.map((object) => ensure(client, type, found.get(idOf(object)), object, merge)));
  }
}

/** The key of a stored object, whose name is always there. */
const keyOf = ({ metadata: { name = '', namespace } }: RoleKind | BindingKind) => ({
  name,
  ...(namespace && { namespace }),
});

const idOf = ({ metadata }: RoleKind | BindingKind): string => `${metadata.namespace ?? ''}/${metadata.name}`;

async function ensure<T extends RoleKind | BindingKind>(
  client: Client,
  type: ResourceType<T>,
  found: T | undefined,
  wanted: T,
  merge: (found: T, wanted: T) => T,
): Promise<void> {
  if (found !== undefined && found.metadata.annotations?.[AUTOUPDATE] !== 'true') return;
  if (found !== undefined && refersElsewhere(found, wanted)) await client.delete(type, keyOf(found));
  else if (found !== undefined) {
    const merged = { ...merge(found, wanted), metadata: mergeMetadata(found, wanted) };
    if (!semanticEqual(merged, found)) await client.update(type, merged);
    return;
  }
  await create(client, type, wanted);
}

async function create<T extends KubeObject>(client: Client, type: ResourceType<T>, object: T): Promise<void> {
  await client.create(type, object).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

function refersElsewhere(found: RoleKind | BindingKind, wanted: RoleKind | BindingKind): boolean {
  return 'roleRef' in found && 'roleRef' in wanted && !semanticEqual(found.roleRef, wanted.roleRef);
}

function mergeMetadata({ metadata: found }: RoleKind | BindingKind, { metadata: wanted }: RoleKind | BindingKind) {
  return {
    ...found,
    labels: { ...wanted.labels, ...found.labels },
    annotations: { ...wanted.annotations, ...found.annotations },
  };
}
