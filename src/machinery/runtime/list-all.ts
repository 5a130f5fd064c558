import type { KubeObject, ResourceType } from '../../api/resource.ts';
import type { Client } from './client.ts';

const PAGE = 500;

/** Every object of a kind, page by page: in one namespace, or in all of them. */
export async function listAll<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  namespace: string | undefined,
  fieldSelector?: string,
): Promise<T[]> {
  const items: T[] = [];
  let token: string | undefined;
  do {
    const page = await client.list(type, { namespace, fieldSelector, limit: PAGE, continue: token });
    items.push(...page.items);
    token = page.metadata.continue || undefined;
  } while (token !== undefined);
  return items;
}
