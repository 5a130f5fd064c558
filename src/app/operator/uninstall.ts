import { splitApiVersion } from '../../api/resource.ts';
import { type Client, discover, isNotFound } from '../../machinery/runtime/index.ts';
import { isOurs } from './group-kinds.ts';
import { defaultInstall, installObjects } from '../../webhook/index.ts';

export interface UninstallOptions {
  readonly namespace: string;
  readonly keepDefinitions: boolean;
  readonly removed: (what: string) => void;
}

/** Removes what an installation put there, webhooks first so that nothing is asked of what is gone. */
export async function uninstall(
  client: Client,
  { keepDefinitions, namespace, removed }: UninstallOptions,
): Promise<void> {
  const { resources } = await discover(client);
  const objects = installObjects({
    ...defaultInstall,
    namespace,
    certManager: true,
    groups: 'crd',
    scheduler: true,
  }).toReversed();
  for (const { apiVersion = '', kind = '', metadata } of objects) {
    if (keepDefinitions && kind === 'CustomResourceDefinition') continue;
    const { group, version } = splitApiVersion(apiVersion);
    const type = resources.find((one) => one.group === group && one.version === version && one.kind === kind);
    // A kind the cluster does not serve cannot have objects.
    if (type === undefined) continue;
    const key = { name: metadata.name ?? '', ...(type.namespaced ? { namespace: metadata.namespace } : {}) };
    try {
      // Somebody else may have brought the same kind; all its objects would go with it.
      if (kind === 'CustomResourceDefinition' && !isOurs((await client.get(type, key)).metadata.labels)) continue;
      await client.delete(type, key, { propagationPolicy: 'Background' });
      removed(`${kind.toLowerCase()}/${metadata.name}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
