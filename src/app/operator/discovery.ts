import { OWN_CATEGORY, OWN_KINDS } from '../../api/crds/index.ts';
import { evictionRequestType } from '../../api/lifecycle/index.ts';
import { qualifiedResource, type ResourceType } from '../../api/resource.ts';
import type { ControllerHost } from '../../controllers/quorate/index.ts';
import { type Client, existing } from '../../machinery/runtime/index.ts';
import type { KindsFrom } from '../../webhook/index.ts';

/** What the API server says at a path of its discovery; undefined where there is nothing. */
export function readServed<T>(client: Client, path: string): Promise<T | undefined> {
  return existing(client.request<T>('GET', path));
}

/** Which of our kinds the cluster serves now. */
export async function servedKinds(client: Client): Promise<ControllerHost['serves']> {
  const answers = await Promise.all(
    [...OWN_KINDS.map(({ type }) => type), evictionRequestType].map(
      async (type) => [qualifiedResource(type), await isServed(client, type)] as const,
    ),
  );
  const served = new Map(answers);
  return (type) => served.get(qualifiedResource(type)) === true;
}

/** Who serves EvictionRequests now; undefined where nobody does. Kubernetes' own are of no category. */
export async function requestsServedBy(client: Client): Promise<KindsFrom | undefined> {
  const { group, plural, version } = evictionRequestType;
  const path = `/apis/${group}/${version}`;
  const list = await readServed<{ resources?: { name: string; categories?: string[] }[] }>(client, path);
  const found = list?.resources?.find(({ name }) => name === plural);
  if (found === undefined) return undefined;
  return found.categories?.includes(OWN_CATEGORY) === true ? 'crd' : 'native';
}

/** Whether the cluster serves a resource. */
export async function isServed(
  client: Client,
  { group, plural, version }: Pick<ResourceType, 'group' | 'version' | 'plural'>,
): Promise<boolean> {
  const list = await readServed<{ resources?: { name: string }[] }>(client, `/apis/${group}/${version}`);
  return (list?.resources ?? []).some(({ name }) => name === plural);
}
