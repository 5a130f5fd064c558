import { discoverGroupApi, SCHEDULING_GROUP } from '../../api/scheduling/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { type KindsFrom, labels } from '../../webhook/index.ts';
import { readServed, requestsServedBy } from './discovery.ts';

/** Who serves, or should serve, Workloads and PodGroups on a cluster: the cluster itself where it does, else we. */
export async function findGroupKinds(client: Client): Promise<KindsFrom> {
  const { group, podGroups } = await discoverGroupApi((path) => readServed(client, path));
  return podGroups.length > 0 && group === SCHEDULING_GROUP ? 'native' : 'crd';
}

/** Who serves, or should serve, EvictionRequests on a cluster: the cluster itself where it does, else we. */
export async function findRequestKinds(client: Client): Promise<KindsFrom> {
  return (await requestsServedBy(client)) ?? 'crd';
}

export function isOurs(found: Readonly<Record<string, string>> | undefined): boolean {
  const key = 'app.kubernetes.io/managed-by';
  return found?.[key] === labels[key];
}
