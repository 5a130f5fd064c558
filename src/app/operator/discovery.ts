import type { ResourceType } from '../../api/resource.ts';
import { type Client, isNotFound } from '../../machinery/runtime/index.ts';

/** Whether the cluster serves a resource. */
export async function isServed(
  client: Client,
  { group, plural, version }: Pick<ResourceType, 'group' | 'version' | 'plural'>,
): Promise<boolean> {
  try {
    const list = await client.request<{ resources?: { name: string }[] }>('GET', `/apis/${group}/${version}`);
    return (list.resources ?? []).some(({ name }) => name === plural);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
