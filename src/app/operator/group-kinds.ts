import { discoverGroupApi, SCHEDULING_GROUP } from '../../api/scheduling/index.ts';
import { type Client, isNotFound } from '../../machinery/runtime/index.ts';
import { type GroupKinds, labels } from '../../webhook/index.ts';

/** Who serves, or should serve, Workloads and PodGroups on a cluster: the cluster itself where it does, else we. */
export async function findGroupKinds(client: Client): Promise<GroupKinds> {
  const read = async <T>(path: string): Promise<T | undefined> => {
    try {
      return await client.request<T>('GET', path);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const { group, podGroups } = await discoverGroupApi(read);
  return podGroups.length > 0 && group === SCHEDULING_GROUP ? 'native' : 'crd';
}

export function isOurs(found: Readonly<Record<string, string>> | undefined): boolean {
  const key = 'app.kubernetes.io/managed-by';
  return found?.[key] === labels[key];
}
