import { apiVersionOf, type KubeObject, type ResourceType, splitApiVersion } from '../../api/resource.ts';
import { podDisruptionBudgetType } from '../../api/resource-types.ts';
import { isMarked, withoutMarker } from '../../decisions/disruption/index.ts';
import { type Client, discover, isConflict, isNotFound, listAll } from '../../machinery/runtime/index.ts';
import { isOurs } from './group-kinds.ts';
import { defaultInstall, installObjects, NOTICE_ACCESS } from '../../webhook/index.ts';

export interface UninstallOptions {
  readonly namespace: string;
  readonly keepDefinitions: boolean;
  /** `client`: say what would be removed, and remove nothing; `server`: ask the API server as well. Default `none`. */
  readonly dryRun?: 'none' | 'client' | 'server' | undefined;
  readonly removed: (what: string) => void;
}

/** Removes what an installation put there, webhooks first so that nothing is asked of what is gone. */
export async function uninstall(
  client: Client,
  { dryRun = 'none', keepDefinitions, namespace, removed }: UninstallOptions,
): Promise<void> {
  const { resources } = await discover(client);
  const own = installObjects({
    ...defaultInstall,
    namespace,
    // The one with most roles.
    mode: 'replace',
    certManager: true,
    groups: 'crd',
    requestKinds: 'crd',
    scheduler: true,
    recreateWebhooks: true,
  }).toReversed();
  const objects = [...own, ...(await noticeAccess(client, resources))];
  let unmarks = false;
  for (const { apiVersion = '', kind = '', metadata } of objects) {
    // The configurations come first, after the right to put them back: from here on nobody puts our numbers in.
    const isConfiguration = kind.endsWith('WebhookConfiguration');
    if (unmarks && !isConfiguration && dryRun === 'none') await unmarkBudgets(client);
    unmarks = isConfiguration;
    if (keepDefinitions && kind === 'CustomResourceDefinition') continue;
    const { group, version } = splitApiVersion(apiVersion);
    const type = resources.find((one) => one.group === group && one.version === version && one.kind === kind);
    // A kind the cluster does not serve cannot have objects.
    if (type === undefined) continue;
    const key = { name: metadata.name ?? '', ...(type.namespaced ? { namespace: metadata.namespace } : {}) };
    try {
      // Somebody else may have brought the same kind; all its objects would go with it.
      const found = await client.get(type, key);
      if (kind === 'CustomResourceDefinition' && !isOurs(found.metadata.labels)) continue;
      const options = { propagationPolicy: 'Background', dryRun: dryRun === 'server' } as const;
      if (dryRun !== 'client') await client.delete(type, key, options);
      removed(`${kind.toLowerCase()}/${metadata.name}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** What lets the operator read Secrets of other namespaces, wherever that was granted. */
async function noticeAccess(client: Client, types: readonly ResourceType[]): Promise<KubeObject[]> {
  const found: KubeObject[] = [];
  for (const kind of ['RoleBinding', 'Role']) {
    const type = types.find((one) => one.group === 'rbac.authorization.k8s.io' && one.kind === kind);
    if (type === undefined) continue;
    const all = await listAll(client, type, undefined, `metadata.name=${NOTICE_ACCESS}`);
    const own = all.filter(({ metadata }) => isOurs(metadata.labels));
    found.push(...own.map((object) => ({ ...object, apiVersion: apiVersionOf(type), kind })));
  }
  return found;
}

/** Budgets with our numbers say that they are nobody's now; who counts their pods is woken by that. */
async function unmarkBudgets(client: Client): Promise<void> {
  const { items } = await client.list(podDisruptionBudgetType, {});
  for (const budget of items) {
    if (!isMarked(budget)) continue;
    const { name = '', namespace, resourceVersion } = budget.metadata;
    const conditions = withoutMarker(budget.status?.conditions ?? [], 'Uninstalled', Date.now());
    const body = { metadata: { resourceVersion }, status: { conditions } };
    try {
      await client.patch(
        podDisruptionBudgetType,
        { namespace, name },
        { type: 'merge', body },
        { subresource: 'status' },
      );
    } catch (error) {
      // Somebody counts it already.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
