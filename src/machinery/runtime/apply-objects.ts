import { apiVersionOf, type KubeObject, splitApiVersion } from '../../api/resource.ts';
import type { Client } from './client.ts';
import { type DiscoveredResource, discover } from './discovery.ts';

type Apply = <T extends KubeObject>(object: T) => Promise<T>;

/**
 * Server-side apply of any object that the server serves, by its apiVersion and kind. What it serves is asked once, and
 * again when a kind is missing: a definition may have been applied meanwhile.
 */
export function createApply(client: Client, fieldManager: string): Apply {
  let known: Promise<readonly DiscoveredResource[]> | undefined;
  const find = async (group: string, kind: string): Promise<DiscoveredResource | undefined> => {
    known ??= discover(client).then(({ resources }) => resources);
    return (await known).find((type) => type.group === group && type.kind === kind);
  };
  return async <T extends KubeObject>(object: T): Promise<T> => {
    const { apiVersion = '', kind = '', metadata } = object;
    const { group, version } = splitApiVersion(apiVersion);
    let type = await find(group, kind);
    if (type === undefined) {
      known = undefined;
      type = await find(group, kind);
    }
    const { name = '' } = metadata;
    if (type === undefined)
      throw new Error(
        `Cannot apply ${kind} "${name}": the server has no ${kind} of ${apiVersionOf({ group, version })}`,
      );
    const key = { name, namespace: type.namespaced ? (metadata.namespace ?? 'default') : undefined };
    const applied = await client.patch(
      { ...type, version },
      key,
      { type: 'apply', body: object },
      { fieldManager, force: true },
    );
    return applied as T;
  };
}
