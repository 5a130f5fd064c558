import { qualifiedResource } from '../../../api/resource.ts';
import { type Client, type DiscoveredResource, discover, isNotFound } from '../../../machinery/runtime/index.ts';
import type { ContentReport } from './status.ts';

interface Leftover {
  readonly count: number;
  readonly finalizers: readonly string[];
}

/**
 * Deletes what a namespace holds: pods first, and the rest only once they are gone, so that no pod outlives the
 * policies, secrets and volumes it runs under. Reports what is left; a failure of one kind does not stop the others.
 */
export async function deleteContent(client: Client, namespace: string): Promise<ContentReport> {
  const { resources, failed } = await discover(client);
  const deletable = resources.filter(({ namespaced, verbs }) => namespaced && verbs.has('delete') && verbs.has('list'));
  const report = {
    remaining: new Map<string, number>(),
    finalizers: new Map<string, number>(),
    deletionErrors: [] as string[],
    undiscovered: failed,
  };

  const clear = async (resource: DiscoveredResource) => {
    try {
      const { count, finalizers } = await deleteAll(client, resource, namespace);
      if (count > 0) report.remaining.set(`${resource.plural}.${resource.group}`, count);
      for (const finalizer of finalizers) {
        report.finalizers.set(finalizer, (report.finalizers.get(finalizer) ?? 0) + 1);
      }
      return count;
    } catch (error) {
      report.deletionErrors.push(`${qualifiedResource(resource)}: ${String(error)}`);
      return 1;
    }
  };

  const isPods = ({ group, plural }: DiscoveredResource) => group === '' && plural === 'pods';
  const pods = deletable.find(isPods);
  if (pods !== undefined && (await clear(pods)) > 0) return report;
  for (const resource of deletable) if (!isPods(resource)) await clear(resource);
  return report;
}

async function deleteAll(client: Client, resource: DiscoveredResource, namespace: string): Promise<Leftover> {
  const before = await listNames(client, resource, namespace);
  if (before.length === 0) return { count: 0, finalizers: [] };
  if (resource.verbs.has('deletecollection')) {
    await client.deleteCollection(resource, { namespace, propagationPolicy: 'Background' });
  } else {
    for (const { metadata } of before) await deleteOne(client, resource, { namespace, name: metadata.name ?? '' });
  }
  const after = await listNames(client, resource, namespace);
  return { count: after.length, finalizers: after.flatMap(({ metadata }) => metadata.finalizers ?? []) };
}

async function listNames(client: Client, resource: DiscoveredResource, namespace: string) {
  try {
    return (await client.list(resource, { namespace, metadataOnly: true })).items;
  } catch (error) {
    // A custom resource may go away between discovery and now.
    if (isNotFound(error)) return [];
    throw error;
  }
}

async function deleteOne(client: Client, resource: DiscoveredResource, key: { namespace: string; name: string }) {
  try {
    await client.delete(resource, key, { propagationPolicy: 'Background' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
